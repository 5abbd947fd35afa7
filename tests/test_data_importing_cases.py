"""Small files of every kind: what is read of each, or why it is refused, as ``cases/imports/`` says.

A case holds ``text``, or ``sheets`` of a workbook, under ``name``, or those of another case (``of``); files ``beside``
it; and what the import is ``told``. It is ``refused`` with a word; or it gives ``ratings``, ``spans`` and ``judges``,
of which the columns named there are compared, values of the ``receipt``, words that this ``says``, and lines that are
``rejected``, with a word of the reason; or all that another case gives (``as``).
"""

import pytest

from evalkit import DataError, data
from tests.makers import imports
from tests.workbooks import book

ALL = imports()
INPUT, RESULT = ("name", "text", "sheets"), ("ratings", "spans", "judges", "receipt", "says", "rejected")


def located(told, folder):
    """Name files that are told where they lie."""
    several = {name: [folder / one for one in told[name]] for name in ("batches", "metric_files") if name in told}
    return told | several | {name: folder / told[name] for name in ("accounts", "mapping") if name in told}


def like(expected, table):
    """Write the columns of a table that are expected, as they are expected."""
    return table[expected.partition("\n")[0].split(",")].to_csv(index=False, float_format="%.15g")


@pytest.mark.parametrize("name", ALL)
def test_a_file_is_read_or_refused_as_its_case_says(name, imported, tmp_path):
    case = ALL[name]
    for other, parts in (("of", INPUT), ("as", RESULT)):
        case = {part: given for part, given in ALL[case.get(other, name)].items() if part in parts} | case
    for place, text in case.get("beside", {}).items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text, encoding="utf-8")
    content = book(**case["sheets"]) if "sheets" in case else case["text"]
    told = {"name": case.get("name", "")} | located(case.get("told", {}), tmp_path)
    if "refused" in case:
        with pytest.raises(DataError, match=case["refused"]):
            imported(content, **told)
        return
    ratings, spans, report = imported(content, **told)
    tables = {"ratings": ratings, "spans": spans, "judges": data.open_judges(tmp_path / "c.parquet")}
    found = {part: like(case[part], table) for part, table in tables.items() if part in case}
    assert found == {part: case[part] for part in found}
    assert {part: getattr(report, part) for part in case.get("receipt", {})} == case.get("receipt", {})
    said = " ".join(report.sentences())
    assert [word for word in case.get("says", []) if word not in said] == []
    reasons = {str(entry["line"]): entry["reason"] for entry in report.first}
    assert reasons.keys() == case.get("rejected", {}).keys()
    assert [line for line, word in case.get("rejected", {}).items() if word not in reasons[line]] == []
