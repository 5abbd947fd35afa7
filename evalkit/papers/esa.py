"""Recompute what two papers print of one campaign: ESA (Kocmi et al. 2024) and ESA^AI (Zouhar et al. 2025).

The rules are those of the authors' scripts (``scripts/ESA`` in wmt-conference/ErrorSpanAnnotation): which translations
count, which pauses, which coefficient. They need not be the best ones; the study has its own. What is printed was read
in abstracts and on the papers' posters.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from evalkit import data
from evalkit.data.provenance import merged
from evalkit.data.schemas import ITEM, segment_names
from evalkit.human import protocols
from evalkit.papers import claims
from evalkit.stats.correlation import count_pairs, pearson, spearman

#: The lists of printed numbers, as ``data.published`` names them.
LISTS = ("kocmi2024_esa", "zouhar2025_esaai")
#: Seconds above which the authors of ESA^AI take a judgement's time for a pause, and put the person's median.
PAUSE = 300.0
#: What a mark takes away where the authors make scores of marks; any other severity costs nothing.
COSTS = {"minor": 1.0, "major": 5.0, "critical": 25.0}
#: Kind of judgement -> collections of two groups of people, and of the part that was judged again.
_BETWEEN = {"ESA": ("ESA-1", "ESA-2"), "ESAAI": ("ESAAI-1", "ESAAI-2"), "MQM": ("MQM-1", "WMT-MQM")}
_AGAIN = {kind: (f"{kind}-1", f"{kind}-IAA") for kind in _BETWEEN}
_OWN = ["system", "reference"]


class Grids(NamedTuple):
    """Scores, scores made of marks, and numbers of marks: a row per translation, a column per collection."""

    scores: pd.DataFrame
    weighed: pd.DataFrame
    errors: pd.DataFrame

    def common(self) -> pd.Index:
        """Return the translations that WMT's own MQM has, too: on them the authors compare systems."""
        return self.scores.index[self.scores["WMT-MQM"].notna()]

    def everywhere(self) -> pd.Index:
        """Return the translations that every collection has, the parts judged again included."""
        return self.scores.index[self.scores.reindex(columns=list(protocols.ORDER)).notna().all(axis=1)]


def compare(
    judged: pd.DataFrame, marked: pd.DataFrame, released: pd.DataFrame, human: pd.DataFrame, *, wmt_marked: pd.DataFrame
) -> pd.DataFrame:
    """Compare the printed numbers of both papers with recomputed ones: a row for ``show.compare`` each.

    judged, marked, released: ``wmt23-protocols``, its ``-spans`` and ``-released``. human, wmt_marked: WMT's own scores
    and marks (``wmt23-human``, ``wmt23-mqm-spans``). Where one is simulated nothing is computed, for the papers speak
    of others. Returns ``claims.COLUMNS``.
    """
    used = [judged, marked, released, human, wmt_marked]
    simulated = merged(used)["source"] == "simulated"
    made = {} if simulated else claim_tables(grids(*used), judged)
    found = [claims.look_up(data.published(name), made, data=used) for name in LISTS]
    return pd.concat(found, ignore_index=True)


def grids(
    judged: pd.DataFrame, marked: pd.DataFrame, released: pd.DataFrame, human: pd.DataFrame, wmt_marked: pd.DataFrame
) -> Grids:
    """Lay every collection side by side, degraded copies left out; see ``compare`` for the tables.

    Numbers of marks are missing where a collection did not judge a translation, and for DA+SQM and the model.
    """
    table = protocols.scores(judged, released, human)
    scores = table.pivot(index=ITEM, columns="protocol", values="score")
    own = judged[judged["item_type"].isin(_OWN)]
    errors = own.pivot(index=ITEM, columns="protocol", values="errors").reindex(scores.index)
    here = wmt_marked[wmt_marked["tgt_lang"].isin(judged["tgt_lang"].unique())]
    of_wmt = here.astype(dict.fromkeys(ITEM, "str")).groupby(ITEM).size()
    errors["WMT-MQM"] = of_wmt.reindex(scores.index, fill_value=0).where(scores["WMT-MQM"].notna())
    return Grids(scores, _weighed(marked).reindex(scores.index).fillna(0.0).where(errors.notna()), errors)


