"""Judges that are models, held against people: may one of them stand in for an annotator?

``alternative_annotator`` is the test; it is run on many judges and sets of annotators: those of several protocols
(``every_set``), of direct assessments (``direct_assessments``) and of marked errors (``marked_errors``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair
from evalkit.human.protocols import bias
from evalkit.human.protocols.agreement import masks
from evalkit.stats import inference

#: Says how alike two answers are; the higher, the nearer.
Alike = Callable[[Any, Any], float]
#: Name, kind (people, metric or knows nothing) and answers by item of a judge.
Judge = tuple[str, str, pd.Series]
#: Sets of annotators: two collections each, so that each translation has two judgements.
SETS = {"ESA": ("ESA-1", "ESA-2"), "ESA^AI": ("ESAAI-1", "ESAAI-2")}
#: The judge that gives everything the same answer, whom nobody would want: where it passes, passing means little.
CONSTANT, NOTHING = "a constant", "no marks"
#: A judge of direct assessments: the mean log probability that the translating model gave its output; of marked errors:
#: the model's suggested marks where all of them are known.
TRANSLATING, SUGGESTED = "translating model's score", "GEMBA-MQM's marks"
#: Fewest annotators of an item, and items of an annotator, for either to count.
_PEOPLE, _ITEMS = 2, 30
_MARKED = ("ESAAI-1", "ESAAI-2", "MQM-1", "WMT-MQM")  # collections that are tried in place of ESA's people, by marks
_OTHERS = ("ESA-1", "ESA-2", *_MARKED, "WMT-DASQM")
_LANGUAGES = ["src_lang", "tgt_lang"]


# The test


def alternative_annotator(
    people: pd.DataFrame, judge: pd.Series, *, alignment: str | Alike = "accuracy", epsilons: Sequence[float] = (0.2,)
) -> pd.DataFrame:
    r"""Test whether a judge may stand in for the annotators of a campaign.

    people: items × annotators, missing where somebody did not judge an item. judge: its answers, by item. Items with
    fewer than two people or without the judge, and people with fewer than 30 of the rest, are left out.
    alignment: "accuracy" for labels (the share of others' answers that is the same), "rmse" for numbers (the root of
    the mean squared distance to them), or a function that says how alike two answers are (spans, for
    instance); the higher the nearer. epsilons: what a cheaper judge is allowed; the authors advise 0.2 where it
    replaces experts, 0.15 for skilled people, and 0.1 for crowds. The false discovery rate over people is 5 %.
    Each person j is left out in turn. On each of their items, judge and person are held against the others:
    :math:`W^f` is 1 where the judge is at least as near, :math:`W^h` where the person is. The judge wins over j
    where :math:`\overline{W^h - W^f} < \epsilon` beyond chance (one-sided t-test; Benjamini & Yekutieli over people).
    Returns a row per epsilon and tested person: epsilon, annotator, items, ahead (share of items in which the judge is
    at least as near to the others as this person is), behind (the opposite; ties count in both), p, wins.
    Source: Calderon, Reichart & Dror 2025, *The Alternative Annotator Test for LLM-as-a-Judge*.
    Caveat: items count as independent, which those of one document are not. The others are no truth: a judge that
    shares their errors passes, and one that is better than they are may fail. With two people on an item, "the others"
    are one person. Raises DataError where nobody can be tested.

    >>> truth = np.arange(40) % 3
    >>> people = pd.DataFrame({name: np.where(np.arange(40) % 10 == n, 3, truth) for n, name in enumerate("abc")})
    >>> found = alternative_annotator(people, pd.Series(truth), epsilons=[0.1])
    >>> found["wins"].tolist(), verdicts(found)["passed"].tolist()
    ([True, True, True], [True])
    """
    judge = judge.reindex(people.index)
    kept = (people.notna().sum(axis=1) >= _PEOPLE) & judge.notna()
    people, judge = people[kept], judge[kept]
    tested = people.notna().sum() >= _ITEMS
    if not tested.any():
        raise DataError(
            f"No annotator has {_ITEMS} items that the judge and somebody else judged as well. The test needs as many."
        )
    nearer = np.subtract(*_nearness(people, judge, alignment))  # by how much the person is nearer than the judge
    gap = np.where(people.notna(), np.sign(nearer), np.nan)[:, tested]  # an alignment may say nothing of some answers
    items, parts = np.isfinite(gap).sum(axis=0), []
    mean, error = np.nanmean(gap, axis=0), np.nanstd(gap, axis=0, ddof=1) / np.sqrt(items)
    found = {"annotator": people.columns[tested].astype("str"), "items": items}
    found |= {"ahead": (gap <= 0).sum(axis=0) / items, "behind": (gap >= 0).sum(axis=0) / items}
    for epsilon in epsilons:
        with np.errstate(invalid="ignore", divide="ignore"):
            p = np.nan_to_num(stats.t.cdf((mean - epsilon) / error, items - 1), nan=1.0)  # where nothing varies
        wins = inference.adjust(p, method="fdr_by") <= 0.05
        parts.append(pd.DataFrame({"epsilon": epsilon} | found | {"p": p, "wins": wins}))
    return pd.concat(parts, ignore_index=True)


def verdicts(tested: pd.DataFrame) -> pd.DataFrame:
    """Sum up what ``alternative_annotator`` found: a row per epsilon.

    Returns epsilon, winning_rate (share of the tested people whom the judge may replace), advantage (probability that
    it is at least as near to the others as a person is, the mean over people), annotators (that were tested), passed
    (whether it may replace half of them or more).
    """
    columns = {"winning_rate": ("wins", "mean"), "advantage": ("ahead", "mean"), "annotators": ("annotator", "size")}
    table = tested.groupby("epsilon", sort=False).agg(**columns).reset_index()
    return table.assign(passed=table["winning_rate"] >= 0.5)


def _nearness(people: pd.DataFrame, judge: pd.Series, alignment: str | Alike) -> tuple[np.ndarray, np.ndarray]:
    """Say how near each person, and the judge in their place, is to the others of each item: two items × annotators.

    Only the order of the two matters, and both are over the same others, so that sums do for means, exactly where
    answers are whole numbers.
    """
    there = people.notna().to_numpy()
    if alignment == "rmse":
        filled = people.fillna(0).to_numpy(float)
        number = there.sum(axis=1, keepdims=True) - there
        sums = filled.sum(axis=1, keepdims=True) - filled
        squares = (filled**2).sum(axis=1, keepdims=True) - filled**2
        own = judge.to_numpy(float)[:, None]
        persons, judges = (squares - 2 * one * sums + number * one**2 for one in (filled, own))
        return -np.round(persons, 9), -np.round(judges, 9)
    near = operator.eq if alignment == "accuracy" else alignment
    assert callable(near)
    given, own = people.to_numpy(object), judge.to_numpy(object)
    persons, judges = np.zeros(given.shape), np.zeros(given.shape)
    for item, one in zip(*np.nonzero(there), strict=True):
        others = [given[item, other] for other in np.flatnonzero(there[item]) if other != one]
        persons[item, one] = sum(near(given[item, one], other) for other in others)
        judges[item, one] = sum(near(own[item], other) for other in others)
    return persons, judges


def trials(
    people: pd.DataFrame, judges: Iterable[Judge], *, alignment: str | Alike = "rmse", epsilons: Sequence[float]
) -> pd.DataFrame:
    """Try judges in place of the people of one set: a row per judge and epsilon, the highest advantage first.

    people: items × annotators, answers that can be compared as they are. Returns judge, kind, epsilon, winning_rate,
    advantage, passed, annotators (that were tested), items.
    """
    parts = []
    for name, kind, own in judges:
        found = verdicts(alternative_annotator(people, own, alignment=alignment, epsilons=epsilons))
        items = int(own.reindex(people.index).notna().sum())
        parts.append(found.assign(judge=name, kind=kind, items=items))
    order = ["judge", "kind", "epsilon", "winning_rate", "advantage", "passed", "annotators", "items"]
    how: dict[str, Any] = {"ascending": [False, True, True], "kind": "stable", "ignore_index": True}
    return pd.concat(parts)[order].sort_values(["advantage", "judge", "epsilon"], **how)


def beside_nothing(tried: pd.DataFrame, *, epsilon: float) -> pd.DataFrame:
    """Put the best model of each set of annotators beside the judge that knows nothing, where this wins most first.

    tried: data and the columns of ``trials``. Returns data, annotators, judge (the metric or model with the highest
    winning rate, then advantage), rate, advantage, passed, nothing (the judge that knows nothing), its rate and
    advantage, and whether it passed; the last four end in ``_nothing``.

    >>> row = {"data": "d", "epsilon": 0.1, "annotators": 3, "advantage": 0.8}
    >>> tried = pd.DataFrame([row | {"judge": "m", "kind": "metric", "winning_rate": 1 / 3, "passed": False},
    ...                       row | {"judge": "c", "kind": "knows nothing", "winning_rate": 2 / 3, "passed": True}])
    >>> beside_nothing(tried, epsilon=0.1)[["judge", "passed", "nothing", "passed_nothing"]].values.tolist()
    [['m', False, 'c', True]]
    """
    own = tried[tried["epsilon"] == epsilon].rename(columns={"winning_rate": "rate"})
    own = own.sort_values(["rate", "advantage"], ascending=False, kind="stable").drop_duplicates(["data", "kind"])
    columns = ["data", "annotators", "judge", "rate", "advantage", "passed"]
    model, nothing = (own.loc[own["kind"] == kind, columns] for kind in ("metric", "knows nothing"))
    table = model.merge(nothing.drop(columns="annotators"), on="data", suffixes=("", "_nothing"))
    table = table.rename(columns={"judge_nothing": "nothing"})
    return table.sort_values(["rate_nothing", "advantage_nothing"], ascending=False, kind="stable", ignore_index=True)


# Metrics and other collections in place of people


def stand_ins(
    scored: pd.DataFrame,
    metrics: pd.DataFrame,
    *,
    collections: Sequence[str],
    people: Sequence[str] = (),
    epsilons: Sequence[float],
    scale: str = "z",
) -> pd.DataFrame:
    """Try every metric, and other collections, as annotators of some collections: the alternative annotator test.

    scored: the result of ``protocols.scores``; translations by systems only. metrics: segment scores of the judges to
    try, one row per judge and translation. collections: whose annotators may be replaced; each translation then has as
    many judgements as there are collections. people: collections that are tried as judges themselves. scale: "z"
    centres and scales each annotator's scores, and each judge's; "rank" takes ranks from 0 to 1 in place of that.
    How near two answers are is the distance of their scaled scores.
    A judge that gives everything the same score (``CONSTANT``) is tried with them. Returns the columns of ``trials``.
    Caveat: scaling supposes that annotators saw translations of like quality; and a judge who hardly leaves the middle
    of the scale is near to everybody, whether or not it can tell good from bad. See also ``alternative_annotator``.
    """
    outputs = scored[scored["item_type"] == "system"]
    own = outputs[outputs["protocol"].isin(collections)]
    wide = own.assign(annotator=_who(own)).pivot(index=ITEM, columns="annotator", values="score")
    table, judges = wide.apply(scaled, scale=scale), list[Judge]()
    for kind, name, scores in [*_collections(outputs, people), *_metrics(metrics, scored)]:
        if scores.reindex(table.index).notna().any():
            judges.append((name, kind, scaled(scores.reindex(table.index), scale)))
    judges.append((CONSTANT, "knows nothing", pd.Series(0.0 if scale == "z" else 0.5, index=table.index)))
    return trials(table, judges, epsilons=epsilons)


def _who(own: pd.DataFrame) -> pd.Series:
    """Name annotators; a person of two collections counts as one in each."""
    return own["protocol"].astype("str") + " " + own["annotator"].fillna("").astype("str")


def _collections(outputs: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[str, str, pd.Series]]:
    """Yield collections as judges, each annotator's scores scaled where annotators are known."""
    for name in names:
        own = outputs[outputs["protocol"] == name]
        yield "people", name, own.set_index(ITEM)["score"].groupby(_who(own).to_numpy()).transform(scaled, scale="z")


