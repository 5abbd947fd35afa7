"""People as contestants: each human collection held against another one exactly as a metric is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import schemas
from evalkit.metrics.metaeval import chance, intervals, rankings
from evalkit.metrics.metaeval.scores import Scores, align
from evalkit.stats.inference import interval

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
_PAIR = ["src_lang", "tgt_lang"]
_KEYS = [*_PAIR, *schemas.ITEM]


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
    length = _same_cells(chance.lengths(outputs), people)
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


def of_systems(scores: Scores) -> Scores:
    """Average scores of segments over each system."""
    values, human = scores.values.mean(axis=2, keepdims=True), scores.human.mean(axis=1, keepdims=True)
    return replace(scores, segments=("",), values=values, human=human)


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
    tables, drawn = [], []
    for scores in (entered.segments, entered.systems):
        table, draws = intervals.draws(scores, resamples=resamples, flips=flips, unit="document", seed=seed)
        table["statistic"] = rankings.label(table)
        wanted = table["statistic"].isin(rankings.MAIN.values()).to_numpy()
        tables.append(table[wanted])
        drawn.append(draws[:, wanted])
    table, draws = pd.concat(tables, ignore_index=True), np.concatenate(drawn, axis=1)
    order = _order(table["statistic"])
    table, draws = table.iloc[order].reset_index(drop=True), draws[:, order]
    table = table.rename(columns={"metric": "contestant"}).assign(kind=table["metric"].map(dict(entered.kinds)))
    ends = np.array([_ends(column) for column in draws.T])
    table["low"], table["high"] = ends.T
    return Held(table[["contestant", "kind", "statistic", "value", "low", "high"]], draws)


def _order(statistics: pd.Series) -> np.ndarray:
    """Sort rows by statistic, in the order of ``rankings.MAIN``, and leave them as they are within."""
    place = {name: number for number, name in enumerate(rankings.MAIN.values())}
    return np.argsort(statistics.map(place).to_numpy(), kind="stable")


def _ends(drawn: np.ndarray) -> tuple[float, float]:
    defined = drawn[np.isfinite(drawn)]
    low, high = interval(defined) if len(defined) else (np.nan, np.nan)
    return float(low), float(high)


def floor(entered: Contest, *, seed: int = 7) -> pd.DataFrame:
    """Say what a constant and random scores come to before the same gold: the columns of ``Held.table``.

    low and high of random scores hold 95 % of 20 draws; a constant has no correlation, and no row for one.
    """
    found = pd.concat([chance.chance(scores, seed=seed) for scores in (entered.segments, entered.systems)])
    found = found.assign(statistic=rankings.label(found), kind=KINDS[3]).rename(columns={"metric": "contestant"})
    found = found[found["statistic"].isin(rankings.MAIN.values())].dropna(subset=["value"])
    order = _order(found["statistic"])
    return found.iloc[order][["contestant", "kind", "statistic", "value", "low", "high"]].reset_index(drop=True)


def passing(held: Held, *, statistics: Sequence[str] = ()) -> pd.DataFrame:
    """Count the metrics that pass each human contestant, by each statistic.

    Returns statistic, person, kind, value, metrics, above (metrics with a higher value), surely (those whose paired
    difference has a 95 % interval above 0), below (surely lower), best (metric), difference (best minus person), low,
    high. Caveat: the best of many metrics is chosen on these scores, so that its difference is too large rather than
    too small, and the counts are not corrected for the number of comparisons.
    """
    rows: list[tuple[object, ...]] = []
    for name, part in held.table.groupby("statistic", sort=False):
        if statistics and name not in statistics:
            continue
        metrics = part[part["kind"] == "metric"]
        best = metrics["value"].idxmax()
        for place in part.index[part["kind"].isin(KINDS[:2])]:
            gap = held.drawn[:, metrics.index] - held.drawn[:, [place]]
            low, high = np.nanpercentile(gap, [2.5, 97.5], axis=0)
            chosen = metrics.index.get_loc(best)
            person = part.loc[place]
            above = int((metrics["value"] > person["value"]).sum())
            counts = (len(metrics), above, int((low > 0).sum()), int((high < 0).sum()))
            difference = metrics.loc[best, "value"] - person["value"]
            rows.append(
                (
                    name,
                    person["contestant"],
                    person["kind"],
                    person["value"],
                    *counts,
                    metrics.loc[best, "contestant"],
                    difference,
                    low[chosen],
                    high[chosen],
                )
            )
    columns = ["statistic", "person", "kind", "value", "metrics", "above", "surely", "below", "best", "difference"]
    return pd.DataFrame(rows, columns=[*columns, "low", "high"])


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


def turns(best: pd.DataFrame) -> pd.DataFrame:
    """Lay out by statistic and gold how many metrics are surely ahead of / surely behind the best one person's worth.

    best: the result of ``leaders`` of ``passing_everywhere``.

    >>> row = {"gold": "MQM-1", "statistic": "SPA", "kind": "one person", "surely": 0, "below": 4}
    >>> turns(pd.DataFrame([row])).values.tolist()
    [['SPA', '0 / 4']]
    """
    one = best[best["kind"] == KINDS[0]]
    one = one.assign(told=one["surely"].astype(str) + " / " + one["below"].astype(str))
    wide = one.pivot(index="statistic", columns="gold", values="told")
    rows, columns = list(dict.fromkeys(one["statistic"])), list(dict.fromkeys(one["gold"]))
    return wide.loc[rows, columns].reset_index().rename_axis(columns=None)


def firsts(compared: pd.DataFrame, statistic: str) -> pd.Series:
    """Name the first metric by a statistic under each gold; compared: the result of ``together``."""
    metrics = compared[(compared["statistic"] == statistic) & (compared["kind"] == KINDS[2])]
    return metrics.drop_duplicates("gold").set_index("gold")["contestant"]


def more_people(compared: pd.DataFrame, *, gold: str, statistic: str) -> str:
    """Say in a sentence what two people's worth adds to one; empty where the gold leaves no two."""
    own = compared[(compared["gold"] == gold) & (compared["statistic"] == statistic)].set_index("contestant")["value"]
    told = [
        f"{NAMES[one]} {own[one]:.3f} and {NAMES[other]} {own[other]:.3f} alone, {own[both]:.3f} together"
        for both, (one, other) in TWO.items()
        if both in own
    ]
    what = rankings.WORDS.get(statistic, statistic)
    return f"Two people's worth against one, by {what}: {'; '.join(told)}." if told else ""


def below_length(compared: pd.DataFrame, *, gold: str) -> str:
    """Say in a sentence by which statistic the length of a translation comes out ahead of people's scores."""
    told = []
    for name, own in compared[compared["gold"] == gold].groupby("statistic", sort=False):
        length = own.loc[own["contestant"] == "length", "value"].max()
        people = own[own["kind"].isin(KINDS[:2])]
        behind = int((people["value"] < length).sum())
        if behind:
            told.append(f"{behind} of {len(people)} by {rankings.WORDS.get(name, name)}")
    return f"Human contestants behind the mere length of the translation: {', '.join(told) or 'none'}."
