"""Table 5 of Licht et al. 2022 from the inside: which means and which consensus its printed cells imply.

The paper prints only results: per language and direction the average raw score (RAW), the score shifted by the
calibration set (CS), by the human references (HT), and along the line through both (CS+HT). The two shifts give the
two means back: m = c - (CS - RAW) and r = h - (HT - RAW). The line through (m, c) and (r, h) then predicts CS+HT:

    CS+HT = c + (h - c)(RAW - m) / (r - m) = (h·CS - c·HT) / (h + CS - c - HT),

in which RAW cancels. All inputs are rounded, so a prediction is an interval. Arithmetic is exact (fractions).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.human.calibration import METHODS, PAPER, Standard, moderated, shift

HALF = Fraction(1, 200)  # Table 5 prints two digits
HUMAN_REFERENCE_HALF = Fraction(1, 2000)  # 4.687 is itself rounded

#: What the columns of ``recover`` are called in a table.
HEADINGS = {
    "calibration_mean": "calibration mean m",
    "reference_mean": "reference mean r",
    "alpha_cs": "shift α",
    "beta": "slope β",
    "alpha": "offset α′",
    "cs_ht_printed": "CS+HT printed",
    "cs_ht_predicted": "predicted",
    "cs_ht_low": "lowest",
    "cs_ht_high": "highest",
    "reachable": "can be reached",
    "rounds": "rounds to print",
}

Interval = tuple[Fraction, Fraction]
_FAR = Fraction(10**9)
#: Where consensus scores are looked for: from the scale's lower end to a little below the score of references.
SEARCH = (1.0, 4.5)


def recover(table5: pd.DataFrame, *, standard: Standard = PAPER) -> pd.DataFrame:
    """Recover the two means of each language and direction, then predict CS+HT from them.

    table5: columns direction, language, raw, cs, ht, cs_ht as printed (text keeps the digits).
    Returns direction, language, raw, calibration_mean, reference_mean, alpha_cs, beta, alpha, cs_ht_predicted,
    cs_ht_low, cs_ht_high (what inputs that round to print allow), cs_ht_printed, reachable (something between low and
    high rounds to print), rounds (the prediction itself does). Points of the scale.
    """
    raw, cs, ht, cs_ht = (table5[method].astype(float) for method in METHODS)
    calibration_mean, reference_mean = standard.consensus - (cs - raw), _references(standard) - (ht - raw)
    beta, alpha = standard.line(calibration_mean, reference_mean)
    predicted = beta * raw + alpha
    ranges = [predicted_interval(*pair, standard=standard) for pair in zip(table5["cs"], table5["ht"])]
    rounding = [_rounds_to(text) for text in table5["cs_ht"]]
    return table5[["direction", "language"]].assign(
        raw=raw,
        calibration_mean=calibration_mean,
        reference_mean=reference_mean,
        alpha_cs=cs - raw,
        beta=beta,
        alpha=alpha,
        cs_ht_predicted=predicted,
        cs_ht_low=[float(low) for low, _ in ranges],
        cs_ht_high=[float(high) for _, high in ranges],
        cs_ht_printed=cs_ht,
        reachable=[_overlap(*pair) for pair in zip(ranges, rounding)],
        rounds=[_overlap((Fraction(value),) * 2, one) for value, one in zip(predicted, rounding)],
    )


def predicted_interval(cs: str, ht: str, *, standard: Standard = PAPER) -> Interval:
    """Return the exact range of CS+HT over all CS, HT and human fix point that round to the printed ones.

    The prediction is monotonic in each input while the others rest, so its extremes lie on corners of the box.

    >>> [float(round(v, 4)) for v in predicted_interval("2.91", "3.12")]  # print has 2.91 for Azerbaijani-English
    [2.8907, 2.9036]
    """
    consensus = _exact(standard.consensus)
    corners = [_predict(*corner, consensus) for corner in _corners(cs, ht, _around(_references(standard)))]
    return min(corners), max(corners)


def consensus_by_cell(table5: pd.DataFrame) -> pd.DataFrame:
    """Find, per printed CS+HT cell, the consensus scores from which that cell can be reached.

    For fixed inputs, CS+HT <= t means (c - t)(HT - t) >= (h - t)(CS - t), which is linear in the consensus c; so each
    corner of the box of inputs allows a half-line, and the cell a union of half-lines cut with another. No grid.

    h is any number that rounds to 4.687. c is looked for within ``SEARCH``; below the point, too, from which on the
    group's two means would change places and the line would fall.
    Returns direction, language, low, high, a row per connected piece. An end that is an end of the search is no limit
    that the cell sets; a cell with both says nothing about c (``unlimited``).
    """
    h, window = _around(_references(PAPER)), (_exact(SEARCH[0]), _exact(SEARCH[1]))
    rows = []
    for row in table5.to_dict("records"):
        bottom, top = _rounds_to(row["cs_ht"])
        corners = list(_corners(row["cs"], row["ht"], h))
        meeting = min(h + cs - ht for cs, ht, h in corners)  # there the references would fall to the calibration set
        below = _union(_half_line(*corner, top, at_most=True) for corner in corners)
        above = _union(_half_line(*corner, bottom, at_most=False) for corner in corners)
        for low, high in _cut(_cut(below, above), [(window[0], min(window[1], meeting))]):
            rows.append((row["direction"], row["language"], float(low), float(high)))
    return pd.DataFrame(rows, columns=["direction", "language", "low", "high"])


def unlimited(cells: pd.DataFrame) -> pd.DataFrame:
    """Leave out the ends that are only the ends of the search: the result of ``consensus_by_cell`` with gaps there.

    >>> cells = pd.DataFrame({"language": ["Hindi"], "low": [1.0], "high": [4.029]})
    >>> unlimited(cells)[["low", "high"]].to_numpy().tolist()
    [[nan, 4.029]]
    """
    low, high = SEARCH
    return cells.assign(low=cells["low"].where(cells["low"] > low), high=cells["high"].where(cells["high"] < high))


def joint_consensus(cells: pd.DataFrame) -> pd.DataFrame:
    """Cut the cells' intervals with one another: one row low, high, low_cell, high_cell, possible, low_else, high_else.

    cells: from ``consensus_by_cell``, one piece a cell. low_cell and high_cell name the cells that set the two ends;
    where ``possible`` is False they are the cells that contradict each other. low_else and high_else are the ends
    that all other cells leave when the one binding cell is taken out (one rounding slip would move the end there).
    """
    if cells.duplicated(["direction", "language"]).any():
        raise DataError("A cell allows two separate ranges of consensus scores: narrow SEARCH to one of them.")
    name = cells["direction"] + " " + cells["language"]
    low, high = cells["low"].max(), cells["high"].min()
    row = {
        "low": low,
        "high": high,
        "low_cell": " and ".join(name[cells["low"].eq(low)]),
        "high_cell": " and ".join(name[cells["high"].eq(high)]),
        "possible": low <= high,
        "low_else": cells["low"].nlargest(2).iloc[-1],
        "high_else": cells["high"].nsmallest(2).iloc[-1],
    }
    return pd.DataFrame([row])


def same_in_both_directions(table5: pd.DataFrame) -> pd.DataFrame:
    """Test whether both directions of a language imply the same calibration mean, and the same reference mean.

    One group of evaluators rated the one calibration set, so CS - RAW must not depend on the direction. A difference
    of two printed scores is exact to 0.01, so the two directions can agree if their shifts are at most 0.02 apart;
    the consensus and the human fix point cancel.
    Returns language, fixed_point (calibration set | human references), x_en, en_x (the shifts), difference, can_agree.
    """
    rows = []
    for language, printed in table5.set_index("direction").groupby("language", sort=True):
        for method, name in (("cs", "calibration set"), ("ht", "human references")):
            x_en, en_x = (_exact(printed.at[d, method]) - _exact(printed.at[d, "raw"]) for d in ("X-EN", "EN-X"))
            rows.append((language, name, float(x_en), float(en_x), float(x_en - en_x), abs(x_en - en_x) <= 4 * HALF))
    return pd.DataFrame(rows, columns=["language", "fixed_point", "x_en", "en_x", "difference", "can_agree"])


def mean_shift(table5: pd.DataFrame) -> pd.DataFrame:
    """Average the shifts over all cells: is an agreed score simply the mean of what all groups gave?

    If the agreed score of a fixed point is the average of the groups' own means, the shifts average exactly zero. The
    paper says so of the references (4.687 is such an average); of the calibration set it says the score is fixed.
    Returns fixed_point, cells, mean, low, high (what rounding allows), se (of a mean of that many languages' shifts,
    the two directions of a language counted once), zero_possible.
    """
    rows = []
    for method, name in (("cs", "calibration set"), ("ht", "human references")):
        shifts = [_exact(row[method]) - _exact(row["raw"]) for row in table5.to_dict("records")]
        mean = sum(shifts) / len(shifts)
        by_language = pd.Series(map(float, shifts)).groupby(table5["language"].to_numpy()).mean()
        se = float(by_language.std(ddof=1) / np.sqrt(len(by_language)))
        low, high = mean - 2 * HALF, mean + 2 * HALF
        rows.append((name, len(shifts), float(mean), float(low), float(high), se, low <= 0 <= high))
    return pd.DataFrame(rows, columns=["fixed_point", "cells", "mean", "low", "high", "se", "zero_possible"])


def rankings(table5: pd.DataFrame) -> pd.DataFrame:
    """Rank the languages under each method: direction, language, language_code, method, score, rank, position.

    rank: 1 is best, equal printed scores share the better rank. position: 1 to n without ties, the order in which the
    paper prints them (which knows the digits that rounding took away).
    """
    who = ["direction", "language", "language_code"]
    long = table5.rename(columns=METHODS).melt(who, METHODS.values(), "method", "score")
    order = table5.melt(who, [f"rank_{method}" for method in METHODS], "method", "position")
    long = long.assign(score=pd.to_numeric(long["score"]), position=pd.to_numeric(order["position"]))
    ranks = long.groupby(["direction", "method"])["score"].rank(method="min", ascending=False).astype(int)
    return long.assign(rank=ranks)


def above(ranked: pd.DataFrame, upper: str, lowers: Iterable[str]) -> pd.DataFrame:
    """Check whether one language ranks above others: direction, method, claim, margin, holds, certain.

    margin: difference of the printed scores; certain: it exceeds what rounding could have made.
    """
    scores = ranked.pivot(index=["direction", "method"], columns="language", values="score")
    rows = [
        (direction, method, f"{upper} above {lower}", margin, margin > 0, abs(margin) > float(2 * HALF) + 1e-9)
        for lower in lowers
        for (direction, method), margin in (scores[upper] - scores[lower]).round(6).items()
    ]
    return pd.DataFrame(rows, columns=["direction", "method", "claim", "margin", "holds", "certain"])


def off_scale(table5: pd.DataFrame, *, standard: Standard = PAPER) -> pd.DataFrame:
    """List what leaves the scale: the printed cells, and the scale's own ends under each language's forms.

    An item whose median is the top score goes to β·top + α; the shift leaves the scale at one end whenever α is not 0.
    Returns direction, language, form (shift | line), bottom_to, top_to, printed (the printed score), printed_off.
    """
    low, high = standard.scale
    recovered = recover(table5, standard=standard)
    forms = {"shift": ("cs", 1.0, recovered["alpha_cs"]), "line": ("cs_ht", recovered["beta"], recovered["alpha"])}
    parts = []
    for form, (method, beta, alpha) in forms.items():
        ends = {"bottom_to": beta * low + alpha, "top_to": beta * high + alpha}
        printed = pd.to_numeric(table5[method]).to_numpy()
        parts.append(recovered[["direction", "language"]].assign(form=form, **ends, printed=printed))
    found = pd.concat(parts, ignore_index=True)
    return found.assign(printed_off=~found["printed"].between(low, high))


def computed(table5: pd.DataFrame, recovered: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables of Table 5 that ``claims.compare("licht2022", ...)`` looks up. recovered: as ``recover`` does.

    "moved": RAW out of English, moved by the shift of the language into English.
    """
    shifts = recovered[recovered["direction"].eq("X-EN")].set_index("language")["alpha_cs"]
    moved = pd.to_numeric(table5["raw"]) + table5["language"].map(shifts)
    return {"recovered": recovered, "moved": table5[["direction", "language"]].assign(moved=moved)}


