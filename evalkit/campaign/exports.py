"""Files for papers and spreadsheets out of a report's JSON, all of them or none.

Tables as CSV, Parquet and, where they fit a page, LaTeX; the methods, their references and the datasheet are written by
``paperwork``.
"""

import csv
import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pandas as pd
from pyarrow import ArrowException

from evalkit import DataError, __version__
from evalkit.campaign import paperwork
from evalkit.campaign.paperwork.markup import tex
from evalkit.data import delimited
from evalkit.data.delimited import guard_table, unguarded
from evalkit.data.files import alone
from evalkit.data.registry import digest

Named = TypeVar("Named")

#: The file that lists an export: its files with their digests, and what the columns of its CSV files are.
LIST = "export.json"
#: Names that other files of an export have.
_TAKEN = ("values", "methods", "datasheet", "heds", "export")
#: Tables of up to so many rows and columns are written as LaTeX, too: longer ones belong in an appendix of files.
ROWS, COLUMNS = 40, 14
#: Longer cells, in characters, are sentences: their column breaks lines.
SENTENCE = 40
#: Largest report that is read, bytes: no study's has a hundredth of it.
LARGEST = 64 << 20
_REMEDY = "Name the JSON file beside a report's HTML."
_UNFINISHED = "This export was interrupted, and its files are of two reports. Export again."
_NOTE = (
    "UTF-8; a gap is an empty cell. Text that a spreadsheet would run as a formula has an apostrophe before it, and "
    "so has text that begins with one: evalkit.campaign.exports.read_csv takes it away. Parquet holds all texts as "
    "they are."
)
_SHAPE = {"study": str, "status": str, "recorded": dict, "signature": str, "data": list, "parameters": dict}


def export(report: Path, out: Path) -> list[Path]:
    """Write a report's tables, the methods with their references, the datasheet, and single values.

    report: a study's JSON report. out: a folder, made where it is not there; what an earlier export wrote there is
    replaced (see ``placed``).
    Returns the files: NAME.csv and NAME.parquet for every table, NAME.tex for tables of a page, values.json,
    methods.txt, .md, .tex and .bib, datasheet.md and heds.json (for the form of HEDS 3.0) where the report has a
    datasheet, and export.json, which lists them.
    Raises DataError where the report cannot be read, or is of a study that failed or was skipped; where a file of the
    earlier export was changed since, such as a datasheet that somebody filled in.
    """
    found = read(report)
    recorded, values = split(found["recorded"])
    texts = {"values.json": _json(values), **paperwork.files(found)}
    with placed(out) as folder:
        columns = {}
        for stem, (name, table) in stems(recorded).items():
            write(table, folder / stem, what=f"{report.name}: the table {name}")
            columns[f"{stem}.csv"] = {str(column): _kind(table[column]) for column in table}
            if len(table) <= ROWS and len(table.columns) <= COLUMNS:
                texts[f"{stem}.tex"] = latex(table, name=name, signature=found["signature"])
        listed = {"study": found["study"], "signature": found["signature"], "csv": _NOTE, "columns": columns}
        return [out / name for name in _written(folder, texts, **listed)]


def export_pages(pages: dict[str, str], out: Path, **told: Any) -> list[Path]:
    """Write pages, name -> HTML, into a folder in place of an earlier export (see ``placed``); return the files.

    told: what their list says of them.
    """
    texts = {f"{stem}.html": page for stem, (_, page) in stems(pages).items()}
    with placed(out) as folder:
        return [out / name for name in _written(folder, texts, **told)]


