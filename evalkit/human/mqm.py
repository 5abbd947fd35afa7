"""Error spans (MQM): scores under any scheme, counts of errors, rules of annotation, how far annotators agree.

Tables of judgements and of errors are those of ``evalkit.data.schemas`` (RATINGS, SPANS). A judgement without errors
has a row among the judgements only, so every function that makes scores takes both. Schemes and typologies:
``evalkit.data.typology``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError
from evalkit.data.schemas import ITEM, SEGMENT, UNSTATED, segment_names, with_pair
from evalkit.data.typology import SCHEMES, SEVERITIES, Scheme
from evalkit.stats import agreement, correlation, inference

#: How the paper's Figure 1 groups types.
_GROUPS = ("accuracy", "fluency")
_PLACE = ["src_lang", "tgt_lang", *ITEM]
#: What tells one judgement from another, in ratings and in spans.
KEY = [*_PLACE, "annotator"]
_JUDGED = [*KEY, "against"]  # and what was shown beside it, where two were
#: The scheme of error span annotation (annotators mark errors, then score), and its severities.
ESA = "Kocmi et al. 2024 (ESA)"
ESA_SEVERITIES = ("minor", "major")
#: What may have to agree for two marked stretches to be compared: that something is wrong there, how badly, and what.
SPANS_MEASURES = {"any error": None, "severity": "severity", "category": "category"}


def weights(spans: pd.DataFrame, scheme: str | Scheme) -> pd.Series:
    """Weigh each error, in the order of ``spans`` (points of the scheme's score).

    Raises DataError for a severity that the scheme does not weigh, naming the judgement.

    >>> errors = pd.DataFrame({"error_type": ["other", "non-translation"], "severity": ["medium", "high"]})
    >>> weights(errors, "paper").tolist(), weights(errors, "release").tolist()
    ([3.0, 4.0], [2.0, 100.0])
    """
    scheme = get_scheme(scheme)
    weight = scheme.weigh(spans["error_type"], spans["severity"])
    if len(unknown := np.flatnonzero(weight.isna())):
        row = spans.iloc[unknown[0]]
        place = ", ".join(str(row[name]) for name in KEY if name in spans)
        raise DataError(
            f"{place}: the scheme gives no weight to the severity {row['severity']!r}; it knows "
            f"{', '.join(scheme.severities)}. Correct the row, or give the scheme a weight."
        )
    return weight


def segment_scores(ratings: pd.DataFrame, spans: pd.DataFrame, scheme: str | Scheme) -> pd.DataFrame:
    """Score every judgement: the key's columns, ``errors`` (how many), ``penalty`` (their weights), ``mqm``.

    ratings: a row per judgement. spans: a row per error of these judgements. ``mqm`` is the scheme's top less the
    penalty, not below its floor; missing where the scheme discards the judgement. Where the scheme counts a certain
    number of errors only, the heaviest count. Raises DataError for errors of a judgement that is not among ``ratings``.
    """
    scheme = get_scheme(scheme)
    of_span = judgements(ratings, spans)
    weight = weights(spans, scheme).to_numpy()
    penalty, score = scheme.scores(of_span, spans["error_type"], weight, len(ratings))
    errors = np.bincount(of_span, minlength=len(ratings))
    key = [name for name in _JUDGED if name in ratings and name in spans]
    return ratings[key].assign(errors=errors, penalty=penalty, mqm=score).reset_index(drop=True)


def judgements(ratings: pd.DataFrame, spans: pd.DataFrame) -> np.ndarray:
    """Find the judgement of each error: its row among ``ratings``, (errors,).

    Raises DataError where two judgements have the same names, or an error's judgement is not there.
    """
    key = [name for name in _JUDGED if name in ratings and name in spans]
    names = pd.concat([ratings[key].astype("str"), spans[key].astype("str")], ignore_index=True)
    codes = names.groupby(key, sort=False).ngroup().to_numpy()  # a number for each judgement, in the order of ratings
    judged, of_span = codes[: len(ratings)], codes[len(ratings) :]
    if len(np.unique(judged)) < len(judged):
        raise DataError("Two judgements have the same names, so errors cannot be assigned. Drop or rename one.")
    if len(of_span) and of_span.max() >= len(judged):
        row = spans.iloc[int(of_span.argmax())]
        raise DataError(f"{', '.join(str(row[name]) for name in key)}: an error of a judgement that is not there.")
    return of_span


def aggregate(scores: pd.DataFrame, *, by: list[str], texts: pd.Series | None = None) -> pd.DataFrame:
    """Average scores of segments within systems, documents or whatever ``by`` names.

    scores: as ``segment_scores`` makes them; discarded judgements (score missing) leave the mean. texts: the judged
    translations, in the order of ``scores``; with them, ``per_1000`` is the penalty per 1,000 characters (Unicode code
    points, of which a written syllable of an Indic script takes several). Returns by, segments, errors (a segment),
    mqm, per_1000.

    >>> scores = pd.DataFrame({"system": ["a", "a", "b"], "errors": [1, 0, 2], "penalty": [5.0, 0.0, 2.0],
    ...     "mqm": [20.0, 25.0, 23.0]})
    >>> aggregate(scores, by=["system"], texts=pd.Series(["x" * 100, "x" * 150, "x" * 80]))
      system  segments  errors   mqm  per_1000
    0      a         2     0.5  22.5      20.0
    1      b         1     2.0  23.0      25.0
    """
    kept = scores["mqm"].notna()
    counted = scores[kept] if texts is None else scores[kept].assign(length=texts.str.len().to_numpy()[kept])
    groups = counted.groupby(by, sort=True, observed=True)
    table = groups.agg(segments=("mqm", "size"), errors=("errors", "mean"), mqm=("mqm", "mean"))
    if texts is not None:
        table["per_1000"] = 1000 * groups["penalty"].sum() / groups["length"].sum()
    return table.reset_index()


def get_scheme(scheme: str | Scheme) -> Scheme:
    """Look a scheme up by its name."""
    if isinstance(scheme, Scheme):
        return scheme
    if scheme not in SCHEMES:
        raise DataError(f"There is no scheme {scheme!r}. Choose one of: {'; '.join(SCHEMES)}. Or pass a Scheme.")
    return SCHEMES[scheme]


def changed(scheme: str | Scheme, **fields: Any) -> Scheme:
    """Copy a scheme with other settings, as ``changed("release", floor=0.0)``."""
    return replace(get_scheme(scheme), **fields)


def category(spans: pd.DataFrame) -> pd.Series:
    """Name each error's group as the authors' figures have it: what stands before "/", and terminology is accuracy.

    Source: cells 85 and 88 of ``legacy/code/evaluate.ipynb`` in AI4Bharat/IndicMT-Eval.

    >>> category(pd.DataFrame({"error_type": ["terminology/inappropriate", "fluency/grammar", "other"]})).tolist()
    ['accuracy', 'fluency', 'other']
    """
    return spans["error_type"].astype("str").str.partition("/")[0].replace({"terminology": "accuracy"})


def type_counts(spans: pd.DataFrame, *, by: str = "tgt_lang") -> pd.DataFrame:
    """Count errors of each type: by, error_type, errors, share (of the group's), a row for every type that occurs.

    >>> type_counts(pd.DataFrame({"tgt_lang": ["guj"] * 3, "error_type": ["other", "other", "source error"]}))
      tgt_lang    error_type  errors     share
    0      guj         other       2  0.666667
    1      guj  source error       1  0.333333
    """
    counts = spans.astype({by: "str", "error_type": "str"}).groupby([by, "error_type"], sort=False).size()
    table = counts.rename("errors").reset_index()
    table["share"] = table["errors"] / table.groupby(by)["errors"].transform("sum")
    return table.sort_values([by, "errors"], ascending=[True, False], kind="stable", ignore_index=True)


def severity_shares(spans: pd.DataFrame, *, by: str = "tgt_lang") -> pd.DataFrame:
    """Count errors of each severity within accuracy, fluency and all other types: by, group, severity, errors, share.

    Errors of terminology are errors of accuracy (``category``).
    ``share`` is of all errors in ``by``, so the shares of one language sum to 1. Severities that nobody used in a
    group have a row with 0 errors.
    """
    found = category(spans)
    kinds = [spans[by].astype("str"), found.where(found.isin(_GROUPS), "other types").rename("group")]
    counts = pd.crosstab(kinds, spans["severity"].astype("str"))
    every = pd.MultiIndex.from_product([counts.index.unique(by), [*_GROUPS, "other types"]], names=[by, "group"])
    table = counts.reindex(every, columns=[*SEVERITIES, UNSTATED], fill_value=0).rename_axis(columns="severity")
    table = table.stack().rename("errors").reset_index()
    return table.assign(share=table["errors"] / table.groupby(by)["errors"].transform("sum"))


def errors_per_system(ratings: pd.DataFrame, spans: pd.DataFrame, *, by: str = "tgt_lang") -> pd.DataFrame:
    """Count each system's errors: by, system, errors, segments, per_segment (errors a judged translation).

    The paper's Figure 3 shows ``errors``; systems were judged unequally often here, so ``per_segment`` compares them.
    """
    key = [by, "system"]
    errors = spans[key].astype("str").groupby(key).size()
    segments = ratings[key].astype("str").groupby(key).size()
    table = pd.DataFrame({"errors": errors, "segments": segments}).fillna(0).astype(int).reset_index()
    return table.assign(per_segment=table["errors"] / table["segments"])


def marks_against_scores(
    ratings: pd.DataFrame, spans: pd.DataFrame, *, resamples: int = 200, seed: int = 7
) -> pd.DataFrame:
    """Correlate a score made of the marked errors with the annotator's own: a row per language pair.

    ratings: judgements, each under names of its own (drop second showings first). spans: the errors of these.
    Returns pair, judgements, unmarked (the share of them without errors), kendall_b, low, high, pearson, pearson_low,
    pearson_high: percentile intervals of a bootstrap over source segments. NaN where a side does not vary.
    Caveat: one person marked and scored, marks first, so this is no agreement between two people; and judgements
    without errors tie on one side, which keeps tau-b below 1 however well the others agree.
    """
    scored = segment_scores(ratings, spans, ESA)
    rows = []
    for pair, part in _pairs(ratings.reset_index(drop=True).assign(made=scored["mqm"], errors=scored["errors"])):
        correlated = partial(_correlations, part["made"].to_numpy(), part["score"].to_numpy())
        found = _bounded(correlated, part["source"], resamples, seed)
        rows.append((pair, len(part), float(part["errors"].eq(0).mean()), *found.ravel()))
    bounds = ["kendall_b", "low", "high", "pearson", "pearson_low", "pearson_high"]
    return pd.DataFrame(rows, columns=["pair", "judgements", "unmarked", *bounds])


def severity_costs(ratings: pd.DataFrame, spans: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """Estimate how many points of the annotator's own score one error of each severity costs, by language pair.

    ratings, spans: as for ``marks_against_scores``.
    Returns pair, severity, errors (how many there are); each, low, high: least squares of the score on the numbers of
    errors of each severity, so what one more costs with the others held fixed; alone, alone_low, alone_high:
    how much lower judgements with exactly one error, of this severity, lie than judgements without any. Intervals as
    for ``marks_against_scores``. NaN where the judgements do not tell.
    Caveat: for ``each``, an error costs the same however many there are; where ``alone`` is much larger, that is not
    so. Translations without errors differ from others in length and difficulty, too.
    """
    judgement, size = judgements(ratings, spans), len(ratings)
    kind = spans["severity"].astype("str").to_numpy()
    numbers = {name: np.bincount(judgement[kind == name], minlength=size) for name in ESA_SEVERITIES}
    counted = ratings.reset_index(drop=True).assign(errors=np.bincount(judgement, minlength=size), **numbers)
    rows = []
    for pair, part in _pairs(counted):
        of_kind = part[list(ESA_SEVERITIES)].to_numpy(float)
        costs = partial(_costs, part["score"].to_numpy(), of_kind, part["errors"].to_numpy())
        each, alone = np.split(_bounded(costs, part["source"], resamples, seed), 2)
        rows += [(pair, name, int(of_kind[:, k].sum()), *each[k], *alone[k]) for k, name in enumerate(ESA_SEVERITIES)]
    bounds = ["each", "low", "high", "alone", "alone_low", "alone_high"]
    return pd.DataFrame(rows, columns=["pair", "severity", "errors", *bounds])


def _pairs(ratings: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Split judgements by language pair, and say in ``source`` which of them share a source segment."""
    for pair, part in with_pair(ratings).groupby("pair", sort=True):
        yield pair, part.assign(source=part.groupby(["doc", "segment"], observed=True).ngroup())


def _correlations(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Compute tau-b and Pearson's r, (batch, 2)."""
    x, y = x - x.mean(), y - y.mean()
    pearson = correlation.pearson_of_sums(counts @ correlation.moments(x, y).T)
    return np.column_stack([correlation.kendall_b_of_values(x, y, counts), pearson])


def _costs(own: np.ndarray, of_kind: np.ndarray, marked: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Compute what each error costs, then what a single one does, by severity: (batch, 2 * severities)."""
    slopes = correlation.least_squares(np.column_stack([np.ones(len(own)), of_kind]), own, counts)
    single = (marked[:, None] == 1) & (of_kind == 1)
    picked = np.column_stack([marked == 0, single]).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):  # missing where none is drawn
        means = (counts @ (picked * own[:, None])) / (counts @ picked)
    return np.column_stack([-slopes[:, 1:], means[:, :1] - means[:, 1:]])


def formula_against_own(
    ratings: pd.DataFrame, *, resamples: int = 200, seed: int = 7, by: str = "tgt_lang"
) -> pd.DataFrame:
    """Correlate the formula's score with the annotator's own: by, kendall_b, low, high, pearson, equal, n, missing.

    ``equal`` is the share of judgements in which both are the same number; ``missing`` counts own scores that are not
    there. Formula scores below 0 count as 0, for annotators could give no negative ones.
    Intervals are 95 % percentile bootstraps over sentences.
    """
    rows, rng = [], np.random.default_rng(seed)
    for name, group in ratings.groupby(by, sort=False, observed=True):
        both = group.dropna(subset="own_score")
        formula, own = both["score"].clip(lower=0).to_numpy(), both["own_score"].to_numpy()
        tau, pearson = _bounded(partial(_correlations, formula, own), segment_names(both), resamples, rng)
        rows.append((name, *tau, pearson[0], float((formula == own).mean()), len(both), len(group) - len(both)))
    return pd.DataFrame(rows, columns=[by, "kendall_b", "low", "high", "pearson", "equal", "n", "missing"])


def crossed(ratings: pd.DataFrame) -> pd.DataFrame:
    """Keep the judgements of items that every annotator of their language pair judged."""
    named = with_pair(ratings)
    annotators = named.groupby("pair")["annotator"].transform("nunique")
    kept = named.groupby(["pair", *ITEM])["annotator"].transform("nunique").eq(annotators) & annotators.gt(1)
    return ratings[kept.to_numpy()]


def rater_agreement(ratings: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """Estimate how far raters' scores agree on items that all of them judged.

    Returns measure, estimate, low, high, items, annotators: the mean, lowest and highest Kendall's tau-b of two raters,
    and Krippendorff's alpha (interval, ordinal). Intervals of alpha are 95 % bootstraps over items.
    """
    common = crossed(ratings)
    matrix = agreement.score_matrix(common)
    taus = agreement.correlations(common).query("statistic == 'kendall_b'")["value"]
    means = pd.DataFrame({"estimate": [float(taus.agg(how)) for how in ("mean", "min", "max")]})
    means["measure"] = [f"Kendall's tau-b of two raters, {how}" for how in ("mean", "min", "max")]
    measures = [("krippendorff_alpha", "interval"), ("krippendorff_alpha", "ordinal")]
    alphas = agreement.coefficients(matrix, measures=measures, resamples=resamples, seed=seed)
    alphas["measure"] = "Krippendorff's alpha (" + alphas["level"] + ")"
    table = pd.concat([means, alphas], ignore_index=True)[["measure", "estimate", "low", "high"]]
    return table.assign(items=matrix.shape[0], annotators=matrix.shape[1])


def span_agreement(ratings: pd.DataFrame, spans: pd.DataFrame, texts: pd.DataFrame) -> pd.DataFrame:
    """Estimate how far raters mark the same stretches of translations that all of them judged, beyond chance.

    texts: the translations, for their lengths. Overlapping or touching errors of one rater are one unit; errors in the
    source and errors of no length are left out. All translations, one after another, are one continuum.
    Returns compared (a name of ``SPANS_MEASURES``), alpha (Krippendorff's for units), low, high (jackknife over source
    segments: each left out in turn), characters (Krippendorff's nominal alpha of single characters, for which a long
    unit does not weigh by its square; only for "any error"), units, translations, annotators.
    """
    common = crossed(ratings)
    raters = common["annotator"].nunique()
    lengths = texts[ITEM].astype("str").assign(length=texts["hypothesis"].str.len())
    items = common[ITEM].astype("str").drop_duplicates().merge(lengths, on=ITEM, validate="one_to_one")
    kept = spans[spans["side"].eq("target") & (spans["end"] > spans["start"])]
    marked = kept[[*ITEM, "annotator", "severity", "error_type"]].astype("str")
    marked = marked.assign(start=kept["start"], end=kept["end"], category=marked["error_type"].str.partition("/")[0])
    marked = marked.merge(items.assign(item=np.arange(len(items))), on=ITEM)
    groups = list(items.groupby([*SEGMENT]).indices.values())
    everything, lengths, rows = np.arange(len(items)), items["length"].to_numpy(), []
    for name, column in SPANS_MEASURES.items():
        kind = marked[column] if column else "any"
        units = merged(marked.assign(category=kind), by=["item", "annotator", "category"])
        value = _alpha(units, everything, lengths, raters)
        without = [_alpha(units, np.setdiff1d(everything, group), lengths, raters) for group in groups]
        low, high = inference.jackknife_interval(value, without)
        characters = _characters(units, lengths, raters) if column is None else np.nan
        rows.append((name, value, low, high, characters, len(units), len(items), raters))
    columns = ["compared", "alpha", "low", "high", "characters", "units", "translations", "annotators"]
    return pd.DataFrame(rows, columns=columns)


def _characters(units: pd.DataFrame, lengths: np.ndarray, raters: int) -> float:
    """Compute Krippendorff's nominal alpha of every character, marked or not."""
    begins, marked = np.cumsum(lengths) - lengths, np.zeros((int(lengths.sum()), raters))
    who, offset = pd.factorize(units["annotator"])[0], begins[units["item"].to_numpy()]
    for rater, start, end in zip(who, (units["start"] + offset).astype(int), (units["end"] + offset).astype(int)):
        marked[start:end, rater] = 1
    nominal = [("krippendorff_alpha", "nominal")]
    return float(agreement.coefficients(pd.DataFrame(marked), measures=nominal, resamples=0)["estimate"].iloc[0])


def _alpha(units: pd.DataFrame, picks: np.ndarray, lengths: np.ndarray, raters: int) -> float:
    """Lay the picked translations out as one continuum and compare the units on it."""
    ends = np.cumsum(lengths[picks])
    begins = np.full(len(lengths), -1)
    begins[picks] = ends - lengths[picks]
    offset = begins[units["item"].to_numpy()]
    placed = units.assign(start=units["start"] + offset, end=units["end"] + offset)[offset >= 0]
    return unitised_alpha(placed, length=int(ends[-1]), annotators=raters)


def unitised_alpha(units: pd.DataFrame, *, length: int, annotators: int) -> float:
    """Estimate agreement beyond chance of annotators who marked units (stretches) on one continuum; 1 is perfect.

    units: columns annotator, start, end (end excluded, whole numbers), and optionally ``category``, within which units
    are compared; the units of one annotator and category do not overlap (``merged`` sees to that). length: of the
    continuum; annotators: how many marked it, also those who marked nothing.
    What two annotators differ by is the squared distance of the borders of units that overlap, and the squared length
    of a unit that lies within the other's gap; what chance gives is the mean of that over all places where the marked
    units could lie. NaN where nobody marked anything.
    Source: Krippendorff 1995, On the reliability of unitizing continuous data, Sociological Methodology 25; 2004,
    Content Analysis, section 11.6. Caveat: a long unit weighs by the square of its length.

    >>> marks = pd.DataFrame({"annotator": ["a", "b", "a", "b"], "start": [5, 5, 20, 21], "end": [9, 9, 26, 26]})
    >>> round(unitised_alpha(marks, length=40, annotators=2), 3)
    0.981
    """
    who = pd.factorize(units["annotator"], sort=True)[0]
    kind = pd.factorize(units["category"], sort=True)[0] if "category" in units else np.zeros(len(units), int)
    start, end = units["start"].to_numpy(float), units["end"].to_numpy(float)
    order = np.lexsort((start, who, kind))
    observed = expected = 0.0
    for same in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1) if len(order) else ():
        marked = _Marked(who[same], start[same], end[same], length, annotators)
        observed += marked.observed()
        expected += marked.expected()
    return 1.0 - observed / expected if expected > 0 else float("nan")


def merged(spans: pd.DataFrame, *, by: list[str]) -> pd.DataFrame:
    """Join overlapping or touching stretches within ``by`` into units: by, start, end.

    >>> marks = pd.DataFrame({"annotator": ["a", "a", "a"], "start": [0, 3, 8], "end": [4, 6, 9]})
    >>> merged(marks, by=["annotator"])
      annotator  start  end
    0         a      0    6
    1         a      8    9
    """
    order = spans[spans["end"] > spans["start"]].sort_values([*by, "start", "end"], kind="stable", ignore_index=True)
    furthest = order.groupby(by, observed=True)["end"].cummax()
    reach = furthest.groupby([order[name] for name in by], observed=True).shift()  # of the stretches before each one
    fresh = (reach.isna() | (order["start"] > reach)).cumsum().rename("unit")
    units = order.groupby([*by, fresh], observed=True, sort=False).agg(start=("start", "min"), end=("end", "max"))
    return units.reset_index().drop(columns="unit")


class _Marked(NamedTuple):
    """Hold the units of all annotators, (units,), in order of annotators and of their starts."""

    who: np.ndarray
    start: np.ndarray
    end: np.ndarray
    length: int
    annotators: int

    def observed(self) -> float:
        """Sum what every two annotators' units differ by, per pair of annotators and squared length."""
        apart = (self.length + 1) * np.arange(self.annotators)  # a continuum for each annotator, one after another
        starts, ends = self.start + apart[self.who], self.end + apart[self.who]
        # their first that ends after mine starts, and the one after their last that starts before mine ends
        first = np.searchsorted(ends, self.start[:, None] + apart, side="right")
        last = np.searchsorted(starts, self.end[:, None] + apart, side="left")
        # (units, annotators): how many of theirs overlap mine; mine overlaps itself
        times = np.maximum(last - first, 0)
        in_gaps = ((self.end - self.start) ** 2 * (times == 0).sum(axis=1)).sum()
        count = times.ravel()
        mine = np.repeat(np.arange(len(self.who)), times.sum(axis=1))
        theirs = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first.ravel(), count)
        between = ((self.start[mine] - self.start[theirs]) ** 2 + (self.end[mine] - self.end[theirs]) ** 2).sum()
        return float((between + 2 * in_gaps) / (self.annotators * (self.annotators - 1) * self.length**2))

    def expected(self) -> float:
        """Average what two units differ by over all their possible places, gaps included."""
        sizes = self.end - self.start
        free = np.sort(self.gaps())
        total = self.annotators * self.length
        overlaps = (len(sizes) - 1) / 3 * (2 * sizes**3 - 3 * sizes**2 + sizes)
        after = np.concatenate([np.cumsum(free[::-1])[::-1], [0.0]])  # the sum of the gaps from each one on
        from_gap = np.searchsorted(free, sizes, side="left")
        fitting = len(free) - from_gap
        contained = sizes**2 * (after[from_gap] - fitting * (sizes - 1))
        pairs = total * (total - 1) - (sizes * (sizes - 1)).sum()
        return float(2 / self.length * (overlaps + contained).sum() / pairs)

    def gaps(self) -> np.ndarray:
        """Measure the stretches that an annotator left between units, before the first and after the last."""
        first = np.diff(self.who, prepend=-1) > 0
        before = np.where(first, 0.0, np.concatenate([[0.0], self.end[:-1]]))
        last = np.zeros(self.annotators)
        np.maximum.at(last, self.who, self.end)
        sizes = np.concatenate([self.start - before, self.length - last])
        return sizes[sizes > 0]


def _bounded(
    statistic: Callable[[np.ndarray], np.ndarray], units: ArrayLike, resamples: int, seed: int | np.random.Generator
) -> np.ndarray:
    """Return estimate, low and high of each value of a statistic of counts, (values, 3); units: what is drawn anew."""
    estimate = statistic(np.ones((1, len(np.asarray(units)))))[0]
    if not resamples:
        return np.column_stack([estimate, np.full((len(estimate), 2), np.nan)])
    draws = inference.resample(statistic, units, resamples=resamples, seed=seed)
    return np.column_stack([estimate, *inference.interval(draws)])