def _metrics(metrics: pd.DataFrame, scored: pd.DataFrame) -> Iterator[tuple[str, str, pd.Series]]:
    """Yield metrics as judges."""
    for pair in _LANGUAGES:
        metrics = metrics[metrics[pair].isin(scored[pair].unique())]
    for name, own in metrics.groupby("metric", observed=True, sort=False):
        yield "metric", str(name), own.astype(dict.fromkeys(ITEM, "str")).set_index(ITEM)["score"]


def scaled(scores: pd.Series, scale: str = "z") -> pd.Series:
    """Put scores on a scale that annotators share; scores that do not vary are 0 (z) or in the middle (rank)."""
    if scale == "rank":
        return (scores.rank() - 0.5) / scores.count()
    spread = scores.std()
    return (scores - scores.mean()) / (spread if spread > 0 else 1.0)


def chosen(metrics: pd.DataFrame, wanted: Sequence[str]) -> list[str]:
    """Choose metrics whose names begin like one of those wanted; where none does, the last four in the alphabet.

    >>> chosen(pd.DataFrame({"metric": ["XCOMET-XL", "BLEU", "chrF"]}), ["XCOMET", "BLEU"])
    ['BLEU', 'XCOMET-XL']
    """
    names = sorted(map(str, metrics["metric"].unique()))
    return [name for name in names if name.startswith(tuple(wanted))] or names[-4:]


