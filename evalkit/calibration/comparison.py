"""Rows for ``show.compare``: what Licht et al. 2022 print, beside what the computation gives."""

from __future__ import annotations

import pandas as pd

from evalkit.calibration.forms import shift

PAPER_NAME = "Licht et al. 2022"
NOT_PRINTED = "Needs the authors' spmBLEU scores of the 28 systems, which were never printed."


def table5_rows(recovered: pd.DataFrame, table5: pd.DataFrame) -> pd.DataFrame:
    """Compare the predicted CS+HT column with the printed one, cell by cell, with the interval that rounding allows."""
    rows = recovered.assign(printed=table5["cs_ht"].to_numpy())
    beyond = (
        "Cannot be reached: inputs that round to the printed CS, HT and 4.687 give "
        + rows["cs_ht_low"].map("{:.4f}".format)
        + " to "
        + rows["cs_ht_high"].map("{:.4f}".format)
        + " at the consensus used here. A lower consensus reaches it, and so does a slip in one printed digit."
    )
    return pd.DataFrame(
        {
            "paper": PAPER_NAME,
            "item": "Table 5",
            "cell": rows["language"] + " " + rows["direction"] + " CS+HT",
            "printed": rows["printed"],
            "computed": rows["cs_ht_predicted"],
            "low": rows["cs_ht_low"],
            "high": rows["cs_ht_high"],
            "note": beyond.mask(rows["reachable"], "Within what rounding of the inputs allows."),
        }
    )


def table6_rows(table6: pd.DataFrame) -> pd.DataFrame:
    """List the printed correlations, none of which can be computed from what was published."""
    statistic = table6["statistic"].map({"pearson": "Pearson's r", "r2": "r²", "linreg": "LinReg"})
    return pd.DataFrame(
        {
            "paper": PAPER_NAME,
            "item": "Table 6",
            "cell": table6["method"] + " " + statistic + " " + table6["direction"],
            "printed": table6["printed"],
            "computed": None,
            "note": NOT_PRINTED,
        }
    )


def audit_rows(audited: pd.DataFrame, table6: pd.DataFrame) -> pd.DataFrame:
    """Compare the printed r² with the squares of the printed r, with the interval that rounding of r allows."""
    printed = table6[table6["statistic"] == "r2"].set_index(["method", "direction"])["printed"]
    note = "No r that rounds to the printed r has this square: one of the two cells is misprinted."
    return pd.DataFrame(
        {
            "paper": PAPER_NAME,
            "item": "Table 6 against itself",
            "cell": audited["method"] + " r² from r, " + audited["columns"],
            "printed": [printed[key] for key in zip(audited["method"], audited["columns"], strict=True)],
            "computed": audited["r"] ** 2,
            "low": audited["low"],
            "high": audited["high"],
            "note": pd.Series(note, index=audited.index).mask(audited["consistent"], "Square of the printed r."),
        }
    )


def prose_rows(ranked: pd.DataFrame, table6: pd.DataFrame, table1: pd.DataFrame) -> pd.DataFrame:
    """Check what the prose states in numbers or orders: the worked examples, the rankings, the claim on Table 6."""
    cs = ranked[(ranked["method"] == "CS") & (ranked["direction"] == "X-EN")].set_index("language")["score"]
    value = pd.to_numeric(table6["printed"])
    best = table6.loc[value.groupby([table6["statistic"], table6["direction"]]).idxmax(), "method"]
    orders = [
        (f"Portuguese above {other}, X-EN CS", "above", "above" if cs["Portuguese"] > cs[other] else "not above", "")
        for other in ("Hindi", "Arabic")
    ]
    studied = int(table1["study"].str.contains("calibration", case=False).sum())
    rows = [
        (
            "section 4",
            "points to deduct from a group at 3.2",
            "0.2",
            float(-shift(0.0, alpha=3.0 - 3.2)),
            "",
        ),
        ("section 5.3", "4.8 shifted by 3.0 - 2.7", "5.1", float(shift(4.8, alpha=3.0 - 2.7)), ""),
        *[("section 6.2", *order) for order in orders],
        ("section 6.2", "columns of Table 6 in which CS is highest", str(len(best)), int((best == "CS").sum()), ""),
        ("abstract", "language pairs in the calibration study", "14", int(ranked["language"].nunique()), ""),
        ("Table 1", "calibration languages, as in Tables 4 and 5", "14", studied, "Table 1 leaves out Bulgarian."),
    ]
    frame = pd.DataFrame(rows, columns=["item", "cell", "printed", "computed", "note"])
    return frame.assign(paper=PAPER_NAME)


def together(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Put rows of several comparisons below one another, each column as it comes."""
    columns = ["paper", "item", "cell", "printed", "computed", "low", "high", "note"]
    rows = [row for part in parts for row in part.to_dict("records")]
    return pd.DataFrame(rows, columns=columns, dtype=object)
