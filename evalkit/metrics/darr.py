"""Relative rankings, and Kendall's tau on them: the questions of Stanchev et al. 2020, asked of real scores.

A relative ranking is a set of pairs: two systems' translations of one segment, and by how much the first is better.
From direct assessments (DARR) the difference is one of scores; from rankings that annotators gave, one of ranks. An
evaluation matrix says what tau counts when humans and a metric order two translations so and so; those of the paper,
and its examples, stand in ``darr.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.metrics.scores import ByPair, Scores, of_pair
from evalkit.stats.correlation import ratio

#: The difference of direct assessments (points of 100) from which WMT takes one translation to be the better one.
OFFICIAL = 25.0
#: Which pairs count as ordered, given a threshold: differences of at least that much, or only larger ones.
_BOUNDARIES: dict[str, Literal["right", "left"]] = {"at least": "right", "more than": "left"}
#: The order of two translations: the first is worse, both are equal, the first is better.
ORDERS = ("<", "=", ">")
#: All cells of a matrix, human order first.
CELLS = [(human, metric) for human in ORDERS for metric in ORDERS]
_YES = {True: "yes", False: "no"}
_VALUES: dict[str, int | str] = {"1": 1, "0": 0, "-1": -1, "X": "X"}
_PAPER: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Matrix:
    """Say what each combination of a human order (row) and a metric's order (column) counts: 1, 0, -1, or X, left out.

    cells: three rows cut by ``/``, for human <, =, >, with three values each, for the metric's <, =, >. What follows
    from them: counting (``tau``) and ``formula``.

    >>> soft = Matrix("soft", "1 0 -1 / X X X / -1 0 1")
    >>> soft.formula
    '(C − D) / (C + D + M)'
    >>> soft.tau([[40, 20, 0], [9, 9, 9], [0, 0, 40]]).item()  # 80 concordant pairs, 20 that the metric ties
    0.8
    """

    name: str
    cells: str
    title: str = ""

    def __post_init__(self) -> None:
        rows = [row.split() for row in self.cells.split("/")]
        if [len(row) for row in rows] != [3, 3, 3] or any(cell not in _VALUES for row in rows for cell in row):
            raise DataError(
                f"The matrix {self.name!r} reads {self.cells!r}. Write three rows of three cells, each 1, 0, -1 or X: "
                "'1 0 -1 / X X X / -1 0 1'."
            )

    @property
    def marks(self) -> list[int | str]:
        """List the cells in the order of ``CELLS``: 1, 0, -1 or X."""
        return [_VALUES[cell] for cell in self.cells.replace("/", " ").split()]

    @property
    def values(self) -> np.ndarray:
        """Return the matrix as 3 × 3 numbers, NaN where a pair is left out."""
        return np.array([np.nan if mark == "X" else mark for mark in self.marks], float).reshape(3, 3)

    def pairs(self, counts: ArrayLike) -> np.ndarray:
        """Count the pairs that take part. counts: … × 3 × 3, human by metric."""
        return np.where(np.isnan(self.values), 0, np.asarray(counts)).sum(axis=(-2, -1))

    def tau(self, counts: ArrayLike) -> np.ndarray:
        """Return the mean of the cells over the pairs that take part, from -1 to 1; NaN where none does.

        counts: … × 3 × 3 numbers of pairs, human by metric. The result keeps its sign. Stanchev et al. 2020 set bars
        around numerator and denominator; read as absolute values they would make TER's official -0.04 a +0.04.
        """
        return ratio(np.nansum(self.values * np.asarray(counts, float), axis=(-2, -1)), self.pairs(counts))

    @property
    def formula(self) -> str:
        """Write the coefficient as a formula of numbers of pairs.

        C concordant, D discordant, M tied by the metric alone, H tied by humans alone, B by both; a cell that counts
        otherwise than its mirror image is written by itself, humans' order first.
        """
        found: dict[str, int | str] = {}
        cells = dict(zip(map("".join, CELLS), self.marks))
        for symbol, names in _PAPER["groups"].items():
            apart = {f"({name})": cells[name] for name in names}
            found |= apart if len(set(apart.values())) > 1 else {symbol: cells[names[0]]}
        gain, loss, zero = ([symbol for symbol in found if found[symbol] == value] for value in (1, -1, 0))
        above = " − ".join([" + ".join(gain) or "0", *loss])
        below = [symbol for symbol in found if symbol in {*gain, *loss, *zero}]
        return f"({above}) / ({' + '.join(below) or '0'})"


#: Table 4 (Macháček and Bojar 2014; Ma et al. 2019) and Table 5 of Stanchev et al. 2020.
VARIANTS = {name: Matrix(name, **told) for name, told in _PAPER["variants"].items()}


def count(human: ArrayLike, metric: ArrayLike) -> np.ndarray:
    """Count pairs by order: 3 × 3, humans' <, =, > by the metric's. human, metric: -1, 0 or 1 a pair.

    >>> count([-1, -1, 0, 1], [-1, 0, 0, -1]).tolist()
    [[1, 1, 0], [0, 1, 0], [1, 0, 0]]
    """
    cell = (np.asarray(human, int) + 1) * 3 + np.asarray(metric, int) + 1
    return np.bincount(cell.reshape(-1), minlength=9).reshape(3, 3)


def overview(matrices: Mapping[str, Matrix] = VARIANTS) -> pd.DataFrame:
    """List matrices: variant, what it is, the formula that follows from it, symmetric, mirrored (yes or no).

    symmetric: negating a metric negates its coefficient, so that a strong negative one means as much. mirrored: it
    does, once the matrix is changed for another of these, as Table 5 for accuracies is for the one for error rates.
    """
    rows = []
    for matrix in matrices.values():
        turned = 0 - matrix.values[:, ::-1]  # by which a negated metric gets the negated coefficient
        same = [one.name for one in matrices.values() if np.array_equal(one.values, turned, equal_nan=True)]
        rows.append((matrix.name, matrix.title, matrix.formula, _YES[matrix.name in same], _YES[bool(same)]))
    return pd.DataFrame(rows, columns=["variant", "meaning", "formula", "symmetric", "mirrored"])


def grid(matrices: Mapping[str, Matrix] = VARIANTS) -> pd.DataFrame:
    """Lay matrices out in a row each: variant, and a column a cell (1, 0, -1 or X), human order first."""
    rows = [(name, *matrix.marks) for name, matrix in matrices.items()]
    return pd.DataFrame(rows, columns=["variant", *map(" ".join, CELLS)])


#: The four examples of Stanchev et al. 2020, section 3: discordant, tied and concordant pairs; humans tie none.
EXAMPLES: dict[str, list[int]] = _PAPER["examples"]


def examples(matrices: Mapping[str, Matrix] = VARIANTS) -> pd.DataFrame:
    """Work out ``EXAMPLES`` under each matrix: example, then a column of tau for each."""
    counts = np.zeros((len(EXAMPLES), 3, 3))
    counts[:, 2] = list(EXAMPLES.values())
    return pd.DataFrame({"example": list(EXAMPLES)} | {name: one.tau(counts) for name, one in matrices.items()})


def claim_tables(printed: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables that the claims of ``stanchev2020_claims`` name, but for those that rest on WMT19's files.

    printed: these claims, of which those of the paper's Table 3 are compared with what its prose says of it: identical
    sentences by language pair, and the place. "alike": whether the matrices of Table 4 count a cell alike, and whether
    humans or the metric tie in it. "balance": how many cells of each matrix make a pair concordant or discordant.
    "table5": its two matrices as the one that is printed; a cell in which they differ reads {accuracy-like,error-like}.
    """
    cells = pd.DataFrame(CELLS, columns=["human", "metric"])
    wide = cells.assign(**{name: pd.Series(one.marks, dtype=object) for name, one in VARIANTS.items()})
    *official, accuracy, error = VARIANTS
    tie = wide["human"].eq("=") | wide["metric"].eq("=")
    alike = wide[official].nunique(axis=1).eq(1)
    both = [a if a == b else f"{{{a},{b}}}" for a, b in wide[[accuracy, error]].to_numpy()]
    counted = pd.DataFrame({"concordant": wide[[*VARIANTS]].eq(1).sum(), "discordant": wide[[*VARIANTS]].eq(-1).sum()})
    more = counted["discordant"].gt(counted["concordant"]).map({True: "more", False: "not more"})
    rows = printed[printed["item"].eq("Table 3") & printed["cell"].str.endswith(", identical sentences")]
    third = pd.DataFrame({"pair": rows["cell"].str.split(", ").str[0], "identical": rows["printed"].astype(int)})
    third["place"] = third["identical"].rank(ascending=False, method="min").astype(int)
    return {
        "settings": pd.DataFrame([{"threshold": OFFICIAL}]),
        "examples": examples(),
        "symmetry": overview(),
        "matrices": wide.melt(["human", "metric"], var_name="variant"),
        "alike": cells.assign(alike=alike.map(_YES), tie=tie.map(_YES)),
        "balance": counted.assign(more=more).rename_axis("variant").reset_index(),
        "table5": cells.assign(value=pd.Series(both, dtype=object)),
        "table3": third,
        "without": pd.DataFrame([{"pairs": " and ".join(third.loc[third["identical"].eq(0), "pair"])}]),
    }


