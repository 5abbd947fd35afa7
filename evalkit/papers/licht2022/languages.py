"""Scores of languages in Tables 5 and 6 of Licht et al. 2022: what printed cells imply, and outside scores beside them.

The paper prints only results: per language and direction the average raw score (RAW), the score shifted by the
calibration set (CS), by the human references (HT), and along the line through both (CS+HT). The two shifts give the
two means back: m = c - (CS - RAW) and r = h - (HT - RAW). The line through (m, c) and (r, h) then predicts CS+HT:

    CS+HT = c + (h - c)(RAW - m) / (r - m) = (h·CS - c·HT) / (h + CS - c - HT),

in which RAW cancels. All inputs are rounded, so a prediction is an interval. Arithmetic is exact (fractions).

Table 6 compares these scores with spmBLEU values that were never printed. Here it is audited as printed, and computed
again on outside scores that are public, or that the user brings. An outside score is a ``covariate``: a table with
columns covariate, direction (X-EN | EN-X), language_code, value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import groupby, pairwise, product
from operator import itemgetter
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.data import schemas
from evalkit.data.importing import reading
from evalkit.human.calibration import METHODS, PAPER, Standard, moderated, shift, two_points
from evalkit.stats import inference
from evalkit.stats.correlation import pearson

HALF = Fraction(1, 200)  # Table 5 prints two digits
HUMAN_REFERENCE_HALF = Fraction(1, 2000)  # 4.687 is itself rounded

Interval = tuple[Fraction, Fraction]
#: Where consensus scores are looked for: from the scale's lower end to a little below the score of references.
SEARCH = (1.0, 4.5)
DIRECTIONS = ("X-EN", "EN-X")
COLUMNS = (*DIRECTIONS, "both")
#: The languages that Table 5 highlights, and of which its caption speaks.
HIGHLIGHTED = ("Hindi", "Portuguese", "Arabic", "Bulgarian", "Swahili")
_COVARIATE = ["covariate", "direction", "language_code", "value"]
STATISTICS = ("pearson", "r2", "linreg")


def recover(table5: pd.DataFrame, *, standard: Standard = PAPER) -> pd.DataFrame:
    """Recover the two means of each language and direction, then predict CS+HT from them.

    table5: columns direction, language, raw, cs, ht, cs_ht as printed (text keeps the digits).
    Returns direction, language, raw, calibration_mean, reference_mean, alpha_cs, beta, alpha, cs_ht_predicted,
    cs_ht_low, cs_ht_high (what inputs that round to print allow), cs_ht_printed, reachable (something between low and
    high rounds to print), rounds (the prediction itself does). Points of the scale.
    """
    raw, cs, ht, cs_ht = (table5[method].astype(float) for method in METHODS)
    agreed = {"consensus": standard.consensus, "human_reference": _references(standard)}
    calibration_mean, reference_mean = agreed["consensus"] - (cs - raw), agreed["human_reference"] - (ht - raw)
    beta, alpha = two_points(calibration_mean, reference_mean, **agreed)
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
    return _range(_corners(cs, ht, _around(_references(standard))), _exact(standard.consensus))


def consensus_by_cell(table5: pd.DataFrame) -> pd.DataFrame:
    """Find, per printed CS+HT cell, the consensus scores from which that cell can be reached.

    Where what a cell allows begins or ends, some corner of the box of inputs gives an end of what rounds to the printed
    number, an equation that is linear in the consensus; between two such places all or nothing is allowed. No grid.

    The score of references is any number that rounds to 4.687. The consensus is looked for within ``SEARCH``; below the
    point, too, from which on the group's two means would change places and the line would fall.
    Returns direction, language, low, high, a row per connected piece. An end that is an end of the search is no limit
    that the cell sets; a cell with both says nothing about the consensus (``unlimited``).
    """
    lowest, highest = map(_exact, SEARCH)
    rows = []
    for row in table5.to_dict("records"):
        printed, corners = _rounds_to(row["cs_ht"]), _corners(row["cs"], row["ht"], _around(_references(PAPER)))
        meeting = min(h + cs - ht for cs, ht, h in corners)  # there the references would fall to the calibration set
        ends = {lowest, min(highest, meeting)}
        solved = {_consensus(*corner, end) for corner, end in product(corners, printed) if end != corner[1]}
        pieces = list(pairwise(sorted(ends | {at for at in solved if min(ends) < at < max(ends)})))
        allowed = [_overlap(_range(corners, (low + high) / 2), printed) for low, high in pieces]
        for fits, run in groupby(zip(allowed, pieces), key=itemgetter(0)):
            connected = [piece for _, piece in run]
            if fits:
                rows.append((row["direction"], row["language"], float(connected[0][0]), float(connected[-1][1])))
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


def computed(table5: pd.DataFrame, recovered: pd.DataFrame, audited: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables that ``claims.compare("licht2022", ...)`` looks up.

    recovered: as ``recover`` does. audited: as ``audit`` does, with squares. "moved": RAW out of English, moved by the
    shift of the language into English.
    """
    shifts = recovered[recovered["direction"].eq("X-EN")].set_index("language")["alpha_cs"]
    moved = pd.to_numeric(table5["raw"]) + table5["language"].map(shifts)
    squares = audited.rename(columns={"columns": "direction"}).assign(square=audited["r"] ** 2)
    return {"recovered": recovered, "moved": table5[["direction", "language"]].assign(moved=moved), "audited": squares}


