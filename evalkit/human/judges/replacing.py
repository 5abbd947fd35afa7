"""May a metric, a model or another collection stand in for the annotators of a campaign?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import schemas
from evalkit.human.judges.alternative import Alike, alternative_annotators
from evalkit.stats.terms import join_names

#: How scores on different scales are made comparable: standardised, or as ranks.
SCALES = ("z", "rank")
#: Sets of annotators: two collections each, so that each translation has two judgements.
SETS = {"ESA": ("ESA-1", "ESA-2"), "ESA^AI": ("ESAAI-1", "ESAAI-2")}
#: The judge that gives everything the same score, whom nobody would want: where it passes, passing means little.
CONSTANT = "a constant"
_OTHERS = ("ESA-1", "ESA-2", "ESAAI-1", "ESAAI-2", "MQM-1", "WMT-MQM", "WMT-DASQM")
_KEYS = list(schemas.ITEM)


def stand_ins(
    scored: pd.DataFrame,
    metrics: pd.DataFrame,
    *,
    collections: Sequence[str],
    people: Sequence[str] = (),
    epsilons: Sequence[float] = (0.1, 0.15, 0.2),
    scale: str = "z",
) -> pd.DataFrame:
    """Try every metric, and other collections, as annotators of some collections: the alternative annotator test.

    scored: the result of ``protocols.scores``; translations by systems only. metrics: segment scores of the judges to
    try, one row per judge and translation. collections: whose annotators may be replaced; each translation then has as
    many judgements as there are collections. people: collections that are tried as judges themselves. scale: "z"
    centres and scales each annotator's scores, and each judge's; "rank" takes ranks from 0 to 1 in place of that.
    How near two answers are is the distance of their scaled scores.
    A judge that gives everything the same score (``CONSTANT``) is tried with them.
    Returns judge, kind (people, metric or knows nothing), epsilon, winning_rate, advantage, passed, annotators (that
    were tested), items. Caveat: scaling supposes that annotators saw translations of like quality; and a judge who
    hardly leaves the middle of the scale is near to everybody, whether or not it can tell good from bad. See also
    ``alternative_annotator``. Raises DataError for an unknown scale, and where no judge scored these translations.
    """
    if scale not in SCALES:
        raise DataError(f"There is no scale {scale!r}. Choose {' or '.join(SCALES)}.")
    table, judges = _annotators(scored, collections, scale), []
    whose = {name: scored[(scored["protocol"] == name) & (scored["item_type"] == "system")] for name in people}
    for kind, name, own in [*_people(whose), *_metrics(metrics, scored)]:
        own = own.reindex(table.index)
        if own.notna().any():
            judges.append((name, kind, scaled(own, scale)))
    if not judges:
        raise DataError(f"No judge scored what was judged in {' and '.join(collections)}. Check names and languages.")
    judges.append((CONSTANT, "knows nothing", pd.Series(0.0 if scale == "z" else 0.5, index=table.index)))
    return trials(table, judges, epsilons=epsilons)


def trials(
    people: pd.DataFrame,
    judges: Iterable[tuple[str, str, pd.Series]],
    *,
    alignment: str | Alike = "rmse",
    epsilons: Sequence[float],
) -> pd.DataFrame:
    """Try judges in place of the people of one set: a row per judge and epsilon, the highest advantage first.

    people: items × annotators, answers that can be compared as they are. judges: name, kind and answers by item.
    Returns the columns of ``stand_ins``.
    """
    rows = []
    for name, kind, own in judges:
        number = int(own.reindex(people.index).notna().sum())
        for found in alternative_annotators(people, own, alignment=alignment, epsilons=epsilons):
            told = (found.winning_rate, found.advantage, found.passed, len(found.annotators), number)
            rows.append((name, kind, found.epsilon, *told))
    columns = ["judge", "kind", "epsilon", "winning_rate", "advantage", "passed", "annotators", "items"]
    return pd.DataFrame(rows, columns=columns).sort_values(
        ["advantage", "judge", "epsilon"], ascending=[False, True, True], kind="stable", ignore_index=True
    )


def _annotators(scored: pd.DataFrame, collections: Sequence[str], scale: str) -> pd.DataFrame:
    """Lay scaled scores out as items × annotators; a person of two collections counts as one in each."""
    own = scored[scored["protocol"].isin(collections) & (scored["item_type"] == "system")]
    if own.empty:
        raise DataError(f"There are no scores of {' or '.join(collections)} here.")
    who = own["protocol"].astype("str") + " " + own["annotator"].astype("str")
    wide = own.assign(annotator=who).pivot(index=_KEYS, columns="annotator", values="score")
    return wide.apply(scaled, scale=scale)


def _people(whose: dict[str, pd.DataFrame]) -> Iterator[tuple[str, str, pd.Series]]:
    """Yield other collections as judges, each annotator's scores scaled where annotators are known."""
    for name, own in whose.items():
        scores = own.set_index(_KEYS)["score"]
        by = own["annotator"].fillna("").astype("str").to_numpy()
        yield "people", name, scores.groupby(by).transform(scaled, scale="z")


def _metrics(metrics: pd.DataFrame, scored: pd.DataFrame) -> Iterator[tuple[str, str, pd.Series]]:
    """Yield metrics as judges."""
    for pair in ("src_lang", "tgt_lang"):
        metrics = metrics[metrics[pair].isin(scored[pair].unique())]
    for name, own in metrics.groupby("metric", observed=True, sort=False):
        yield "metric", str(name), own.astype(dict.fromkeys(_KEYS, "str")).set_index(_KEYS)["score"]


