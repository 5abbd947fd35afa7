"""Rows for ``show.compare``: what Licht et al. 2022 print on calibration, beside what the computation gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalkit.human.calibration import METHODS, PAPER, moderated, shift
from evalkit.papers import claims
from evalkit.papers.licht2022.external import training_size
from evalkit.papers.licht2022.implied import above, mean_shift, rankings

FOLLOWS = "follows from other printed numbers"
#: Columns that name a cell of Table 5.
CELL = ["direction", "language"]
#: The languages that Table 5 highlights, and of which its caption speaks.
HIGHLIGHTED = ("Hindi", "Portuguese", "Arabic", "Bulgarian", "Swahili")


def table4_rows(table4: pd.DataFrame) -> pd.DataFrame:
    """List the printed training sizes, which only the corpora themselves could confirm."""
    because, lacking = "Which corpora were counted is not printed.", "training corpora never named"
    item = "Table 4, training size"
    return claims.listed(table4, "training_size", item=item, on=["language"], because=because, lacking=lacking)


def table5_rows(recovered: pd.DataFrame, table5: pd.DataFrame) -> pd.DataFrame:
    """Compare what of Table 5 follows from the rest of it, with what rounding allows; list the rest.

    CS+HT follows from CS and HT (``implied.recover``). Both directions of a language share one calibration mean, so
    CS out of English follows from RAW and from the shift into English.
    """
    out = table5[table5["direction"] == "EN-X"]
    return pd.concat([_both(recovered, table5), _shifted(recovered, out), _given(table5)], ignore_index=True)


def _both(recovered: pd.DataFrame, table5: pd.DataFrame) -> pd.DataFrame:
    """Compare CS+HT as derived with CS+HT as printed."""
    span = _span(recovered["cs_ht_low"], recovered["cs_ht_high"])
    beyond = "Cannot be reached: inputs that round to the printed CS, HT and 4.687 give " + span
    beyond += " at the consensus used here. A lower consensus reaches it, and so does a slip in one printed digit."
    within = "Rounding of CS, HT and 4.687 allows " + span + "."
    return claims.compare_with_print(
        table5,
        recovered.assign(note=beyond.mask(recovered["reachable"], within)),
        item="Table 5, CS+HT",
        on=CELL,
        values={"cs_ht": "cs_ht_predicted"},
        basis=FOLLOWS,
        bounds=("cs_ht_low", "cs_ht_high"),
    )


def _shifted(recovered: pd.DataFrame, out: pd.DataFrame) -> pd.DataFrame:
    """Compare CS out of English with RAW moved by the shift into English."""
    shifts = recovered[recovered["direction"] == "X-EN"].set_index("language")["alpha_cs"]
    ours = out[CELL].assign(predicted=pd.to_numeric(out["raw"]) + out["language"].map(shifts))
    ours = ours.assign(low=ours["predicted"] - 0.015, high=ours["predicted"] + 0.015)
    return claims.compare_with_print(
        out,
        ours,
        item="Table 5, CS",
        on=CELL,
        values={"cs": "predicted"},
        basis=FOLLOWS,
        bounds=("low", "high"),
        note="RAW moved by the shift into English: three rounded numbers, so known to 0.015.",
    )


def _given(table5: pd.DataFrame) -> pd.DataFrame:
    """List the cells of Table 5 that nothing printed implies."""
    because, lacking = "The ratings behind this average were not published.", "annotations never released"
    parts = [(table5, "raw"), (table5[table5["direction"] == "X-EN"], "cs"), (table5, "ht")]
    return pd.concat(
        [
            claims.listed(part, name, item=f"Table 5, {METHODS[name]}", on=CELL, because=because, lacking=lacking)
            for part, name in parts
        ]
    )


def _span(low: pd.Series, high: pd.Series) -> pd.Series:
    """Write from where to where rounding allows values."""
    return low.map("{:.4f}".format) + " to " + high.map("{:.4f}".format)


def table6_rows(audited: pd.DataFrame, table6: pd.DataFrame) -> pd.DataFrame:
    """Compare the printed r² with the squares of the printed r, with what rounding of r allows; list the rest."""
    squared, on = table6["statistic"] == "r2", ["method", "direction"]
    wrong = "No r that rounds to the printed r has this square: one of the two cells is misprinted."
    within = "Square of the printed r, whose rounding allows " + _span(audited["low"], audited["high"]) + "."
    ours = audited.rename(columns={"columns": "direction"}).assign(
        square=audited["r"] ** 2, note=within.where(audited["consistent"], wrong)
    )
    made = claims.compare_with_print(
        table6[squared],
        ours,
        item="Table 6, r²",
        on=on,
        values={"printed": "square"},
        basis=FOLLOWS,
        bounds=("low", "high"),
    )
    rest = table6[~squared]
    item = "Table 6, " + rest["statistic"].map({"pearson": "Pearson's r", "linreg": "LinReg"})
    because, lacking = "Needs the authors' spmBLEU scores of the 28 systems.", "spmBLEU scores never printed"
    others = claims.listed(rest, "printed", item=item, on=on, because=because, lacking=lacking)
    return pd.concat([made, others], ignore_index=True)


def prose_tables(
    table1: pd.DataFrame, table4: pd.DataFrame, table5: pd.DataFrame, table6: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Compute what the claims of the prose on calibration are looked up in (``licht2022_prose``), a table a name."""
    order = above(rankings(table5), "Portuguese", ["Hindi", "Arabic"]).query("method == 'CS' and direction == 'X-EN'")
    return {
        "languages": languages(table1, table5),
        "examples": examples(),
        "moderating": moderating(),
        "moderated": moderated_checks(),
        "correlated": correlated(table6),
        "shifts": mean_shift(table5),
        "ranked": order.assign(order=np.where(order["holds"], "above", "not above")),
        "closer": closer(table4, table5),
    }


