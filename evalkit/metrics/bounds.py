"""What a statistic comes to at most and at least: people held against people, and metrics that know nothing.

``contest`` and ``hold`` let human collections compete before another one exactly as metrics do: the ceiling.
``chance_levels`` evaluates constant and random scores, ``sentinels`` what sees too little to know how good a
translation is. A statistic that gives those a high value rewards something else than telling good translations from bad
ones, such as knowing which segments are hard. Source: Perrella et al. 2024, "Guardians of the machine translation
meta-evaluation", whose sentinels are large models trained on other years; these are a regression on eight counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from evalkit import DataError
from evalkit.data import schemas
from evalkit.metrics import intervals, rankings
from evalkit.metrics.scores import Scores, align, averaged, of_systems
from evalkit.metrics.statistics import by_unit, every_statistic, pair_differences
from evalkit.stats.inference import defined_interval

#: Collections that score all translations once each: one person's worth.
ONE = ("ESA-1", "ESA-2", "ESAAI-1", "ESAAI-2", "MQM-1", "WMT-DASQM", "WMT-MQM")
#: Means of two collections of one kind: two people's worth.
TWO = {"ESA-1 + ESA-2": ("ESA-1", "ESA-2"), "ESAAI-1 + ESAAI-2": ("ESAAI-1", "ESAAI-2")}
#: What contestants are held against, one after the other.
GOLDS = ("WMT-MQM", "MQM-1", "ESA-1 + ESA-2")
#: What a contestant is.
KINDS = ("one person", "two people", "metric", "knows nothing")
#: How people's collections are written on pages.
NAMES = {name: name.replace("ESAAI", "ESA^AI").replace("DASQM", "DA+SQM") for name in (*ONE, *TWO)}
#: What names a statistic.
STATISTIC = ["level", "statistic", "grouping"]
_KEYS = ["src_lang", "tgt_lang", *schemas.ITEM]
_HELD = ["contestant", "kind", "statistic", "value", "low", "high"]
_DRAWS = 20  # random metrics
_FOLDS = 5  # of documents


@dataclass(frozen=True)
class Contest:
    """Keep contestants, people and metrics alike, beside the human scores that they are held against.

    segments, systems: their scores, those of systems being means over exactly these segments; as ``metrics`` they hold
    all contestants. kinds: the name of a contestant -> one of ``KINDS``.
    """

    segments: Scores
    systems: Scores
    kinds: Mapping[str, str]


def contest(scored: pd.DataFrame, metrics: pd.DataFrame, outputs: pd.DataFrame, *, gold: str = GOLDS[0]) -> Contest:
    """Line people and metrics up before one gold, on the segments that every one of them scored for every system.

    scored: the result of ``protocols.scores``; human translations are left out. metrics: scores of segments, of
    any pairs. outputs: what systems wrote, for the metric "length". gold: one of ``GOLDS``; contestants that are made
    of it are left out. The segments are the same whatever the gold.
    Raises DataError for an unknown gold, and where no segment has all scores.
    """
    if gold not in GOLDS:
        raise DataError(f"There is no gold {gold!r} here. Choose among {', '.join(GOLDS)}.")
    people, machine = _complete(scored, metrics)
    halves = set(TWO.get(gold, (gold,)))
    one = [name for name in ONE if name not in halves]
    two = [name for name, parts in TWO.items() if halves.isdisjoint(parts)]
    length = _same_cells(lengths(outputs), people)
    table = pd.concat([*(_mean_of(people, name) for name in (*one, *two)), machine, length], ignore_index=True)
    segments = align(table, _mean_of(people, gold), data="wmt23")
    kinds = dict.fromkeys(segments.metrics, "metric") | dict.fromkeys(one, KINDS[0]) | dict.fromkeys(two, KINDS[1])
    return Contest(segments, of_systems(segments), kinds | {"length": KINDS[3]})


def _complete(scored: pd.DataFrame, metrics: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Keep people's and metrics' scores of the segments that all of them scored for all systems."""
    people = scored[(scored["item_type"] == "system") & scored["protocol"].isin(ONE)]
    people = people.rename(columns={"protocol": "metric"})[[*_KEYS, "metric", "score"]].astype(
        dict.fromkeys([*_KEYS, "metric"], "str")
    )
    machine = _same_cells(metrics, people)
    there = [table.groupby(schemas.ITEM[1:])["score"].count() for table in (people, machine)]
    systems = people["system"].nunique()
    whole = there[0][there[0] == systems * len(ONE)].index.intersection(
        there[1][there[1] == systems * machine["metric"].nunique()].index
    )
    if not len(whole):
        raise DataError("No segment was scored by all people and all metrics. Check that the tables belong together.")
    kept = pd.DataFrame(index=whole).reset_index()
    return people.merge(kept), machine.merge(kept)