@dataclass(frozen=True)
class Pairs:
    """Keep pairs of translations of one segment, each pair once.

    first, second: positions in ``systems``; segment: position of the segment (or of the ranking that a pair comes
    from); difference: how much better the first one is; same: both are the same text, character by character.
    """

    systems: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    segment: np.ndarray
    difference: np.ndarray
    same: np.ndarray

    def __len__(self) -> int:
        return len(self.first)


def from_scores(scores: Scores, *, outputs: pd.DataFrame | None = None) -> Pairs:
    """Pair all systems' translations of each segment that have a human score.

    outputs: src_lang, tgt_lang, system, doc, segment, hypothesis, from which identical translations are detected;
    without it, no pair is known to be identical.
    """
    one, two = np.triu_indices(len(scores.systems), 1)
    pair, segment = np.nonzero(scores.judged[one] & scores.judged[two])
    first, second = one[pair], two[pair]
    texts = np.full(scores.human.shape, None) if outputs is None else scores.texts(of_pair(outputs, scores.pair))
    difference = scores.human[first, segment] - scores.human[second, segment]
    said = texts[first, segment]
    same = (said == texts[second, segment]) & ~pd.isna(said)
    return Pairs(scores.systems, first, second, segment, difference, same)


def from_ranks(rankings: pd.DataFrame) -> Pairs:
    """Pair the translations that an annotator ranked together: relative ranking (RR).

    rankings: annotator, doc, segment, system, rank (1 the best, equal ranks are ties). Two annotators' rankings of one
    segment are two rankings. Order the pairs with threshold 1.

    >>> ranked = pd.DataFrame({"annotator": "a", "doc": "d", "segment": "1", "system": list("ABC"), "rank": [1, 1, 2]})
    >>> order(from_ranks(ranked), threshold=1).tolist()
    [0, 1, 1]
    """
    keys = ["annotator", "doc", "segment"]
    ranks = rankings.astype(dict.fromkeys([*keys, "system"], "str")).pivot(index="system", columns=keys, values="rank")
    labels = tuple(f"{doc}:{segment}" for _, doc, segment in ranks.columns)
    human = -ranks.to_numpy(float)
    return from_scores(Scores((), tuple(ranks.index), labels, np.empty((0, *human.shape)), human))


