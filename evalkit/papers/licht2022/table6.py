"""Human scores of many languages compared with an outside score of each: automatic metric or amount of training data.

The paper's Table 6 does so with spmBLEU values that were never printed. Here the table is audited as printed, and
computed again on outside scores that are public, or that the user brings. An outside score is a ``covariate``:
a table with columns covariate, direction (X-EN | EN-X), language_code, value.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.data import delimited, schemas
from evalkit.human.calibration import METHODS
from evalkit.stats import inference
from evalkit.stats.correlation import pearson

DIRECTIONS = ("X-EN", "EN-X")
COLUMNS = (*DIRECTIONS, "both")
#: The languages that Table 5 highlights, and of which its caption speaks.
HIGHLIGHTED = ("Hindi", "Portuguese", "Arabic", "Bulgarian", "Swahili")
_COVARIATE = ["covariate", "direction", "language_code", "value"]
STATISTICS = ("pearson", "r2", "linreg")


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


def computed(audited: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the table that ``claims.compare("licht2022", ...)`` looks up squares in. audited: as ``audit`` does."""
    return {"audited": audited.rename(columns={"columns": "direction"}).assign(square=audited["r"] ** 2)}


def prose_tables(table4: pd.DataFrame, table5: pd.DataFrame, table6: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables that claims of ``licht2022_prose`` on outside scores name."""
    return {"correlated": correlated(table6), "closer": closer(table4, table5)}


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
    twice = found.duplicated(_COVARIATE[:3])
    if twice.any():
        raise DataError(f"Two scores for {scores.loc[twice, 'pair'].iloc[0]} of one system. Keep one test set a pair.")
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
        "language_code": schemas.one_of(known, f"is not one of {', '.join(known)}. Correct it"),
        "direction": schemas.one_of(DIRECTIONS, "is neither X-EN nor EN-X. Correct it"),
        "score": schemas.Column("float"),
    }
    schema = schemas.Schema(columns, ("language_code", "direction"), "Keep one score of each direction.")
    table = delimited.table(delimited.content(path), origin=str(path))
    table = schemas.check(table, schema, origin=str(path))
    return table.assign(covariate=path.stem, value=table["score"])[_COVARIATE]


def correlate(
    table5: pd.DataFrame, covariates: pd.DataFrame, *, splits: int, seed: int, predict: str = "score"
) -> pd.DataFrame:
    """Make Table 6 on any covariates: covariate, columns (X-EN | EN-X | both), method, n, pearson, r2, linreg.

    linreg: mean out-of-sample r² over random half/half splits (``split_r2``), the same splits for all
    methods. Footnote 1 trains "on spmBLEU scores and the calibrated XSTS scores", read as scikit-learn's order (X, y):
    the human score is predicted. ``predict="covariate"`` is the other reading.
    n is the number of scores that have the covariate; columns with fewer than four scores are left out.
    """
    rows = []
    for covariate, columns, x, y in _columns(table5, covariates):
        r = pearson(x, y.T)
        if predict == "score":
            linreg = split_r2(x, y, splits=splits, rng=np.random.default_rng(seed))
        else:
            linreg = np.array([split_r2(m, x, splits=splits, rng=np.random.default_rng(seed)) for m in y.T])
        rows += [
            (covariate, columns, method, len(x), *map(float, values))
            for method, *values in zip(METHODS.values(), r, r**2, linreg, strict=True)
        ]
    return pd.DataFrame(rows, columns=["covariate", "columns", "method", "n", *STATISTICS])


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
    for covariate, columns, x, y in _columns(table5, covariates, paired=True):
        data = np.concatenate([x[..., None], y], axis=-1)  # languages x directions x (covariate, methods)
        estimate = _gains(data[None])[0]
        rng = np.random.default_rng(seed)
        low, high = inference.interval(inference.bootstrap(data, _gains, resamples=resamples, seed=rng))
        n = int(np.isfinite(x).sum())
        _, *methods = METHODS.values()
        rows += [(covariate, columns, m, n, *map(float, v)) for m, *v in zip(methods, estimate, low, high, strict=True)]
    return pd.DataFrame(rows, columns=["covariate", "columns", "method", "n", "gain", "low", "high"])


def merged(table5: pd.DataFrame, covariates: pd.DataFrame) -> pd.DataFrame:
    """Join human scores and covariates: table5's columns with numeric scores, covariate, value."""
    numbers = table5.assign(**{method: pd.to_numeric(table5[method]) for method in METHODS})
    return covariates.merge(numbers, on=["direction", "language_code"], how="inner")


def _gains(stack: np.ndarray) -> np.ndarray:
    """r of each method minus r of RAW, from (batch, languages, directions, covariate and methods), gaps allowed."""
    flat = stack.reshape(len(stack), -1, stack.shape[-1]).swapaxes(1, 2)  # batch, variables, cells
    weight = np.isfinite(flat[:, :1]).astype(float)
    total = weight.sum(-1, keepdims=True)
    flat = np.where(weight > 0, flat, 0.0)
    centred = (flat - flat.sum(-1, keepdims=True) / total) * weight
    x, y = centred[:, :1], centred[:, 1:]
    r = (x * y).sum(-1) / np.sqrt((x**2).sum(-1) * (y**2).sum(-1))
    return r[:, 1:] - r[:, :1]


def _columns(table5: pd.DataFrame, covariates: pd.DataFrame, *, paired: bool = False):
    """Yield covariate, columns, x and y per column of the table.

    x: (n,), y: (n, methods); or, where ``paired``, x: (languages, directions) with NaN for gaps, y likewise.
    """
    joined = merged(table5, covariates)
    for covariate, rows in joined.groupby("covariate", sort=False):
        for columns in COLUMNS:
            part = rows if columns == "both" else rows[rows["direction"] == columns]
            if len(part) < 4:
                continue
            if not paired:
                yield covariate, columns, part["value"].to_numpy(), part[list(METHODS)].to_numpy()
                continue
            wide = part.pivot(index="language", columns="direction", values=["value", *METHODS])
            cube = wide.to_numpy(float).reshape(len(wide), 1 + len(METHODS), -1).swapaxes(1, 2)
            yield covariate, columns, cube[..., 0], cube[..., 1:]


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
