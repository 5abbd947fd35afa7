"""What a statistic comes to at most and at least, and whether a judge's scores mean what people's do.

``contest`` and ``ceiling`` let human collections compete before another one exactly as metrics do: the ceiling.
``chance_levels`` evaluates constant and random scores, ``sentinels`` what sees too little to know how good a
translation is. A statistic that gives those a high value rewards something else than telling good translations from bad
ones, such as knowing which segments are hard. Source: Perrella et al. 2024, "Guardians of the machine translation
meta-evaluation", whose sentinels are large models trained on other years; these are a regression on eight counts.
``measures`` and ``own_kind`` ask of judges for bias, spread, ties, drift along documents, and systems they favour.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import schemas
from evalkit.metrics import rankings, statistics
from evalkit.metrics.scores import Scores, align, averaged, of_systems
from evalkit.metrics.statistics import by_unit, every_statistic, pair_differences
from evalkit.stats.correlation import ratio
from evalkit.stats.inference import defined_interval, interval, resample

_TABLES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: Collections that score all translations once each: one person's worth.
ONE: list[str] = _TABLES["one"]
#: Means of two collections of one kind: two people's worth.
TWO: dict[str, list[str]] = _TABLES["two"]
#: What contestants are held against, one after the other.
GOLDS: list[str] = _TABLES["golds"]
#: What a contestant is.
KINDS: list[str] = _TABLES["kinds"]
#: How people's collections are written on pages.
NAMES = {name: name.replace("ESAAI", "ESA^AI").replace("DASQM", "DA+SQM") for name in (*ONE, *TWO)}
#: What names a statistic.
STATISTIC = ["level", "statistic", "grouping"]
_KEYS = ["src_lang", "tgt_lang", *schemas.ITEM]
_HELD = ["contestant", "kind", "statistic", "value", "low", "high"]
_DRAWS = 20  # random metrics
_FOLDS = 5  # of documents
_DIGITS = 10  # of predictions: equal texts tie, in whatever order a processor adds
#: What is measured -> how it is written. The first three need scores in people's own unit.
MEASURES: dict[str, str] = _TABLES["measures"]
#: Metrics whose scores are points of MQM by design (beginnings of names); of others, bias and spread mean nothing.
IN_MQM_POINTS = tuple(_TABLES["points"])
#: Judges and systems of WMT23 that are known to be related: metric, system, against (another one; "" is all), why.
RELATED = pd.DataFrame(_TABLES["related"])


def contest(
    scored: pd.DataFrame, metrics: pd.DataFrame, outputs: pd.DataFrame, *, gold: str
) -> tuple[Scores, dict[str, str]]:
    """Line people and metrics up before one gold, on the segments that every one of them scored for every system.

    scored: the result of ``protocols.scores``; human translations are left out. metrics: scores of segments, of
    any pairs. outputs: what systems wrote, for the metric "length". gold: one of ``GOLDS``; contestants that are made
    of it are left out. The segments are the same whatever the gold.
    Returns scores of segments, whose ``metrics`` are all contestants, and the name of each -> one of ``KINDS``.
    Raises DataError where no segment has all scores.
    """
    people = scored[(scored["item_type"] == "system") & scored["protocol"].isin(ONE)]
    languages, names = people["tgt_lang"].unique(), [*_KEYS, "metric"]
    machine = [table[table["tgt_lang"].isin(languages)] for table in (metrics, lengths(outputs))]
    parts = [part[[*names, "score"]] for part in (people.assign(metric=people["protocol"]), *machine)]
    everything = pd.concat([part.astype(dict.fromkeys(names, "str")) for part in parts])
    wide = everything.pivot(index=_KEYS, columns="metric", values="score")  # a row per translation
    wide = wide.dropna(how="all", subset=list(people["protocol"].unique()))  # that people judged
    whole = wide.notna().all(axis=1).groupby(level=schemas.ITEM[1:]).transform("sum") == people["system"].nunique()
    if not whole.any():
        raise DataError("No segment was scored by all people and all metrics. Check that the tables belong together.")
    wide = wide[whole].assign(**{name: wide[list(parts)].mean(axis=1) for name, parts in TWO.items()})
    halves = set(TWO.get(gold, (gold,)))
    one = [name for name in ONE if name not in halves]
    two = [name for name, parts in TWO.items() if halves.isdisjoint(parts)]
    entered = [*one, *two, *(name for name in everything["metric"].unique() if name not in ONE)]
    table = wide[entered].melt(var_name="metric", value_name="score", ignore_index=False)
    segments = align(table.reset_index(), wide[gold].rename("score").reset_index().assign(metric=gold), data="wmt23")
    kinds = dict.fromkeys(segments.metrics, "metric") | dict.fromkeys(one, KINDS[0]) | dict.fromkeys(two, KINDS[1])
    return segments, kinds | {"length": KINDS[3]}


def ceiling(
    contests: Mapping[str, tuple[Scores, Mapping[str, str]]], *, resamples: int, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Evaluate every contestant by the six statistics of ``rankings.MAIN``, and count who passes whom.

    contests: gold -> the result of ``contest``. The first table has gold, contestant, kind, statistic, value, low and
    high (95 %): in each gold and statistic, people stand first, then metrics, then what knows nothing (``length``,
    constant and random scores, see ``chance_levels``), the best of each first. Statistics of segments are resampled by
    whole documents, those of systems by systems.
    The second has gold, statistic, person, kind, value, metrics, above (metrics with a higher value), surely (those
    whose paired difference has a 95 % interval above 0), below (surely lower), best (metric), difference (best minus
    person), low, high.
    Caveat: a dozen systems are few, and intervals over them are rough. The best of many metrics is chosen on these
    scores, so that its difference is too large rather than too small, and the counts are not corrected for the number
    of comparisons.
    """
    tables, passed = [], {}
    for gold, (segments, kinds) in contests.items():
        both = segments, of_systems(segments)
        table, drawn = statistics.draws(*both, resamples=resamples, documents=True, seed=seed)
        table = _main(table)  # all of them
        table["low"], table["high"] = defined_interval(drawn)
        table["kind"] = table["contestant"].map(dict(kinds))
        passed[gold] = _passing(table, drawn)
        floor = _main(pd.concat([chance_levels(scores, seed=seed) for scores in both], ignore_index=True))
        tables += [table.assign(gold=gold), floor.dropna(subset="value").assign(kind=KINDS[3], gold=gold)]
    order = [*contests, *rankings.MAIN.values(), *KINDS]
    table = pd.concat(tables, ignore_index=True).sort_values("value", ascending=False, kind="stable")
    table = table.sort_values(["gold", "statistic", "kind"], key=lambda names: names.map(order.index), kind="stable")
    counts = pd.concat(passed, names=["gold", None]).reset_index("gold").reset_index(drop=True)
    return table[["gold", *_HELD]].reset_index(drop=True), counts