def order(pairs: Pairs, *, threshold: float = OFFICIAL, boundary: str = "at least") -> np.ndarray:
    """Say for each pair whether the first translation is worse (-1), better (1), or neither (0): DARR's order.

    boundary: "at least" orders differences from the threshold on, as Stanchev et al. 2020 describe ("less than 25" are
    removed) and WMT20's official counts confirm; "more than" leaves out those equal to it. Source: Bojar et al. 2017.
    """
    return np.where(ordered_up_to(pairs, [threshold], boundary=boundary) > 0, np.sign(pairs.difference), 0).astype(int)


def ordered_up_to(
    pairs: Pairs, thresholds: Sequence[float], *, boundary: str = "at least", tie_identical: bool = False
) -> np.ndarray:
    """Count, for each pair, the thresholds at which it is ordered.

    thresholds: ascending. tie_identical: identical translations are equal, whatever their scores; WMT leaves them as
    scored.
    """
    if list(thresholds) != sorted(thresholds) or thresholds[0] < 0:
        raise DataError("Thresholds must ascend from 0 or more. Sort them.")
    reached = np.searchsorted(list(thresholds), np.abs(pairs.difference), side=_BOUNDARIES[boundary])
    return np.where((pairs.difference == 0) | (pairs.same & tie_identical), 0, reached)