def scaled(scores: pd.Series, scale: str = "z") -> pd.Series:
    """Put scores on a scale that annotators share; scores that do not vary are 0 (z) or in the middle (rank)."""
    if scale == "rank":
        return (scores.rank() - 0.5) / scores.count()
    spread = scores.std()
    centred = scores - scores.mean()
    return centred / spread if np.isfinite(spread) and spread > 0 else centred


def chosen(metrics: pd.DataFrame, wanted: Sequence[str], *, otherwise: int = 4) -> list[str]:
    """Choose metrics whose names begin like one of those wanted; where none does, the last few in the alphabet.

    >>> chosen(pd.DataFrame({"metric": ["XCOMET-XL", "BLEU", "chrF"]}), ["XCOMET", "BLEU"])
    ['BLEU', 'XCOMET-XL']
    """
    names = sorted(map(str, metrics["metric"].unique()))
    found = [name for name in names if name.startswith(tuple(wanted))]
    return found or names[-otherwise:]


def beside_nothing(found: pd.DataFrame, *, epsilon: float) -> pd.DataFrame:
    """Put the best model of each set of annotators beside the judge that knows nothing, where this wins most first.

    found: data and the columns of ``stand_ins``. Returns data, annotators, judge (the metric or model with the highest
    winning rate, then advantage), rate, advantage, passed, nothing (the judge that knows nothing), its rate and
    advantage, and whether it passed; the last four end in ``_nothing``.

    >>> row = {"data": "d", "epsilon": 0.1, "annotators": 3, "advantage": 0.8}
    >>> found = pd.DataFrame([row | {"judge": "m", "kind": "metric", "winning_rate": 1 / 3, "passed": False},
    ...                       row | {"judge": "c", "kind": "knows nothing", "winning_rate": 2 / 3, "passed": True}])
    >>> beside_nothing(found, epsilon=0.1)[["judge", "passed", "nothing", "passed_nothing"]].values.tolist()
    [['m', False, 'c', True]]
    """
    own = found[found["epsilon"] == epsilon].rename(columns={"winning_rate": "rate"})
    own = own.sort_values(["rate", "advantage"], ascending=False, kind="stable").drop_duplicates(["data", "kind"])
    columns = ["data", "annotators", "judge", "rate", "advantage", "passed"]
    model, nothing = (own.loc[own["kind"] == kind, columns] for kind in ("metric", "knows nothing"))
    table = model.merge(nothing.drop(columns="annotators"), on="data", suffixes=("", "_nothing"))
    table = table.rename(columns={"judge_nothing": "nothing"})
    return table.sort_values(["rate_nothing", "advantage_nothing"], ascending=False, kind="stable", ignore_index=True)


def verdicts(beside: pd.DataFrame, *, epsilon: float) -> list[str]:
    """Say in sentences how often models pass, and what knows nothing; beside: the result of ``beside_nothing``."""
    passed, idle = beside[beside["passed"]], beside[beside["passed_nothing"]]
    ahead = passed["rate"] > passed["rate_nothing"]
    empty = (
        f"A judge that knows nothing passes, too, for {join_names(idle['data'].tolist())}: there, a pass says little."
    )
    return [
        f"At ε = {epsilon:g}, the best metric or model passes for {len(passed)} of {len(beside)} sets of people; in "
        f"{ahead.sum()} of these it wins over more people than a judge that knows nothing.",
        empty if len(idle) else "A judge that knows nothing passes for none of them.",
    ]


def every_set(
    scored: pd.DataFrame,
    metrics: pd.DataFrame,
    *,
    rated: pd.DataFrame | None = None,
    epsilons: Sequence[float],
    scale: str = "z",
) -> pd.DataFrame:
    """Try metrics and other collections in place of the people of ESA, and of ESA with suggested marks (``SETS``).

    rated: single judgements of another campaign (``wmt23-mqm``), whose people, too, may be replaced by metrics: on the
    translations that several of them judged, in language pairs where there are enough. Returns data (the name of the
    set) and the columns of ``stand_ins``.
    """
    parts = []
    for name, collections in SETS.items():
        others = [one for one in _OTHERS if one not in collections and (scored["protocol"] == one).any()]
        found = stand_ins(scored, metrics, collections=collections, people=others, epsilons=epsilons, scale=scale)
        found.insert(0, "data", name)
        parts.append(found)
    for name, own in _judged_by_several(rated).items():
        found = stand_ins(own, metrics, collections=["MQM"], epsilons=epsilons, scale=scale)
        found.insert(0, "data", name)
        parts.append(found)
    return pd.concat(parts, ignore_index=True)


def _judged_by_several(rated: pd.DataFrame | None) -> dict[str, pd.DataFrame]:
    """Keep, by language pair, the systems' translations that two people or more judged, if somebody judged 30."""
    if rated is None:
        return {}
    own = rated[rated["item_type"] == "system"].astype(dict.fromkeys(["src_lang", "tgt_lang", *_KEYS], "str"))
    number = own.groupby(["src_lang", "tgt_lang", *_KEYS])["annotator"].transform("nunique")
    own = own[number >= 2].assign(protocol="MQM", annotator=lambda t: t["annotator"].astype("str"))
    pairs = own.groupby(["src_lang", "tgt_lang"])
    return {
        f"MQM {a}-{b}": part
        for (a, b), part in pairs
        if not part.duplicated([*_KEYS, "annotator"]).any() and part.groupby("annotator").size().max() >= 30
    }