def _same_cells(table: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of a table of scores that are about translations which people scored, as plain text."""
    for name in _KEYS:
        table = table[table[name].isin(people[name].unique())]
    return table[[*_KEYS, "metric", "score"]].astype(dict.fromkeys([*_KEYS, "metric"], "str")).dropna(subset=["score"])


def _mean_of(people: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a collection, or the mean of two, under one name."""
    part = people[people["metric"].isin(TWO.get(name, (name,)))]
    return part.groupby(_KEYS)["score"].mean().reset_index().assign(metric=name)


@dataclass(frozen=True, eq=False)
class Held:
    """Keep what contestants come to: ``table`` (contestant, kind, statistic, value, low, high) and its resamples.

    drawn: resamples × rows of the table; all contestants share the resamples of a statistic.
    """

    table: pd.DataFrame
    drawn: np.ndarray


def hold(entered: Contest, *, resamples: int = 500, flips: int = 1000, seed: int = 7) -> Held:
    """Evaluate every contestant by the six statistics of ``rankings.MAIN``, with 95 % intervals.

    Statistics of segments are resampled by whole documents, those of systems by systems.
    Caveat: a dozen systems are few, and intervals over them are rough.
    """
    parts = [
        intervals.draws(scores, resamples=resamples, flips=flips, unit="document", seed=seed)
        for scores in (entered.segments, entered.systems)
    ]
    table = pd.concat([table for table, _ in parts], ignore_index=True).rename(columns={"metric": "contestant"})
    table["kind"] = table["contestant"].map(dict(entered.kinds))
    order = _by_statistic(table)
    drawn = np.concatenate([draws for _, draws in parts], axis=1)[:, order.index]
    low, high = defined_interval(drawn)
    return Held(order.reset_index(drop=True).assign(low=low, high=high)[_HELD], drawn)


def _by_statistic(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of ``rankings.MAIN``, in its order, with its names."""
    table = table.assign(statistic=rankings.label(table))
    place = table["statistic"].map({name: number for number, name in enumerate(rankings.MAIN.values())})
    return table.loc[place.dropna().sort_values(kind="stable").index]


def floor(entered: Contest, *, seed: int = 7) -> pd.DataFrame:
    """Say what a constant and random scores come to before the same gold: the columns of ``Held.table``.

    low and high of random scores hold 95 % of 20 draws; a constant has no correlation, and no row for one.
    """
    parts = [chance_levels(scores, seed=seed) for scores in (entered.segments, entered.systems)]
    table = pd.concat(parts, ignore_index=True).rename(columns={"metric": "contestant"}).assign(kind=KINDS[3])
    return _by_statistic(table).dropna(subset=["value"])[_HELD].reset_index(drop=True)


def passing(held: Held) -> pd.DataFrame:
    """Count the metrics that pass each human contestant, by each statistic.

    Returns statistic, person, kind, value, metrics, above (metrics with a higher value), surely (those whose paired
    difference has a 95 % interval above 0), below (surely lower), best (metric), difference (best minus person), low,
    high. Caveat: the best of many metrics is chosen on these scores, so that its difference is too large rather than
    too small, and the counts are not corrected for the number of comparisons.
    """
    rows: list[dict[str, object]] = []
    for name, part in held.table.groupby("statistic", sort=False):
        metrics = part[part["kind"] == "metric"]
        best = int(metrics["value"].argmax())
        for person in part[part["kind"].isin(KINDS[:2])].itertuples():
            gap = held.drawn[:, metrics.index] - held.drawn[:, [person.Index]]
            low, high = np.nanpercentile(gap, [2.5, 97.5], axis=0)
            row = {"statistic": name, "person": person.contestant, "kind": person.kind, "value": person.value}
            row |= {"metrics": len(metrics), "above": int((metrics["value"] > person.value).sum())}
            row |= {"surely": int((low > 0).sum()), "below": int((high < 0).sum())}
            first = metrics.iloc[best]
            row |= {"best": first["contestant"], "difference": first["value"] - person.value}
            rows.append(row | {"low": low[best], "high": high[best]})
    return pd.DataFrame(rows)


def leaders(passed: pd.DataFrame) -> pd.DataFrame:
    """Keep of each statistic, and gold, the best one person's worth and two people's worth: rows of ``passing``.

    >>> passed = pd.DataFrame({"statistic": "SPA", "kind": "one person", "person": ["a", "b"], "value": [0.7, 0.8]})
    >>> leaders(passed)["person"].tolist()
    ['b']
    """
    order = passed.sort_values("value", ascending=False, kind="stable")
    by = [name for name in ("gold", "statistic", "kind") if name in passed]
    return order.drop_duplicates(by).sort_index().reset_index(drop=True)


def tied(entered: Contest) -> pd.Series:
    """Say for each contestant, and for the gold, which share of the pairs of translations of a segment it ties."""
    i, j = np.triu_indices(len(entered.segments.systems), 1)
    names = [entered.segments.gold, *entered.segments.metrics]
    values = np.concatenate([entered.segments.human[None], entered.segments.values])
    return pd.Series((values[:, i] == values[:, j]).mean(axis=(1, 2)), index=names)


def together(held: Mapping[str, Held], floors: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Put the contests of several golds, with their floors, into one table: gold and the columns of ``Held.table``.

    In each gold and statistic, people stand first, then metrics, then what knows nothing, the best of each first.
    """
    parts = [pd.concat([one.table, floors[gold]]).assign(gold=gold) for gold, one in held.items()]
    table = pd.concat(parts, ignore_index=True)
    keys = {"gold": list(held), "statistic": list(rankings.MAIN.values()), "kind": list(KINDS)}
    ranks = pd.DataFrame({name: table[name].map({one: n for n, one in enumerate(of)}) for name, of in keys.items()})
    order = ranks.assign(value=-table["value"]).sort_values([*keys, "value"], kind="stable").index
    return table.loc[order, ["gold", "contestant", "kind", "statistic", "value", "low", "high"]].reset_index(drop=True)


def passing_everywhere(held: Mapping[str, Held]) -> pd.DataFrame:
    """Count who passes whom under every gold: gold and the columns of ``passing``."""
    parts = [passing(one) for one in held.values()]
    table = pd.concat(parts, ignore_index=True)
    table.insert(0, "gold", np.repeat(list(held), [len(part) for part in parts]))
    return table


def limited(best: pd.DataFrame, *, statistic: str, gold: str) -> str:
    """Say how many metrics are surely ahead of people, and how many on the other level, and with other golds.

    best: the result of ``leaders`` of ``passing_everywhere``.

    >>> found = pd.DataFrame({"gold": ["WMT-MQM", "MQM-1"] * 2, "statistic": ["SPA"] * 2 + ["segment acc_eq"] * 2})
    >>> limited(found.assign(kind="one person", surely=[0, 0, 9, 4], metrics=20), statistic="segment acc_eq",
    ...         gold="WMT-MQM").split(". ")[1]
    'By statistics of systems it is 0 of 20, with other people as the gold 4: none of this makes metrics better judges.'
    """
    one = best[best["kind"] == KINDS[0]]
    same, named = one["gold"] == gold, one["statistic"] == statistic
    row, segments = one[same & named].iloc[0], one["statistic"].str.startswith("segment")
    ours = statistic.startswith("segment")
    others = [_between(one.loc[rows, "surely"]) for rows in (same & (segments != ours), ~same & named)]
    return (
        f"By {rankings.WORDS.get(statistic, statistic)}, {row['surely']} of {row['metrics']} metrics surely agree "
        f"better with {NAMES[gold]} than any other single collection by people. By statistics of "
        f"{'systems' if ours else 'segments'} it is {others[0]} of {row['metrics']}, with other people as the gold "
        f"{others[1]}: none of this makes metrics better judges."
    )


def _between(counts: pd.Series) -> str:
    low, high = counts.min(), counts.max()
    return f"{low}" if low == high else f"{low} to {high}"


def lengths(outputs: pd.DataFrame) -> pd.DataFrame:
    """Turn translations (column ``hypothesis``) into scores of the metric "length", their number of characters.

    >>> outputs = pd.DataFrame({"system": ["A"], "segment": ["1"], "hypothesis": ["Good day!"]})
    >>> lengths(outputs).to_dict("records")
    [{'system': 'A', 'segment': '1', 'metric': 'length', 'score': 9.0}]
    """
    score = outputs["hypothesis"].fillna("").str.len().astype(float)
    return outputs.drop(columns=["hypothesis", "source", "reference", "domain"], errors="ignore").assign(
        metric="length", score=score
    )


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
    part = pd.factorize(pd.Series(documents, dtype=object), sort=True)[0] % _FOLDS
    predicted = np.full(len(target), np.nan)
    for held_out in np.unique(part):
        train = (part != held_out) & np.isfinite(target)
        if train.sum() > 1:
            scaler = StandardScaler().fit(inputs[train])
            model = Ridge(alpha=1.0).fit(scaler.transform(inputs[train]), target[train])
            rows = scaler.transform(inputs[part == held_out]) * model.coef_
            predicted[part == held_out] = model.intercept_ + rows.sum(axis=1)  # row by row: equal texts tie to the bit
    return predicted


def sentinels(outputs: pd.DataFrame, human_scores: pd.DataFrame) -> pd.DataFrame:
    """Score translations of one language pair by metrics that cannot know better: columns as of scores of segments.

    source length, length: characters of the source (shorter counts as better) and of the translation (longer does);
    source only, output only: eight counts of either, weighted to fit human scores of other documents.

    outputs: src_lang, tgt_lang, system, doc, segment, source, hypothesis. human_scores: one kind, of the same pair; the
    regressions learn from those of other documents.
    """
    keys = [name for name in _KEYS if name in outputs]
    table = outputs.astype(dict.fromkeys(keys, "str"))
    people = human_scores[[*keys, "score"]].astype(dict.fromkeys(keys, "str"))
    target = table[keys].merge(people, on=keys, how="left")["score"].to_numpy(float)
    names = table[keys]
    own = {"source length": -table["source"].fillna("").str.len().to_numpy(float)}
    for name, column in (("source only", "source"), ("output only", "hypothesis")):
        distinct, place = np.unique(table[column].fillna("").to_numpy(object), return_inverse=True)
        own[name] = cross_validated(features(pd.Series(distinct))[place], target, table["doc"].tolist())
    parts = [names.assign(metric=name, score=score) for name, score in own.items()]
    return pd.concat([*parts, lengths(table)[[*keys, "metric", "score"]]], ignore_index=True).dropna(subset=["score"])


def every_grouping(
    segments: Scores, domains: Mapping[str, str] | None = None, *, systems: Scores | None = None, seed: int = 7
) -> pd.DataFrame:
    """Evaluate metrics by all statistics, and besides by differences within pairs, by documents and by domains.

    segments: names of segments begin with their document (``document:segment``). domains: document -> domain.
    systems: the metrics' own scores of systems; None: means over the segments that people judged.
    Returns level (system, segment, document, domain), statistic, grouping, metric, value. By one domain alone, and
    where a document is a segment, nothing new is said, and rows are left out.
    """
    documents = [name.rsplit(":", 1)[0] for name in segments.segments]
    whole = averaged(segments, ["all"] * len(documents))
    whole = Scores(whole.metrics, whole.systems, ("",), whole.values, whole.human) if systems is None else systems
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