def languages(table1: pd.DataFrame, table5: pd.DataFrame) -> pd.DataFrame:
    """Say of Table 5's languages whether Table 1 lists them: language_code, listed, both_directions."""
    listed = table1.loc[table1["study"] == "Calibration Study", "language_code"]
    directions = table5.groupby("language_code")["direction"].nunique().rename("directions").reset_index()
    return directions.assign(
        listed=directions["language_code"].isin(listed), both_directions=directions["directions"] == 2
    )


def examples() -> pd.DataFrame:
    """Work the paper's examples: example, value.

    >>> examples().set_index("example")["value"].round(9).to_dict()["overshooting"]
    5.1
    """
    low, high = PAPER.scale
    values: dict[str, Any] = {
        "deducted": -shift(0.0, alpha=3.0 - 3.2),
        "correction": 3.0 - 2.7,
        "overshooting": shift(4.8, alpha=3.0 - 2.7),
        "pairs of the set": 200 * (high - low + 1),
    }
    return pd.DataFrame([(name, float(value)) for name, value in values.items()], columns=["example", "value"])


def moderating() -> pd.DataFrame:
    """Tabulate the moderating function, x from 0.01 to 8: x, value (tanh x), kept (its share of x)."""
    x = np.arange(1, 801) / 100
    return pd.DataFrame({"x": x, "value": np.tanh(x), "kept": np.tanh(x) / x})


def moderated_checks() -> pd.DataFrame:
    """Check the moderated form over the scale, for shifts from -4 to 4: shift, rises, stays (on the scale)."""
    raw, (low, high) = np.linspace(*PAPER.scale, 401), PAPER.scale
    moved = {alpha: moderated(raw, alpha=alpha, scale=PAPER.scale) for alpha in np.arange(-40, 41) / 10}
    rows = [(alpha, bool((np.diff(y) > 0).all()), bool(((low <= y) & (y <= high)).all())) for alpha, y in moved.items()]
    return pd.DataFrame(rows, columns=["shift", "rises", "stays"])


def correlated(table6: pd.DataFrame) -> pd.DataFrame:
    """Order the methods within each column of Table 6: statistic, direction and three comparisons, true or false."""
    value = table6.assign(value=pd.to_numeric(table6["printed"]))
    wide = value.pivot(index=["statistic", "direction"], columns="method", values="value")
    return pd.DataFrame(
        {
            "CS_highest": wide["CS"] > wide.drop(columns="CS").max(axis=1),
            "CS_above_baseline": wide["CS"] > wide["baseline"],
            "HT_below_CS": wide["HT"] < wide["CS"],
        }
    ).reset_index()


def closer(table4: pd.DataFrame, table5: pd.DataFrame) -> pd.DataFrame:
    """Compare the order of the highlighted languages with their corpus sizes: direction, raw, cs (Spearman), lead."""
    scores = table5.assign(raw=pd.to_numeric(table5["raw"]), cs=pd.to_numeric(table5["cs"]))
    both = scores.merge(training_size(table4), on=["direction", "language_code"])
    ranks = both[both["language"].isin(HIGHLIGHTED)].groupby("direction")[["raw", "cs", "value"]].rank()
    ranks = ranks.assign(direction=both["direction"])
    rows = [
        (direction, *(float(part[name].corr(part["value"])) for name in ("raw", "cs")))
        for direction, part in ranks.groupby("direction", sort=False)
    ]
    return pd.DataFrame(rows, columns=["direction", "raw", "cs"]).assign(lead=lambda d: d["cs"] - d["raw"])