def _main(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of ``rankings.MAIN``, with its names."""
    table = table.rename(columns={"metric": "contestant"}).assign(statistic=rankings.label(table))
    return table[table["statistic"].isin(rankings.MAIN.values())]


def _passing(held: pd.DataFrame, drawn: np.ndarray) -> pd.DataFrame:
    """Count the metrics that pass each human contestant, by each statistic. drawn: resamples × labels of rows."""
    rows: list[dict[str, object]] = []
    for name in rankings.MAIN.values():
        part = held[held["statistic"] == name]
        metrics = part[part["kind"] == "metric"]
        best = int(metrics["value"].argmax())
        for person in part[part["kind"].isin(KINDS[:2])].itertuples():
            gap = drawn[:, metrics.index] - drawn[:, [person.Index]]
            low, high = np.nanpercentile(gap, [2.5, 97.5], axis=0)
            row = {"statistic": name, "person": person.contestant, "kind": person.kind, "value": person.value}
            row |= {"metrics": len(metrics), "above": int((metrics["value"] > person.value).sum())}
            row |= {"surely": int((low > 0).sum()), "below": int((high < 0).sum())}
            first = metrics.iloc[best]
            row |= {"best": first["contestant"], "difference": first["value"] - person.value}
            rows.append(row | {"low": low[best], "high": high[best]})
    return pd.DataFrame(rows)


def lengths(outputs: pd.DataFrame) -> pd.DataFrame:
    """Turn translations (column ``hypothesis``) into scores of the metric "length", their number of characters.

    >>> outputs = pd.DataFrame({"system": ["A"], "segment": ["1"], "hypothesis": ["Good day!"]})
    >>> lengths(outputs).to_dict("records")
    [{'system': 'A', 'segment': '1', 'metric': 'length', 'score': 9.0}]
    """
    names = outputs.drop(columns=["hypothesis", "source", "reference", "domain"], errors="ignore")
    return names.assign(metric="length", score=outputs["hypothesis"].fillna("").str.len().astype(float))


def chance_levels(scores: Scores, *, length: Scores | None = None, seed: int = 7) -> pd.DataFrame:
    """Evaluate metrics that know nothing by every statistic: the level above which a value says something.

    constant: the same score for all; a correlation is then undefined, while accuracies count its ties. random: normal
    numbers, 20 times; value is the mean, low and high hold 95 % of the draws. length: the aligned scores of
    ``lengths``, if given. Returns data, pair, level, statistic, grouping, metric, value, low, high.
    acc_eq calibrates random scores too: it reaches the share t of human ties, or half of the other pairs, (1 - t) / 2,
    whichever is larger, so never less than a third. Caveat: low and high describe random metrics, and are no
    confidence interval of any real one.
    """
    rng = np.random.default_rng(seed)
    shape = (_DRAWS, *scores.human.shape)
    random = replace(scores, metrics=tuple(map(str, range(_DRAWS))), values=rng.normal(size=shape))
    spread = every_statistic(random).groupby(["data", "pair", *STATISTIC], sort=False)["value"]
    table = spread.mean().reset_index().assign(metric="random")
    table["low"], table["high"] = (spread.quantile(end).to_numpy() for end in (0.025, 0.975))
    constant = replace(scores, metrics=("constant",), values=np.zeros((1, *shape[1:])))
    fixed = every_statistic(*filter(None, (constant, length)))
    columns = ["data", "pair", *STATISTIC, "metric", "value", "low", "high"]
    return pd.concat([fixed, table], ignore_index=True)[columns]


def features(texts: pd.Series) -> np.ndarray:
    """Count what can be counted of a text without reading it: texts × 8.

    Logarithms of its numbers of characters and of words, characters per word, and the shares of digits, capitals,
    punctuation, characters outside ASCII, and of the marks # and @.

    >>> features(pd.Series(["Go to 10!"])).round(2).tolist()
    [[2.3, 1.39, 3.0, 0.22, 0.11, 0.11, 0.0, 0.0]]
    """
    texts = texts.fillna("").astype("str")
    size = texts.str.len().to_numpy(float)
    words = texts.str.split().str.len().to_numpy(float)
    some = np.maximum(size, 1)
    classes = (r"[0-9]", r"[A-ZÄÖÜ]", r"[^\w\s]", r"[^\x00-\x7f]", r"[#@]")
    shares = [texts.str.count(each).to_numpy(float) / some for each in classes]
    return np.column_stack([np.log1p(size), np.log1p(words), size / np.maximum(words, 1), *shares])


def cross_validated(inputs: np.ndarray, target: np.ndarray, documents: Sequence[str]) -> np.ndarray:
    """Predict each row from a ridge regression on the rows of other documents; rows without a target get one, too.

    inputs: rows × features; target: one for each row, NaN where there is none. Documents are dealt to five parts in the
    order of their names; a single document leaves nothing to learn from, and the prediction is NaN.
    """
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), Ridge())
    part = pd.factorize(pd.Series(documents, dtype=object), sort=True)[0] % _FOLDS
    predicted = np.full(len(target), np.nan)
    for held_out in np.unique(part):
        train = (part != held_out) & np.isfinite(target)
        if train.sum() > 1:
            predicted[part == held_out] = model.fit(inputs[train], target[train]).predict(inputs[part == held_out])
    return predicted.round(_DIGITS)


def sentinels(outputs: pd.DataFrame, human_scores: pd.DataFrame) -> pd.DataFrame:
    """Score translations of one language pair by metrics that cannot know better: columns as of scores of segments.

    source length, length: characters of the source (shorter counts as better) and of the translation (longer does);
    source only, output only: eight counts of either, weighted to fit human scores of other documents.

    outputs: src_lang, tgt_lang, system, doc, segment, source, hypothesis. human_scores: one kind, of the same pair; the
    regressions learn from those of other documents.
    """
    table, people = (each.astype(dict.fromkeys(_KEYS, "str")) for each in (outputs, human_scores))
    target = table[_KEYS].merge(people[[*_KEYS, "score"]], on=_KEYS, how="left")["score"].to_numpy(float)
    own = {"source length": -table["source"].fillna("").str.len().to_numpy(float)}
    for name, column in (("source only", "source"), ("output only", "hypothesis")):
        distinct, place = np.unique(table[column].fillna("").to_numpy(object), return_inverse=True)
        own[name] = cross_validated(features(pd.Series(distinct))[place], target, table["doc"].tolist())
    own["length"] = lengths(table)["score"].to_numpy()
    parts = [table[_KEYS].assign(metric=name, score=score) for name, score in own.items()]
    return pd.concat(parts, ignore_index=True).dropna(subset=["score"])


def every_grouping(
    segments: Scores, domains: Mapping[str, str] | None = None, *, systems: Scores | None = None, seed: int = 7
) -> pd.DataFrame:
    """Evaluate metrics by all statistics, and besides by differences within pairs, by documents and by domains.

    segments: names of segments begin with their document (``document:segment``). domains: document -> domain.
    systems: the metrics' own scores of systems; None: means over the segments that people judged.
    Returns level (system, segment, document, domain), statistic, grouping, metric, value. By one domain alone, and
    where a document is a segment, nothing new is said, and rows are left out.
    """
    documents = segments.documents
    whole = systems or replace(averaged(segments, ["all"] * len(documents)), segments=("",))
    tables = [every_statistic(whole, segments, seed=seed), pair_differences(segments)]
    if 1 < len(set(documents)) < len(documents):
        tables.append(by_unit(segments, documents, level="document"))
    of = [(domains or {}).get(name, "") for name in documents]
    if len(set(of)) > 1:
        tables.append(by_unit(segments, of, level="domain"))
    return pd.concat(tables, ignore_index=True)[[*STATISTIC, "metric", "value"]]


def beaten(metrics: pd.DataFrame, floors: pd.DataFrame) -> pd.DataFrame:
    """Say how many metrics a sentinel is above, by each statistic.

    metrics, floors: results of ``every_grouping`` for real metrics and for sentinels. A statistic that a sentinel has
    no value for counts as 0, as in WMT: within a segment, what sees only the source gives all translations one score.
    Returns level, statistic, grouping, sentinel, value, above (metrics below it), metrics, share.
    """
    rows = []
    for key, own in floors.groupby(STATISTIC, sort=False):
        real = metrics[(metrics[STATISTIC] == list(key)).all(axis=1)]["value"].dropna().to_numpy()
        for sentinel, value in own[["metric", "value"]].fillna({"value": 0.0}).itertuples(index=False):
            rows.append((*key, sentinel, value, int((real < value).sum()), len(real)))
    found = pd.DataFrame(rows, columns=[*STATISTIC, "sentinel", "value", "above", "metrics"])
    return found.assign(share=found["above"] / found["metrics"].where(found["metrics"] > 0))


# Whether a judge's scores mean what people's do


def measures(
    scores: Scores,
    *,
    same_unit: Collection[str] = (),
    documents: Sequence[str] | None = None,
    resamples: int = 500,
    seed: int = 7,
) -> pd.DataFrame:
    r"""Compare each metric's scores with people's: metric, measure, value, low, high, cells.

    measure: a name of ``MEASURES``. For scores x of a metric and y of people, over all cells that have both: bias
    :math:`\bar x - \bar y`, spread :math:`s_x / s_y`, slope :math:`s_{xy} / s_y^2`; only for metrics in ``same_unit``.
    ties: share of the pairs of translations of one segment that have equal scores, and how much higher it is than
    people's. drift: how much x grows from the first to the last segment of a document, in its standard deviations, and
    how much more that is than y grows in y's; where no document has two segments, it is missing.
    documents: a label per segment, segments in their documents' order; None takes the part of a segment's name before
    its last colon. 95 % intervals draw documents anew.
    Caveat: noise in people's scores widens their spread and lowers the slope; a perfect judge of noisy people has a
    spread and a slope below 1. Texts may change along a document, too; a judge that reads one segment at a time has no
    other drift than theirs. Raises DataError for scores of whole systems.
    """
    if scores.level == "system":
        raise DataError("These are scores of whole systems. Calibration needs scores of segments.")
    labels = np.array(scores.documents if documents is None else documents)
    places, tables = _places(labels), []
    for place, metric in enumerate(scores.metrics):
        sums = _sums(scores.values[place], scores.human, places)
        statistic = partial(_measures, sums, metric in same_unit)
        low, high = defined_interval(resample(statistic, labels, resamples=resamples, seed=seed))
        values = {"value": statistic(np.ones((1, len(sums))))[0], "low": low, "high": high}
        table = pd.DataFrame({"metric": metric, "measure": list(MEASURES)} | values)
        tables.append(table.assign(cells=int(sums[:, 0].sum())))
    return pd.concat(tables).dropna(subset="value").reset_index(drop=True)


def _sums(metric: np.ndarray, human: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Sum up by segment what ``_measures`` needs: (segments, sums)."""
    on = np.isfinite(metric) & np.isfinite(human)
    x, y = (np.where(on, side, 0.0) for side in (metric, human))
    first, second = np.triu_indices(len(on), 1)
    pair = on[first] & on[second]
    own, people = (np.where(on, _standardised(side, on), 0).sum(0) for side in (x, y))
    ties = [(pair & (side[first] == side[second])).sum(0) for side in (x, y)]
    sums = [on.sum(0), x.sum(0), y.sum(0), (x**2).sum(0), (y**2).sum(0), (x * y).sum(0), pair.sum(0), *ties]
    return np.array([*sums, places * own, places * (own - people), places**2 * on.sum(0)], float).T


def _measures(sums: np.ndarray, shared: bool, counts: np.ndarray) -> np.ndarray:
    """Compute all measures of segments drawn so often, (batch, segments) -> (batch, measures)."""
    n, x, y, xx, yy, xy, pairs, tied, people, moved, more, moment = (counts @ sums).T
    spread_x, spread_y = (np.maximum(square - ratio(total**2, n), 0) for square, total in ((xx, x), (yy, y)))
    unit = [ratio(x - y, n), np.sqrt(ratio(spread_x, spread_y)), ratio(xy - ratio(x * y, n), spread_y)]
    rest = [ratio(tied, pairs), ratio(tied - people, pairs), ratio(moved, moment), ratio(more, moment)]
    return np.stack([*(unit if shared else np.full((3, len(n)), np.nan)), *rest], axis=1)


def _standardised(scores: np.ndarray, on: np.ndarray) -> np.ndarray:
    own = scores[on]
    spread = own.std() if own.size else 0.0
    return (scores - own.mean()) / spread if spread > 0 else np.zeros_like(scores)


def _places(documents: np.ndarray) -> np.ndarray:
    """Number segments from 0 to 1 along their document, less the document's mean; 0 where it is the only one.

    >>> _places(np.array(["a", "a", "a", "b"])).tolist()
    [-0.5, 0.0, 0.5, 0.0]
    """
    found = pd.Series(documents).groupby(documents)
    return (found.cumcount() / (found.transform("size") - 1)).fillna(0.5).to_numpy() - 0.5


def favour(metric: np.ndarray, human: np.ndarray) -> np.ndarray:
    """Say how much higher a metric sets each system than people do: both standardised over systems, the difference.

    metric, human: means of systems, the last axis. Positive: favoured. The values of a metric add up to 0.

    >>> favour(np.array([1.0, 2.0, 3.0]), np.array([10.0, 30.0, 20.0])).round(3).tolist()
    [0.0, -1.0, 1.0]
    """
    centred = [means - means.mean(axis=-1, keepdims=True) for means in (metric, human)]
    own, people = (ratio(each, each.std(axis=-1, ddof=1, keepdims=True)) for each in centred)
    return own - people


def own_kind(scores: Scores, *, resamples: int = 500, seed: int = 7) -> pd.DataFrame:
    """Ask whether judges favour systems that are related to them: metric, system, against, why, value, low, high, ….

    value: how much more the metric favours the system (``favour``) than the one it is compared with, or than the mean
    of all others; others: the median of that over metrics that are not named in ``RELATED`` for this system; beyond:
    value less others, beyond_low and beyond_high. Intervals (95 %) draw whole documents. Pairs that are not there are
    left out.
    Caveat: what all metrics share, such as a taste for fluent translations, is taken off by ``beyond``, right or
    wrong. That a judge favours a system more than others do need not be for the relation that is known.
    """
    there = RELATED["metric"].isin(scores.metrics) & RELATED["system"].isin(scores.systems)
    table = RELATED[there & RELATED["against"].isin([*scores.systems, ""])].reset_index(drop=True)
    if table.empty:
        return table.reindex(columns=[*table, *_FAVOURED])

    def favoured(counts: np.ndarray) -> np.ndarray:
        gaps = favour(*statistics.system_means(scores, counts)).swapaxes(0, 1)
        return np.stack([_contrast(gaps, scores, one) for one in table.itertuples()], axis=1)

    value = favoured(np.ones((1, len(scores.segments))))[0]
    low, high = interval(resample(favoured, scores.documents, resamples=resamples, seed=seed))
    columns = [value[:, 0], low[:, 0], high[:, 0], value[:, 1], value[:, 2], low[:, 2], high[:, 2]]
    return table.assign(**dict(zip(_FAVOURED, columns, strict=True)))


_FAVOURED = ("value", "low", "high", "others", "beyond", "beyond_low", "beyond_high")


def _contrast(found: np.ndarray, scores: Scores, one: Any) -> np.ndarray:
    """Compare a system with another one, or all others: (batch, 3) of the metric, the others' median and the gap."""
    system = scores.systems.index(one.system)
    if one.against:
        gap = found[..., system] - found[..., scores.systems.index(one.against)]
    else:  # the values of a metric add up to 0
        gap = found[..., system] * len(scores.systems) / (len(scores.systems) - 1)
    own = RELATED.loc[RELATED["system"] == one.system, "metric"].tolist()
    rest = [place for place, name in enumerate(scores.metrics) if name not in own]
    others = np.nanmedian(gap[:, rest], axis=1) if rest else np.full(len(gap), np.nan)
    value = gap[:, scores.metrics.index(one.metric)]
    return np.stack([value, others, value - others], axis=1)


def compare_judges(
    pools: Mapping[str, Scores], judges: Collection[str], *, resamples: int = 500, seed: int = 7
) -> pd.DataFrame:
    """Calibrate some judges on several sets of people's MQM scores: data, judge, measure, value, low, high, cells."""
    parts = {}
    for data, scores in pools.items():
        own = scores.only([metric for metric in scores.metrics if metric in judges])
        in_unit = [name for name in own.metrics if name.startswith(IN_MQM_POINTS)]
        parts[data] = measures(own, same_unit=in_unit, resamples=resamples, seed=seed)
    table = pd.concat(parts, names=["data", None]).reset_index("data").reset_index(drop=True)
    return table.rename(columns={"metric": "judge"})


def laid_out(found: pd.DataFrame, *, data: str) -> pd.DataFrame:
    """Lay out the judges that score in people's unit on one set: the smallest bias first.

    found: the result of ``compare_judges``. Returns judge, bias, low and high (of the bias), spread, slope, ties,
    people (whose ties).
    """
    own = found[found["data"] == data]
    wide = own.pivot(index="judge", columns="measure", values="value").rename_axis(columns=None)
    wide = wide.reindex(columns=list(MEASURES)).dropna(subset="bias")
    wide = wide.join(own[own["measure"] == "bias"].set_index("judge")[["low", "high"]])
    wide = wide.assign(people=wide["ties"] - wide["more ties"]).sort_values("bias", key=abs, kind="stable")
    return wide.reset_index()[["judge", "bias", "low", "high", "spread", "slope", "ties", "people"]]