def _written(folder: Path, texts: dict[str, str], **told: Any) -> list[str]:
    """Write texts beside what a folder has, and last the list of its files; return their names."""
    for name, content in texts.items():
        (folder / name).write_text(content, encoding="utf-8")
    names = sorted(path.name for path in folder.iterdir())
    files = {name: digest(folder / name) for name in names}
    (folder / LIST).write_text(_json({"evalkit": __version__, **told, "files": files}), encoding="utf-8")
    return [*names, LIST]


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def read(path: Path) -> dict[str, Any]:
    """Read a study's JSON report; DataError where it is none, or not a good one."""
    if not path.exists():
        raise DataError(f"There is no {path}. Run the study first: evalkit run STUDY.")
    content = delimited.content(path, most=LARGEST, remedy=_REMEDY)
    try:
        found = json.loads(content.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{path.name} is no JSON report ({problem}). {_REMEDY}") from None
    if not isinstance(found, dict) or not all(isinstance(found.get(key), kind) for key, kind in _SHAPE.items()):
        raise DataError(f"{path.name} is no report of a study. {_REMEDY}")
    if found["status"] != "ok":
        raise DataError(f"{path.name}: the study {found['study']} {found['status']}. Run it again, then export.")
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


# One export takes the place of the one before


@contextmanager
def placed(out: Path) -> Iterator[Path]:
    """Hand out an empty folder; when the block ends well, its files become the export in ``out``, one by one.

    Meanwhile ``export.json`` says that the export is unfinished, and lists the files of both, so that after a kill
    nothing takes them for one export, and the next export clears them away.
    Raises DataError where ``out`` is a file, a file of the earlier export was changed since, or one that no export
    wrote has a name that this one needs.
    """
    if out.exists() and not out.is_dir():
        raise DataError(f"{out} is a file. Name a folder with --out.")
    try:
        out.mkdir(parents=True, exist_ok=True)
        with alone(out), tempfile.TemporaryDirectory(dir=out, prefix=".", suffix=".evalkit-part") as made:
            earlier, draft = _listed(out).get("files", {}), Path(made)
            for name, expected in earlier.items():
                if (out / name).is_file() and digest(out / name) not in expected:
                    raise _lost(out / name, "was changed since it was exported")
            yield draft
            new = _listed(draft)["files"]
            for name in [*new, LIST]:
                if (out / name).exists() and name not in earlier and not (earlier and name == LIST):
                    raise _lost(out / name, "was not written by an export")
            both = {name: [*earlier.get(name, []), *new.get(name, [])] for name in {**earlier, **new}}
            (draft / "unfinished").write_text(_json({"unfinished": _UNFINISHED, "files": both}), encoding="utf-8")
            os.replace(draft / "unfinished", out / LIST)
            for name in new:
                os.replace(draft / name, out / name)
            for name in earlier.keys() - new.keys():
                (out / name).unlink(missing_ok=True)
            os.replace(draft / LIST, out / LIST)
    except PermissionError as problem:
        raise DataError(f"{out} cannot be written ({problem.strerror}). Name another folder with --out.") from None
    finally:
        with suppress(OSError):
            out.rmdir()  # where nothing came of it


def _lost(path: Path, why: str) -> DataError:
    return DataError(f"{path} {why}, and would be lost. Move it elsewhere, or name another folder with --out.")


def _listed(folder: Path) -> dict[str, Any]:
    """Read the list of an export: the digests of its files (two of a file that was being replaced), and columns."""
    try:
        found = json.loads((folder / LIST).read_text(encoding="utf-8"))
        listed = {name: one for name, one in found["files"].items() if Path(name).name == name}
        files = {name: [one] if isinstance(one, str) else one for name, one in listed.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}
    return {"files": files, "columns": found.get("columns", {})}


# Tables


def split(recorded: dict[str, Any]) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """Part recorded values into tables (lists of rows) and the rest.

    >>> tables, values = split({"a": [{"x": 1}, {"x": 0.5}], "b": 3, "c": []})
    >>> tables["a"]["x"].tolist(), values
    ([1.0, 0.5], {'b': 3, 'c': []})
    """
    tables, values = {}, {}
    for name, value in recorded.items():
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value) and any(value):
            columns = dict.fromkeys(key for row in value for key in row)
            tables[name] = pd.DataFrame({key: _column([row.get(key) for row in value]) for key in columns})
        else:
            values[name] = value
    return tables, values


def _column(cells: list[Any]) -> pd.Series:
    """Give a column one type: numbers, truth, or text; nested values become JSON text, floats of mixed numbers."""
    known = {type(cell) for cell in cells if cell is not None}
    whole = {bool: ("bool", "boolean"), int: (None, "Int64")}
    if len(known) == 1 and known <= whole.keys():
        return pd.Series(cells, dtype=whole[known.pop()][None in cells])
    if known and known <= {int, float}:
        return pd.Series(cells, dtype="float64")
    nested = [json.dumps(cell, ensure_ascii=False) if isinstance(cell, (dict, list)) else cell for cell in cells]
    return pd.Series([cell if cell is None else str(cell) for cell in nested])