def pairwise_wins(pairs: Pairs, better: np.ndarray) -> np.ndarray:
    """Count how often each system (row) beats each other one (column). better: the order of each pair."""
    size, (winner, loser) = len(pairs.systems), _by_order(pairs, better)[:, better != 0]
    return np.bincount(winner * size + loser, minlength=size * size).reshape(size, size)


def _by_order(pairs: Pairs, better: np.ndarray) -> np.ndarray:
    """Return the positions of each pair's better system, and of its worse one; ties as they come, (2, pairs)."""
    return np.where(better >= 0, (pairs.first, pairs.second), (pairs.second, pairs.first))


def expected_wins(pairs: Pairs, better: np.ndarray) -> pd.DataFrame:
    """Rank systems by the mean probability to beat another system: Expected Wins, columns system, expected_wins, rank.

    The probability is wins over wins and losses, ties left out; opponents never met do not count. Source: Koehn 2012.
    """
    won = pairwise_wins(pairs, better).astype(float)
    met = won + won.T
    return _ranked(pairs.systems, expected_wins=ratio(np.nansum(ratio(won, met), axis=1), (met > 0).sum(axis=1)))


def rank_systems(assessed: pd.DataFrame, pairs: Pairs, better: np.ndarray, *, matches: int, seed: int) -> pd.DataFrame:
    """Rank systems in three ways: mean assessments, Expected Wins and TrueSkill, by Expected Wins.

    assessed: assessments of one language pair, with score and z. Other arguments: see ``trueskill``. Returns system,
    score, z, expected_wins, rank_wins, mu, sigma, rank_skill.
    """
    won = expected_wins(pairs, better).rename(columns={"rank": "rank_wins"})
    skill = trueskill(pairs, better, matches=matches, seed=seed).rename(columns={"rank": "rank_skill"})
    mean = assessed.groupby(assessed["system"].astype("str"))[["score", "z"]].mean().reset_index()
    return mean.merge(won).merge(skill).sort_values("expected_wins", ascending=False)


def trueskill(pairs: Pairs, better: np.ndarray, *, matches: int = 5000, seed: int = 7) -> pd.DataFrame:
    """Rank systems by TrueSkill: columns system, mu (estimated skill), sigma (its uncertainty), rank.

    matches: pairs that are played, drawn without replacement in random order (all, where there are fewer). Ties are
    draws, as probable as they are among the pairs. A system's skill does not drift, so the dynamics factor is 0.
    Source: Herbrich et al. 2006; Sakaguchi et al. 2014. Caveat: the result depends somewhat on the order of play.
    """
    from trueskill import TrueSkill, rate_1vs1

    played = np.random.default_rng(seed).permutation(len(pairs))[:matches]
    draws = float(np.mean(better == 0)) if len(better) else 0.0
    world = TrueSkill(draw_probability=min(draws, 0.99), tau=0)
    skill = [world.create_rating() for _ in pairs.systems]
    for one, other, drawn in np.stack([*_by_order(pairs, better), better == 0], axis=1)[played].tolist():
        skill[one], skill[other] = rate_1vs1(skill[one], skill[other], drawn=bool(drawn), env=world)
    return _ranked(pairs.systems, mu=[s.mu for s in skill], sigma=[s.sigma for s in skill])


def _ranked(systems: tuple[str, ...], **values: np.ndarray | list[float]) -> pd.DataFrame:
    """Sort systems by the first of the values, the highest first, with ranks."""
    first = next(iter(values))
    table = pd.DataFrame({"system": systems} | values).sort_values(first, ascending=False, ignore_index=True)
    return table.assign(rank=table[first].rank(ascending=False, method="min").astype("Int64"))