def prose_tables(table1: pd.DataFrame, table5: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables that claims of ``licht2022_prose`` on calibration and Table 5 name."""
    order = above(rankings(table5), "Portuguese", ["Hindi", "Arabic"]).query("method == 'CS' and direction == 'X-EN'")
    return {
        "languages": languages(table1, table5),
        "examples": examples(),
        "moderating": moderating(),
        "moderated": moderated_checks(),
        "shifts": mean_shift(table5),
        "ranked": order.assign(order=np.where(order["holds"], "above", "not above")),
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
    values = {
        "deducted": -float(shift(0.0, alpha=3.0 - 3.2)),
        "correction": 3.0 - 2.7,
        "overshooting": float(shift(4.8, alpha=3.0 - 2.7)),
        "pairs of the set": 200 * (high - low + 1),
    }
    return pd.DataFrame(values.items(), columns=["example", "value"])


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


def _exact(value: float | str) -> Fraction:
    return Fraction(str(value))


def _rounds_to(printed: float | str) -> Interval:
    return _exact(printed) - HALF, _exact(printed) + HALF


def _references(standard: Standard) -> float:
    """Return the agreed score of human references, without which nothing follows from HT."""
    if standard.human_reference is None:
        raise DataError("The line needs an agreed score of human references. Give a standard that has one.")
    return standard.human_reference


def _around(human_reference: float) -> Interval:
    return _exact(human_reference) - HUMAN_REFERENCE_HALF, _exact(human_reference) + HUMAN_REFERENCE_HALF


def _overlap(a: Interval, b: Interval) -> bool:
    return a[0] <= b[1] and b[0] <= a[1]


def _corners(cs: str, ht: str, human_reference: Interval) -> Iterable[tuple[Fraction, Fraction, Fraction]]:
    return product(_rounds_to(cs), _rounds_to(ht), human_reference)


def _predict(cs: Fraction, ht: Fraction, h: Fraction, c: Fraction) -> Fraction:
    run = h + cs - c - ht  # the distance of the two means, r - m
    if run <= 0:
        raise DataError(f"At consensus {float(c):g} the references would not lie above the calibration set. Lower it.")
    return (h * cs - c * ht) / run


def _half_line(cs: Fraction, ht: Fraction, h: Fraction, t: Fraction, *, at_most: bool) -> Interval | None:
    """Solve CS+HT <= t (or >= t) for the consensus; None where no consensus does it."""
    slope, needed = ht - t, (h - t) * (cs - t) + t * (ht - t)  # c * slope >= needed, or <=
    if slope == 0:
        return (-_FAR, _FAR) if (needed <= 0 if at_most else needed >= 0) else None
    return (needed / slope, _FAR) if (slope > 0) == at_most else (-_FAR, needed / slope)


def _union(half_lines: Iterable[Interval | None]) -> list[Interval]:
    merged: list[Interval] = []
    for low, high in sorted(line for line in half_lines if line):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged


def _cut(first: list[Interval], second: list[Interval]) -> list[Interval]:
    pieces = [(max(a[0], b[0]), min(a[1], b[1])) for a in first for b in second]
    return [piece for piece in pieces if piece[0] <= piece[1]]