def every_set(
    scored: pd.DataFrame, metrics: pd.DataFrame, *, rated: pd.DataFrame, epsilons: Sequence[float], scale: str = "z"
) -> pd.DataFrame:
    """Try metrics and other collections in place of the people of ESA, and of ESA with suggested marks (``SETS``).

    rated: single judgements of another campaign (``wmt23-mqm``), whose people, too, may be replaced by metrics: on the
    translations that two of them or more judged, in language pairs where somebody judged 30. Returns data (the name of
    the set) and the columns of ``trials``.
    """
    sets: dict[str, tuple[pd.DataFrame, tuple[str, ...]]] = {name: (scored, own) for name, own in SETS.items()}
    key = [*_LANGUAGES, *ITEM]
    again = rated[rated["item_type"] == "system"].astype(dict.fromkeys([*key, "annotator"], "str"))
    again = again[again.groupby(key)["annotator"].transform("nunique") >= _PEOPLE].assign(protocol="MQM")
    for (source, target), part in again.groupby(_LANGUAGES):
        if not part.duplicated([*ITEM, "annotator"]).any() and part.groupby("annotator").size().max() >= _ITEMS:
            sets[f"MQM {source}-{target}"] = part, ("MQM",)
    parts = []
    for name, (table, own) in sets.items():
        others = [one for one in _OTHERS if one not in own and (table["protocol"] == one).any()]
        tried = stand_ins(table, metrics, collections=own, people=others, epsilons=epsilons, scale=scale)
        parts.append(tried.assign(data=name))
    return pd.concat(parts, ignore_index=True)


