"""Hold computed correlations and ranges against those that Sai et al. 2023 print, cell by cell."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from evalkit import DataError, data
from evalkit.metrics.subsets import FAMILIES

PAPER = "Sai et al. 2023"
#: Printed names of metrics -> those of ``lexical`` that they turn out to be. The notebook in the authors' repository
#: calls BLEU 1-4 from code for image captions, and chrF with its defaults, which count no words.
NAMES = {
    **{f"BLEU{sep}{n}": f"BLEU-{n} caption" for sep in (" ", "-", "") for n in range(1, 5)},
    "SacreBLEU": "SacreBLEU", "sacreBLEU": "SacreBLEU", "ROUGE-L": "ROUGE-L", "ROUGE": "ROUGE-L",
    "chrF++": "chrF", "TER": "TER", "Human": "human",
}  # fmt: skip
#: How the print calls the average over languages.
AVERAGE = "average"
_MODEL = "Needs a neural model, which this run does not have (see “Models that need PyTorch” in the README)."
_ROWS = "The paper counts seven systems, the release has six, and its 1,400 rows need not be the paper's."
_WHY = {
    "BLEU": "BLEU without smoothing, words at blanks; the paper's own tokens are not known.",
    "chrF": "chrF without words, which is what the authors' notebook computes under the name chrF++.",
    "ROUGE": "Words at blanks, recall weighted by 1.2; the paper's own tokens are not known.",
}
_MENDED = "Hindi's references are mended here."


def table1(correlated: pd.DataFrame) -> pd.DataFrame:
    """Compare segment-level correlations with Table 1: paper, item, cell, printed, computed, note.

    correlated: the result of ``correlation.segments`` for ``METRICS`` and ``CAPTION``. A printed average is held
    against the mean of the computed values. What needs a model is not computed.
    """
    return _correlations("1", correlated, _STATISTICS, _ROWS)


def table2(correlated: pd.DataFrame) -> pd.DataFrame:
    """Compare system-level correlations with Table 2. correlated: the result of ``correlation.systems``."""
    systems = int(correlated["systems"].max())
    return _correlations("2", correlated, _STATISTICS, f"{systems} systems are released, the paper has seven.")


def table8(ranges: pd.DataFrame) -> pd.DataFrame:
    """Compare the metrics' lowest and highest values with Table 8. ranges: the result of ``spread.ranges``."""
    values, rows = ranges.set_index("metric"), []
    for row in data.published("sai2023_table8").to_dict("records"):
        name = "chrF++" if row["metric"] == "chrF++" else NAMES.get(row["metric"])
        for end in ("min", "max"):
            value = values.loc[name, end] if name in values.index else None
            note = _ROWS if name else _MODEL
            rows.append((PAPER, "Table 8", f"{row['metric']}, {end}", row[end], value, note))
    return _rows(rows)


def table10(correlated: pd.DataFrame, *, rule: str = "with error-free") -> pd.DataFrame:
    """Compare correlations within the subsets of errors with Table 10. correlated: ``subsets.correlations``."""
    part = correlated[correlated["rule"] == rule]
    if part.empty:
        known = ", ".join(correlated["rule"].unique())
        raise DataError(f"No row was computed by the rule {rule!r}. Choose among {known}.")
    wide = part.pivot(index=["language", "metric"], columns="subset", values="kendall_b").reset_index()
    note = f"Rule: {rule}. The paper draws equal numbers from both subsets, and does not say which."
    return _correlations("10", wide, {name: (name, short) for name, short in FAMILIES.items()}, note)


#: column in print -> ours, and what the cell is called.
_STATISTICS = {"pearson": ("pearson", "ρ"), "kendall": ("kendall_b", "τ")}


def _correlations(
    number: str, computed: pd.DataFrame, columns: Mapping[str, tuple[str, str]], reason: str
) -> pd.DataFrame:
    """Look up each printed cell's computed value, and say why the two may differ."""
    values = computed.set_index(["metric", "language"])[[ours for ours, _ in columns.values()]]
    averages = values.groupby(level="metric").mean()
    averages.index = pd.MultiIndex.from_product([averages.index, [AVERAGE]])
    values, rows = pd.concat([values, averages]), []
    for row in data.published(f"sai2023_table{number}").to_dict("records"):
        name, language = NAMES.get(row["metric"]), row["language"]
        mended = _MENDED if language in ("hi", AVERAGE) else ""
        note = " ".join(filter(None, [_why(name), mended, reason])) if name else _MODEL
        for column, (ours, called) in columns.items():
            value = values.loc[(name, language), ours] if (name, language) in values.index else None
            rows.append((PAPER, f"Table {number}", f"{language}, {row['metric']}, {called}", row[column], value, note))
    return _rows(rows)


def _why(name: str) -> str:
    """Say what is known of how the paper's metric was computed."""
    return next((why for start, why in _WHY.items() if name.startswith(start)), "")


def _rows(rows: list[tuple[object, ...]]) -> pd.DataFrame:
    found = pd.DataFrame(rows, columns=["paper", "item", "cell", "printed", "computed", "note"])
    return found.astype({"computed": float})