def stems(tables: dict[str, Named]) -> dict[str, tuple[str, Named]]:
    """Give every table, or page, the name of a file, without its ending: no two the same, whatever the letters' case.

    >>> list(stems({"a b": pd.DataFrame(), "A/B": pd.DataFrame(), "methods": pd.DataFrame()}))
    ['a_b', 'A_B_2', 'methods_2']
    """
    taken, found = set(_TAKEN), {}
    for name, table in tables.items():
        stem = re.sub(r"[^\w-]+", "_", name).strip("_") or "table"
        numbered = [stem, *(f"{stem}_{number}" for number in range(2, len(tables) + 2))]
        chosen = next(one for one in numbered if one.casefold() not in taken)
        taken.add(chosen.casefold())
        found[chosen] = (name, table)
    return found


def write(table: pd.DataFrame, place: Path, *, what: str) -> None:
    """Write a table as CSV and as Parquet. place: both files, without ending. what: names the table in an error."""
    # in quotes, because a line's end of old Macs is none to the writer, and is one to readers
    guard_table(table).to_csv(
        f"{place}.csv", index=False, encoding="utf-8", lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC
    )
    try:
        table.to_parquet(f"{place}.parquet", index=False)
    except (ValueError, TypeError, OverflowError, ArrowException):
        raise DataError(f"{what} is none that a study writes. Run the study again.") from None


def _kind(column: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(column):
        return "truth"
    return "number" if pd.api.types.is_numeric_dtype(column) else "text"


def read_csv(path: Path) -> pd.DataFrame:
    """Read an exported CSV file back: texts as they were recorded, numbers as numbers, as its export's list says.

    Raises DataError where no list is beside it.
    """
    kinds = _listed(path.parent).get("columns", {}).get(path.name)
    if kinds is None:
        raise DataError(f"{path.with_name(LIST)} is no list of a whole export. Export the report again.")
    options: dict[str, Any] = {"header": None, "skip_blank_lines": False, "keep_default_na": False, "na_values": [""]}
    cells = pd.read_csv(path, dtype="str", encoding="utf-8", **options).map(unguarded, na_action="ignore")
    table = cells.iloc[1:].reset_index(drop=True).set_axis(cells.iloc[0].fillna(""), axis="columns").astype("str")
    for name in table:
        if kinds[name] == "truth":
            table[name] = table[name].map({"True": True, "False": False}).astype("boolean")
        elif kinds[name] == "number":
            gaps, whole = table[name].isna().any(), table[name].dropna().str.fullmatch(r"-?\d+").all()
            table[name] = table[name].astype("Int64") if whole and gaps else pd.to_numeric(table[name])
    return table


def latex(table: pd.DataFrame, *, name: str, signature: str = "") -> str:
    r"""Write a table as a LaTeX ``table`` with booktabs rules, everything escaped; the signature stands in a comment.

    Numbers stand to the right, words to the left; sentences are paragraphs that share the line's width.

    >>> print(latex(pd.DataFrame({"system": ["a_b"], "score": [1.25]}), name="my_table"))
    \begin{table}
    \caption{my table}
    \label{tab:my-table}
    \begin{tabular}{lr}
    \toprule
    system & score \\
    \midrule
    a\_b & 1.25 \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    numeric = [_kind(table[column]) == "number" for column in table]
    plain = table.astype(object).map(_cell)
    long = [plain[column].str.len().max() > SENTENCE for column in table]
    paragraph = rf"p{{{0.75 / max(sum(long), 1):.2f}\linewidth}}"
    layout = ["r" if number else paragraph if sentences else "l" for number, sentences in zip(numeric, long)]
    shown = plain.map(tex)
    for column, number in zip(shown, numeric):
        if number:
            shown[column] = shown[column].str.replace(r"^-(?!-)", "$-$", regex=True)
    shown.columns = [tex(str(column).replace("_", " ")) for column in shown]
    # after a line's end, or a rule, a bracket or a star would belong to that command
    shown.isetitem(0, shown.iloc[:, 0].str.replace(r"^([\[*])", r"{}\1", regex=True))
    shown.columns = [re.sub(r"^([\[*])", r"{}\1", shown.columns[0]), *shown.columns[1:]]
    label = f"tab:{re.sub(r'[^A-Za-z0-9]+', '-', name)}"
    options: dict[str, Any] = {"caption": tex(name.replace("_", " ")), "label": label, "column_format": "".join(layout)}
    body = shown.style.hide(axis="index").to_latex(hrules=True, **options)
    return "\n".join([*[f"% {' '.join(signature.split())}"] * bool(signature), body])


def _cell(value: Any) -> str:
    """Print a value for a paper: up to four significant digits, a dash for a gap."""
    if pd.isna(value):
        return "--"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)