def claim_tables(side: Grids, judged: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables that the claims of ``LISTS`` name."""
    timed = seconds(judged)
    own = judged[judged["item_type"].isin(_OWN)]
    kinds = own.groupby("item_type")["system"].nunique()
    sizes = {"systems": kinds.get("system", 0), "references": kinds.get("reference", 0)}
    return {
        "sizes": pd.DataFrame([sizes | {"segments": segment_names(own).nunique()}]),
        "pace": pace(timed),
        "ratio": times_faster(data.published(LISTS[0])),
        "effort": effort(timed),
        "marks": marks(side),
        "agreement": agreement(side),
        "standing": standing(side),
        "filtering": filtering(side),
        "zeros": own[["protocol", "score"]],
    }


def seconds(judged: pd.DataFrame) -> pd.DataFrame:
    """Add ``seconds``: from the start of the item before, in the same account, to that of each; 0 for its first item.

    Degraded copies are neighbours, too.

    >>> judged = pd.DataFrame({"protocol": "ESA-1", "hit": ["a", "a", "b"], "started": [30.0, 10.0, 99.0]})
    >>> seconds(judged)["seconds"].tolist()
    [0.0, 20.0, 0.0]
    """
    ordered = judged.sort_values(["protocol", "hit", "started"], kind="stable")
    gaps = ordered.groupby(["protocol", "hit"])["started"].diff()
    return ordered.assign(seconds=gaps.fillna(0.0))


def pace(timed: pd.DataFrame) -> pd.DataFrame:
    """Average people's medians of ``seconds``, degraded copies included: protocol, people, seconds.

    >>> timed = pd.DataFrame({"protocol": "ESA-1", "annotator": [*"aab"], "seconds": [10.0, 20.0, 45.0]})
    >>> pace(timed).to_numpy().tolist()
    [['ESA-1', 2, 30.0]]
    """
    medians = timed.groupby(["protocol", "annotator"])["seconds"].median()
    return medians.groupby("protocol").agg(people="size", seconds="mean").reset_index()


def effort(timed: pd.DataFrame) -> pd.DataFrame:
    """Average time and marks of people of both campaigns: kind, people, seconds, errors, per_error (seconds).

    A time above ``PAUSE`` becomes the person's median. Each person counts the same, however much they judged; the time
    per mark is the ratio of the two averages.
    """
    own = timed[timed["item_type"].isin(_OWN) & ~timed["protocol"].str.endswith("-IAA")]
    person = ["protocol", "annotator"]
    median = own.groupby(person)["seconds"].transform("median")
    worked = own.assign(seconds=own["seconds"].where(own["seconds"] <= PAUSE, median))
    people = worked.groupby(person)[["seconds", "errors"]].mean().reset_index()
    kind = people["protocol"].str.split("-").str[0].rename("kind")
    found = people.groupby(kind).agg(people=("seconds", "size"), seconds=("seconds", "mean"), errors=("errors", "mean"))
    return found.assign(per_error=found["seconds"] / found["errors"]).reset_index()


def marks(side: Grids) -> pd.DataFrame:
    """Average numbers of marks and scores on the translations that WMT's MQM has: protocol, errors, score."""
    rows = side.common()
    errors, scores = side.errors.loc[rows].mean(), side.scores.loc[rows].mean()
    return pd.DataFrame({"errors": errors, "score": scores}).rename_axis("protocol").reset_index()


def agreement(side: Grids) -> pd.DataFrame:
    """Hold two judgements of the same translations together, pooled over segments and systems.

    Returns items (``all`` that both have, or those ``judged everywhere``), kind, when (``between`` two groups of
    people, or ``again``), rests (on ``scores``, or on scores made of ``marks``, as those of MQM are), n, tau_c,
    pearson, spearman, and alike (per cent of the translations in which both or neither marked an error).
    """
    rows = []
    for items, index in (("all", side.scores.index), ("judged everywhere", side.everywhere())):
        for when, pairs in (("between", _BETWEEN), ("again", _AGAIN)):
            for kind, pair in pairs.items():
                ways = {"scores": side.scores} | ({} if kind == "MQM" else {"marks": side.weighed})
                for rests, grid in ways.items():
                    named = {"items": items, "kind": kind, "when": when, "rests": rests}
                    rows.append(named | _held(grid.loc[index, list(pair)], side.errors.loc[index, list(pair)]))
    return pd.DataFrame(rows)


def standing(side: Grids) -> pd.DataFrame:
    """Compare means of systems, the reference among them, with those of WMT's MQM, on the translations that it has.

    Returns protocol (``ESA-1 marks``: scores made of marks), rho (Spearman's), accuracy (per cent of the pairs of
    systems that both order alike).
    """
    rows = side.common()
    means = side.scores.loc[rows].groupby("system").mean()
    means["ESA-1 marks"] = side.weighed.loc[rows, "ESA-1"].groupby("system").mean()
    gold = means.pop("WMT-MQM").to_numpy()
    first, second = np.array(list(combinations(range(len(gold)), 2))).T
    found = [
        (name, float(spearman(x, gold)), 100 * ((x[first] - x[second]) * (gold[first] - gold[second]) > 0).mean())
        for name, x in zip(means, means.to_numpy().T, strict=True)
    ]
    return pd.DataFrame(found, columns=["protocol", "rho", "accuracy"])


def filtering(side: Grids) -> pd.DataFrame:
    """Say what it saves, and costs, not to judge the translations in which the model marks nothing.

    Returns share (per cent of translations), words (the share as the abstract puts it), agreed (per cent of them in
    which people of the first campaign mark nothing, either), mismatched (pairs of systems that change places when
    each of them counts as 100).
    """
    nothing = side.scores["LLM"].eq(0)
    judged = side.scores["ESAAI-1"]
    share = 100 * nothing.mean()
    before, after = (values.groupby("system").mean() for values in (judged, judged.mask(nothing, 100.0)))
    changed = [(before[a] > before[b]) != (after[a] > after[b]) for a, b in combinations(before.index, 2)]
    agreed = 100 * side.errors["ESAAI-1"][nothing].eq(0).mean()
    words = "almost 25%" if 22.5 <= share < 25 else f"{share:.1f}%"
    return pd.DataFrame([{"share": share, "words": words, "agreed": agreed, "mismatched": sum(changed)}])


def times_faster(printed: pd.DataFrame) -> pd.DataFrame:
    """Divide the two printed times of a segment, MQM's by ESA's: times.

    >>> times_faster(data.published("kocmi2024_esa"))["times"].round(3).tolist()
    [1.441]
    """
    told = printed.set_index("cell")["printed"]
    mqm, esa = (float(told[f"seconds a segment, {kind}"]) for kind in ("MQM", "ESA"))
    return pd.DataFrame([{"times": mqm / esa}])


def _weighed(marked: pd.DataFrame) -> pd.DataFrame:
    """Sum what marks take away, a row per translation that has any."""
    own = marked[marked["item_type"].isin(_OWN)].astype(dict.fromkeys([*ITEM, "severity"], "str"))
    cost = -own["severity"].map(COSTS).fillna(0.0)
    return cost.groupby([*(own[name] for name in ITEM), own["protocol"]]).sum().unstack("protocol")


def _held(values: pd.DataFrame, errors: pd.DataFrame) -> dict[str, float]:
    """Compute the coefficients of two columns over the rows that both have."""
    both = values.notna().all(axis=1)
    x, y = values[both].to_numpy().T
    found = {"tau_c": count_pairs(x, y).kendall_c(), "pearson": pearson(x, y), "spearman": spearman(x, y)}
    any_error = errors[both].gt(0).to_numpy()
    alike = 100 * (any_error[:, 0] == any_error[:, 1]).mean()
    return {"n": int(both.sum())} | {name: float(value) for name, value in found.items()} | {"alike": float(alike)}