def prose_tables(
    table1: pd.DataFrame, table4: pd.DataFrame, table5: pd.DataFrame, table6: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Make the tables that claims of ``licht2022_prose`` on calibration and outside scores name."""
    order = above(rankings(table5), "Portuguese", ["Hindi", "Arabic"]).query("method == 'CS' and direction == 'X-EN'")
    return {
        "languages": languages(table1, table5),
        "examples": examples(),
        "moderating": moderating(),
        "moderated": moderated_checks(),
        "shifts": mean_shift(table5),
        "ranked": order.assign(order=np.where(order["holds"], "above", "not above")),
        "correlated": correlated(table6),
        "closer": closer(table4, table5),
    }


def languages(table1: pd.DataFrame, table5: pd.DataFrame) -> pd.DataFrame:
    """Say of Table 5's languages whether Table 1 lists them: language_code, listed, both_directions."""
    listed = table1.loc[table1["study"] == "Calibration Study", "language_code"]
    directions = table5.groupby("language_code")["direction"].nunique().rename("directions").reset_index()
    both = {"listed": directions["language_code"].isin(listed), "both_directions": directions["directions"] == 2}
    return directions.assign(**both)


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


def _corners(cs: str, ht: str, human_reference: Interval) -> list[tuple[Fraction, Fraction, Fraction]]:
    return list(product(_rounds_to(cs), _rounds_to(ht), human_reference))


def _range(corners: list[tuple[Fraction, Fraction, Fraction]], consensus: Fraction) -> Interval:
    predicted = [_predict(*corner, consensus) for corner in corners]
    return min(predicted), max(predicted)


def _predict(cs: Fraction, ht: Fraction, h: Fraction, c: Fraction) -> Fraction:
    run = h + cs - c - ht  # the distance of the two means, r - m
    if run <= 0:
        raise DataError(f"At consensus {float(c):g} the references would not lie above the calibration set. Lower it.")
    return (h * cs - c * ht) / run


def _consensus(cs: Fraction, ht: Fraction, h: Fraction, cs_ht: Fraction) -> Fraction:
    """Solve CS+HT for the consensus."""
    return (cs_ht * (h + cs - ht) - h * cs) / (cs_ht - ht)


# Table 6


def audit(table6: pd.DataFrame) -> pd.DataFrame:
    """Check each printed r² against the square of the printed r: method, columns, r, r2, low, high, consistent.

    table6: method, statistic, direction, printed (text). low, high: squares of everything that rounds to the printed
    r; a cell is consistent when something in that range rounds to the printed r². Exact arithmetic.
    """
    wide = table6.pivot(index=["method", "direction"], columns="statistic", values="printed")
    rows = []
    for (method, columns), printed in wide.loc[table6["method"].unique()].iterrows():
        r, r2 = Fraction(printed["pearson"]), Fraction(printed["r2"])
        half = Fraction(1, 2000)
        low, high = (r - half) ** 2, (r + half) ** 2
        fits = low <= r2 + half and r2 - half <= high
        rows.append((method, columns, float(r), float(r2), float(low), float(high), fits))
    return pd.DataFrame(rows, columns=["method", "columns", "r", "r2", "low", "high", "consistent"])


def training_size(table4: pd.DataFrame) -> pd.DataFrame:
    """Take log10 of the number of training sentence pairs as a covariate, the same for both directions."""
    sizes = table4[["language_code"]].assign(value=np.log10(pd.to_numeric(table4["training_size"])))
    both = sizes.merge(pd.DataFrame({"direction": DIRECTIONS}), how="cross").assign(covariate="log10 training pairs")
    return both.sort_values("direction", ascending=False, kind="stable", ignore_index=True)[_COVARIATE]


def spbleu(scores: pd.DataFrame) -> pd.DataFrame:
    """Take the spBLEU of each system as a covariate (columns pair, system, spbleu; pairs into or out of eng)."""
    source, target = scores["pair"].str.split("-", expand=True).to_numpy().T
    into = target == "eng"
    found = pd.DataFrame({"covariate": "spBLEU " + scores["system"], "direction": np.where(into, "X-EN", "EN-X")})
    found = found.assign(language_code=np.where(into, source, target), value=pd.to_numeric(scores["spbleu"]))
    return found


def covariates(table4: pd.DataFrame, scores: pd.DataFrame, *, own: str = "") -> pd.DataFrame:
    """Put all outside scores below one another: training sizes, public spBLEU, and a file of the user's own, if any.

    ``attrs["own"]`` names the user's file and its digest ("none" without one), for the signature.
    """
    parts = [training_size(table4), spbleu(scores)]
    if own:
        parts.append(read_scores(own, codes=table4["language_code"]))
    together = pd.concat(parts, ignore_index=True)
    digest = hashlib.sha256(Path(own).read_bytes()).hexdigest()[:8] if own else ""
    together.attrs["own"] = f"{Path(own).name}@{digest}" if own else "none"
    return together


def read_scores(path: str | Path, *, codes: pd.Series) -> pd.DataFrame:
    """Read a user's own outside scores: a CSV with the columns language_code, direction, score.

    codes: the language codes that the human scores know. Raises DataError naming line and remedy for a missing column,
    an unknown language or direction, a score that is no number, a duplicate.
    """
    path, known = Path(path), sorted(codes.unique())
    columns = {
        "language_code": schemas.Column(choices=known),
        "direction": schemas.Column(choices=DIRECTIONS),
        "score": schemas.Column("float"),
    }
    schema = schemas.Schema(columns, ("language_code", "direction"), "Keep one score of each direction.")
    table = schemas.check(reading.table(path, "Correct the file.").cells, schema, origin=str(path))
    return table.assign(covariate=path.stem, value=table["score"])[_COVARIATE]


def correlate(table5: pd.DataFrame, covariates: pd.DataFrame, *, splits: int, seed: int) -> pd.DataFrame:
    """Make Table 6 on any covariates: covariate, columns (X-EN | EN-X | both), method, n, pearson, r2, linreg.

    linreg: mean out-of-sample r² over random half/half splits (``split_r2``), the same splits for all
    methods. Footnote 1 trains "on spmBLEU scores and the calibrated XSTS scores", read as scikit-learn's order (X, y):
    the human score is predicted.
    n is the number of scores that have the covariate; columns with fewer than four scores are left out.
    """
    tables = []
    for covariate, columns, part in _columns(table5, covariates):
        x, y = part["value"].to_numpy(), part[list(METHODS)].to_numpy()
        r = pearson(x, y.T)
        linreg = split_r2(x, y, splits=splits, rng=np.random.default_rng(seed))
        table = pd.DataFrame({"covariate": covariate, "columns": columns, "method": METHODS.values(), "n": len(x)})
        tables.append(table.assign(pearson=r, r2=r**2, linreg=linreg))
    return pd.concat(tables, ignore_index=True)


def split_r2(x: ArrayLike, y: ArrayLike, *, splits: int, rng: np.random.Generator) -> np.ndarray:
    """Mean out-of-sample r² of straight-line fits over random half/half splits.

    Licht et al. 2022, footnote 1, read as: shuffle, cut into two folds, fit least squares on one fold, score the other
    by r² = 1 - SSE/SST (the SST around the test fold's own mean, as scikit-learn's ``r2_score``), swap the folds,
    repeat ``splits`` times, average all ``2 * splits`` values. This r² can be negative: worse than the mean.

    x: (n,) predictor; y: (n,) or (n, k) responses, all scored on the same splits. Returns () or (k,).
    An odd n makes the first test fold larger by one, as ``KFold(2)`` does. Raises DataError for n < 4.

    >>> x = np.arange(10.0)
    >>> float(split_r2(x, 2 * x + 1, splits=20, rng=np.random.default_rng(7)))
    1.0
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    n = len(x)
    if n < 4:
        raise DataError(f"Half/half splits need at least 4 points, got {n}. Add languages, or leave this column out.")
    responses = y.reshape(n, -1).T  # (k, n)
    order = rng.permuted(np.tile(np.arange(n), (splits, 1)), axis=1)
    first, second = order[:, : (n + 1) // 2], order[:, (n + 1) // 2 :]
    scores = [_held_out_r2(x, responses, *fold) for fold in ((second, first), (first, second))]
    return np.mean(scores, axis=(0, 2)).reshape(y.shape[1:])


def _held_out_r2(x: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Score lines fitted on ``train`` at ``test``: x (n,), y (k, n), folds (splits, m); returns (k, splits)."""
    x_mean, y_mean = x[train].mean(-1, keepdims=True), y[:, train].mean(-1, keepdims=True)
    dx = x[train] - x_mean
    sxx, sxy = (dx**2).sum(-1), (dx * (y[:, train] - y_mean)).sum(-1)
    slope = np.divide(sxy, sxx, out=np.zeros_like(sxy), where=sxx > 0)  # no spread in x: predict the mean
    predicted = y_mean + slope[..., None] * (x[test] - x_mean)
    sse = ((y[:, test] - predicted) ** 2).sum(-1)
    sst = ((y[:, test] - y[:, test].mean(-1, keepdims=True)) ** 2).sum(-1)
    constant = np.where(sse == 0, 1.0, 0.0)  # scikit-learn's convention where the test fold does not vary
    return np.where(sst > 0, 1 - np.divide(sse, sst, out=np.zeros_like(sse), where=sst > 0), constant)


def highest(table6: pd.DataFrame) -> pd.DataFrame:
    """Test "CS is highest in every column": covariate, columns, statistic, highest, lead, holds.

    lead: the value of CS minus the best of the others.
    """
    long = table6.melt(["covariate", "columns", "method"], list(STATISTICS), "statistic", "value")
    wide = long.pivot(index=["covariate", "columns", "statistic"], columns="method", values="value")
    others = wide.drop(columns="CS").max(axis=1)
    cs = wide["CS"]
    found = pd.DataFrame({"highest": wide.idxmax(axis=1), "lead": cs - others, "holds": cs > others})
    order = pd.MultiIndex.from_frame(long[["covariate", "columns", "statistic"]].drop_duplicates())
    return found.reindex(order).reset_index()


def gain(table5: pd.DataFrame, covariates: pd.DataFrame, *, resamples: int, seed: int) -> pd.DataFrame:
    """Say how sure the gain in correlation over RAW is: bootstrap over languages of r(method) - r(RAW).

    Both directions of a language are drawn together. Returns covariate, columns, method, n, gain, low, high
    (95 %).
    """
    rows = []
    for covariate, columns, part in _columns(table5, covariates):
        wide = part.pivot(index="language", columns="direction", values=["value", *METHODS])
        data = wide.to_numpy(float).reshape(len(wide), 1 + len(METHODS), -1)  # languages x variables x directions
        estimate = _gains(data[None])[0]
        rng = np.random.default_rng(seed)
        low, high = inference.interval(inference.bootstrap(data, _gains, resamples=resamples, seed=rng))
        _, *methods = METHODS.values()
        ends = zip(methods, estimate, low, high, strict=True)
        rows += [(covariate, columns, method, len(part), *map(float, values)) for method, *values in ends]
    return pd.DataFrame(rows, columns=["covariate", "columns", "method", "n", "gain", "low", "high"])


def merged(table5: pd.DataFrame, covariates: pd.DataFrame) -> pd.DataFrame:
    """Join human scores and covariates: table5's columns with numeric scores, covariate, value."""
    numbers = table5.assign(**{method: pd.to_numeric(table5[method]) for method in METHODS})
    return covariates.merge(numbers, on=["direction", "language_code"], how="inner")


def _gains(stack: np.ndarray) -> np.ndarray:
    """r of each method minus r of RAW, from (batch, languages, covariate and methods, directions), gaps allowed."""
    flat = stack.swapaxes(1, 2).reshape(len(stack), stack.shape[2], -1)  # batch, variables, cells
    r = pearson(flat[:, :1], flat[:, 1:])
    return r[:, 1:] - r[:, :1]


def _columns(table5: pd.DataFrame, covariates: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Go through the columns of the table that have four scores: covariate, columns, and the rows of ``merged``."""
    for covariate, rows in merged(table5, covariates).groupby("covariate", sort=False):
        for columns in COLUMNS:
            part = rows if columns == "both" else rows[rows["direction"] == columns]
            if len(part) >= 4:
                yield str(covariate), columns, part


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
    found = ranks.groupby("direction", sort=False).corr()["value"].unstack()[["raw", "cs"]]
    return found.assign(lead=found["cs"] - found["raw"]).reset_index()