# Direct assessments, of which a release tells only lines of z-scores


def direct_assessments(people: pd.DataFrame, *, epsilons: Sequence[float]) -> pd.DataFrame:
    """Try judges in place of people in each language pair of ``data.load("mlqe-pe-people")``.

    People's answers are the release's z-scores; judges are standardised over the pair. Returns data (the pair) and the
    columns of ``trials``.
    """
    key, parts = ["doc", "segment"], []
    for pair, own in with_pair(people).groupby("pair"):
        wide = own.pivot(index=key, columns="annotator", values="z")
        model = own.drop_duplicates(key).set_index(key)["model_score"].loc[wide.index]
        judges = [(TRANSLATING, "metric", scaled(model)), (CONSTANT, "knows nothing", pd.Series(0.0, index=wide.index))]
        parts.append(trials(wide, judges, epsilons=epsilons).assign(data=f"MLQE-PE {pair}"))
    return pd.concat(parts, ignore_index=True)


# Marked errors


def alike(one: int, other: int) -> float:
    r"""Say how alike two people's marks of one translation are: the F1 of marked characters, 1 where neither marks any.

    .. math:: F_1 = 2 |A \cap B| / (|A| + |B|)

    one, other: whole numbers, see ``agreement.masks``. Caveat: a mark beside the right word counts as nothing, and
    severities not at all.

    >>> round(alike(0b1111, 0b11111100), 3), alike(0, 0), alike(0, 1)
    (0.4, 1.0, 0.0)
    """
    total = one.bit_count() + other.bit_count()
    return 2 * (one & other).bit_count() / total if total else 1.0


def marked_errors(
    scored: pd.DataFrame, marked: pd.DataFrame, released: pd.DataFrame, *, epsilons: Sequence[float]
) -> pd.DataFrame:
    """Try other people's marks, and those that a model suggested, in place of the people of ESA.

    scored: the result of ``protocols.scores``. marked: marks of all collections, as ``agreement.with_wmt`` gives them.
    released: scores as released, which tell where the suggestions are known. Returns data and the columns of
    ``trials``.
    Caveat: the release has the model's marks only where people left them standing. They are tried on translations where
    none can be missing, which are those whose suggestions people found worth keeping, or that had none.
    """
    people = answers(scored[scored["protocol"].isin(SETS["ESA"])], marked)
    judges = list[Judge]()
    for name in _MARKED:
        own = scored[scored["protocol"] == name]
        if len(own):
            judges.append((name, "people", answers(own.assign(annotator=""), marked).iloc[:, 0]))
    items = bias.fully_known(marked, released).intersection(people.index)
    left = masks(bias.known_suggestions(marked).assign(item_type="system"), ITEM)
    judges.append((SUGGESTED, "metric", left.reindex(items, fill_value=0)))
    judges.append((NOTHING, "knows nothing", pd.Series(0, index=people.index, dtype=object)))
    return trials(people, judges, alignment=alike, epsilons=epsilons).assign(data="ESA marks")


def answers(scored: pd.DataFrame, marked: pd.DataFrame) -> pd.DataFrame:
    """Lay people's marks out as items × annotators of ``agreement.masks``; empty where somebody did not judge.

    scored: judgements (protocol, annotator, ``ITEM``), outputs of systems only. marked: error marks of the same
    protocols. One column is one person in one collection.
    """
    key = ["protocol", *ITEM]
    own = scored[scored["item_type"] == "system"].astype(dict.fromkeys(key, "str"))
    mask = masks(marked, key).reindex(pd.MultiIndex.from_frame(own[key]), fill_value=0)
    return own.assign(who=_who(own), mask=mask.to_numpy()).pivot(index=ITEM, columns="who", values="mask")