def tables(
    scores: Scores, pairs: Pairs, *, thresholds: Sequence[float] = (OFFICIAL,), boundary: str = "at least"
) -> np.ndarray:
    """Count pairs by the order that humans and each metric give them: metrics × thresholds × 3 × 3.

    One pass serves all thresholds: a pair is ordered up to its difference and tied by humans beyond. Pairs known
    to be identical are tied by humans; those for which a metric lacks a score do not count for this metric.
    """
    reached = ordered_up_to(pairs, list(thresholds), boundary=boundary, tie_identical=True)
    said = np.sign(pairs.difference).astype(int)
    counted = np.zeros((len(scores.metrics), len(thresholds), 3, 3), dtype=int)
    for row, values in zip(counted, scores.values, strict=True):
        difference = values[pairs.first, pairs.segment] - values[pairs.second, pairs.segment]
        known = np.isfinite(difference)
        cell = (reached[known] * 3 + said[known] + 1) * 3 + np.sign(difference[known]).astype(int) + 1
        by_reach = np.bincount(cell, minlength=9 * (len(thresholds) + 1)).reshape(-1, 3, 3)
        tied = np.cumsum(by_reach, axis=0)[:-1]  # at the n-th threshold: pairs that reach no more than n of them
        row[:] = by_reach.sum(axis=0) - tied
        row[:, 1] = tied.sum(axis=1)
    return counted


def results(
    scored: ByPair,
    *,
    thresholds: Sequence[float] = (OFFICIAL,),
    variants: Mapping[str, Matrix] = VARIANTS,
    boundary: str = "at least",
    outputs: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Compute each metric's tau in each language pair at each threshold under each variant.

    Returns pair, metric, threshold, variant, pairs, tau, rank (of the metric among those of the language pair, 1 the
    highest tau). outputs: texts by which identical translations are taken as ties; without, they count as scored.
    """
    frames = []
    for name, scores in scored.items():
        pairs = from_scores(scores, outputs=outputs)
        counts = tables(scores, pairs, thresholds=thresholds, boundary=boundary)
        parts = {"pair": [name], "metric": scores.metrics, "threshold": thresholds, "variant": list(variants)}
        table = pd.MultiIndex.from_product(parts.values(), names=parts).to_frame(index=False)
        used, tau = ([way(one, counts) for one in variants.values()] for way in (Matrix.pairs, Matrix.tau))
        frames.append(table.assign(pairs=np.stack(used, axis=-1).ravel(), tau=np.stack(tau, axis=-1).ravel()))
    table = pd.concat(frames, ignore_index=True)
    groups = table.groupby(["pair", "threshold", "variant"], sort=False)["tau"]
    return table.assign(rank=groups.rank(ascending=False, method="min").astype("Int64"))


def firsts(table: pd.DataFrame) -> pd.DataFrame:
    """Name the best metric of each language pair under each variant: pair, a column per variant, and ``same``.

    table: the result of ``results`` at one threshold. same: all symmetric or official variants (Table 4) agree on it.
    """
    best = table.sort_values("tau", ascending=False, kind="stable").drop_duplicates(["pair", "variant"])
    wide = best.pivot(index="pair", columns="variant", values="metric")[list(table["variant"].unique())]
    same = wide.filter(items=["no penalty", "soft", "hard"]).nunique(axis=1) == 1
    return wide.assign(same=same).reset_index().rename_axis(columns=None)


def rank_instability(table: pd.DataFrame) -> pd.DataFrame:
    """Count how often the threshold changes the ranking of the metrics: pair, variant, thresholds, rankings, firsts.

    table: the result of ``results`` at many thresholds. rankings: distinct rankings met on the way; firsts: distinct
    best metrics.
    """
    places = table.pivot(index=["pair", "variant", "threshold"], columns="metric", values="rank").astype(float)
    by = ["pair", "variant"]
    met = pd.Series(list(map(tuple, places.fillna(0).to_numpy())), index=places.index).groupby(level=by)
    counts = {"thresholds": met.size(), "rankings": met.nunique()}
    return pd.DataFrame(counts | {"firsts": places.eq(1).groupby(level=by).any().sum(axis=1)}).reset_index()


def kept(scored: ByPair, *, thresholds: Sequence[float], boundary: str = "at least") -> pd.DataFrame:
    """Count the pairs that are left at each threshold (Figure 1): pair, direction, threshold, pairs, share of all."""
    frames = []
    for name, scores in scored.items():
        reached = ordered_up_to(pairs := from_scores(scores), thresholds, boundary=boundary)
        left = np.array([(reached > place).sum() for place in range(len(thresholds))])
        direction = "into English" if name.endswith("-eng") else "out of English"
        columns = {"pair": name, "direction": direction, "threshold": thresholds, "pairs": left}
        frames.append(pd.DataFrame(columns | {"share": left / max(len(pairs), 1)}))
    return pd.concat(frames, ignore_index=True)


def ties(scored: ByPair, *, outputs: pd.DataFrame | None = None, threshold: float = OFFICIAL) -> pd.DataFrame:
    """Count what is tied among the pairs that DARR orders (Table 3).

    Returns pair, metric, pairs, identical, ties, ties_identical. identical: pairs of the same text, missing without
    outputs. ties: pairs that the metric ties; ties_identical: those of them that are identical.
    """
    tables = []
    for name, scores in scored.items():
        pairs = from_scores(scores, outputs=outputs)
        ordered = order(pairs, threshold=threshold) != 0
        first, second = (scores.values[:, each, pairs.segment] for each in (pairs.first, pairs.second))
        counts = {"pairs": ordered, "identical": ordered & pairs.same, "ties": (tied := ordered & (first == second))}
        counts = {what: found.sum(axis=-1) for what, found in (counts | {"ties_identical": tied & pairs.same}).items()}
        tables.append(pd.DataFrame({"pair": name, "metric": scores.metrics} | counts))
    table = pd.concat(tables, ignore_index=True)
    unknown = ["identical", "ties_identical"] if outputs is None else []
    return table.astype({"identical": "Int64", "ties_identical": "Int64"}).assign(**dict.fromkeys(unknown, pd.NA))


def identical_but_ordered(
    scored: ByPair, outputs: pd.DataFrame, *, threshold: float = OFFICIAL, boundary: str = "at least"
) -> pd.DataFrame:
    """List identical translations of which DARR calls one better (Tables 1 and 2), by pair, the widest apart first.

    Returns pair, doc_segment, better, worse, score_better, score_worse, hypothesis.
    """
    tables = []
    for scores in scored.values():
        texts, pairs = of_pair(outputs, scores.pair), from_scores(scores, outputs=outputs)
        found = np.flatnonzero(pairs.same & (order(pairs, threshold=threshold, boundary=boundary) != 0))
        found = found[np.argsort(-np.abs(pairs.difference[found]), kind="stable")]
        segment, (better, worse) = pairs.segment[found], _by_order(pairs, pairs.difference)[:, found]
        names = np.array(scores.systems, dtype=object)
        columns = {"pair": scores.pair, "doc_segment": np.array(scores.segments, dtype=object)[segment]}
        columns |= {"better": names[better], "worse": names[worse], "score_better": scores.human[better, segment]}
        columns |= {"score_worse": scores.human[worse, segment], "hypothesis": scores.texts(texts)[better, segment]}
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables)


def effect_of_identical(scores: Scores, outputs: pd.DataFrame, *, threshold: float = OFFICIAL) -> pd.DataFrame:
    """Compare tau with identical translations as scored and as ties: a row per variant, for the most changed metric.

    Returns variant, metric, pairs (that take part), pairs_tied (that do with identical ones as ties), largest_change
    (of tau, with its sign), moved (metrics whose rank changes), metrics (how many there are).
    """
    table, tied = (results({scores.pair: scores}, thresholds=[threshold], outputs=texts) for texts in (None, outputs))
    table = table.assign(pairs_tied=tied["pairs"], largest_change=tied["tau"] - table["tau"])
    by_variant = (table["rank"] != tied["rank"]).groupby(table["variant"], sort=False)
    table = table.assign(moved=by_variant.transform("sum"), metrics=by_variant.transform("size"))
    most = table["largest_change"].abs().groupby(table["variant"], sort=False).idxmax()
    columns = ["variant", "metric", "pairs", "pairs_tied", "largest_change", "moved", "metrics"]
    return table.loc[most, columns].reset_index(drop=True)
