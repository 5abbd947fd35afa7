"""Automation bias in marks: what people do with the errors that a model suggests, and what they no longer find.

Which marks a model suggested the release tells only of those that people left (``suggested``). But all who judged a
translation were shown the same suggestions, and the model's score is minus their weights: what somebody left is known
to have been suggested, and where the weights of these fall short of the score, nobody left the rest. So the number of
suggestions is known exactly for most translations, and within limits for the others.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, segment_names
from evalkit.human.protocols.pull import ALONE, ASSISTED, MODEL, QUALITY, campaigns
from evalkit.human.protocols.scores import drawn_units
from evalkit.stats.correlation import ratio
from evalkit.stats.inference import column_means, interval, resample
from evalkit.stats.widths import Part

#: Weights of errors in the model's score, and which judgements saw suggestions.
WEIGHTS = {"minor": 1, "major": 5}
SHOWN = (*ASSISTED, "ESAAI-IAA")
#: What is counted of the marks of each campaign; see ``marking``.
MARKINGS = (
    "marks a translation",
    "share of translations with a mark",
    "share of marks that are major",
    "share with a mark where the model suggests none",
    "share whose marks weigh just what the model says",
)
_SPAN = [*ITEM, "start", "end"]


def suggestions(marked: pd.DataFrame, released: pd.DataFrame) -> pd.DataFrame:
    """Count the errors that the model suggested in each translation: system, doc, segment, known, least, most.

    marked: ``data.load("wmt23-protocols-spans")``. released: scores as released, of which the model's are taken; a row
    is returned for each of these. known: different suggestions that somebody left standing. least, most: how many there
    were at least and at most, so that their weights (``WEIGHTS``) make the model's score; a suggestion that people left
    with different severities may have had either. Where no number makes the score, as after people changed severities
    alike, nothing is added to those known.
    Caveat: a severity that all who left a suggestion had changed goes unnoticed.
    """
    left = known_suggestions(marked)
    weight = left["severity"].map(WEIGHTS)
    left = left.assign(unsure=weight.isna(), weight=weight.fillna(min(WEIGHTS.values())))
    told = left.groupby(ITEM).agg(known=("weight", "size"), weight=("weight", "sum"), unsure=("unsure", "sum"))
    model = released[released["protocol"].astype("str") == MODEL].astype(dict.fromkeys(ITEM, "str"))
    table = model.set_index(ITEM)[["score"]].join(told).fillna(0.0)
    limits = [_unseen(*row) for row in zip(-table["score"] - table["weight"], table["unsure"], strict=True)]
    least, most = np.array(limits, float).reshape(-1, 2).T
    table = table.assign(least=table["known"] + least, most=table["known"] + most)
    return table[["known", "least", "most"]].astype(int).reset_index()


def known_suggestions(marked: pd.DataFrame) -> pd.DataFrame:
    """List the suggestions that somebody left standing: system, doc, segment, start, end, severity, and who left them.

    severity: with which all who left it did, else missing. A column for each of ``SHOWN`` tells whether it was left
    there. Degraded copies are left out.
    """
    if "suggested" not in marked:
        raise DataError("The marks lack the column suggested, which tells whose they are. Load wmt23-protocols-spans.")
    left = _marks(marked)
    left = left[left["suggested"]]
    grouped = left.groupby(_SPAN, dropna=False)
    levels = grouped["severity"].agg(["first", "nunique"])
    table = levels["first"].where(levels["nunique"] == 1).rename("severity")
    who = left.groupby([*_SPAN, "protocol"], dropna=False).size().unstack("protocol").reindex(columns=list(SHOWN))
    return table.to_frame().join(who.notna()).reset_index()


def kept(counts: pd.DataFrame, *, by: str = "protocol") -> pd.DataFrame:
    """Sum up how many suggestions people kept: by, protocol, judgements, suggested_least, suggested_most, kept, own, ….

    counts: the result of ``counted``. by: ``protocol``, ``annotator`` or ``hit``. kept: left standing, whatever their
    severity. own: marks that people drew themselves. share_low, share_high: kept over suggested, which is known within
    limits only (see ``suggestions``).
    """
    keys = list(dict.fromkeys([by, "protocol"]))
    sums = {name: (name, "sum") for name in ("least", "most", "kept", "own")}
    table = counts.groupby(keys, sort=False).agg(judgements=("kept", "size"), **sums).reset_index()
    table = table.rename(columns={"least": "suggested_least", "most": "suggested_most"})
    least, most = (table[name].where(table[name] > 0) for name in ("suggested_least", "suggested_most"))
    return table.assign(share_low=table["kept"] / most, share_high=table["kept"] / least)


def counted(judged: pd.DataFrame, marked: pd.DataFrame, released: pd.DataFrame) -> pd.DataFrame:
    """Add to each judgement with suggestions how many there were, were kept, and were drawn: least, most, kept, own.

    judged: ``data.load("wmt23-protocols")``; those of undamaged translations under ``SHOWN`` are returned.
    marked, released: see ``suggestions``.
    """
    shown = judged[judged["protocol"].isin(SHOWN) & judged["item_type"].isin(["system", "reference"])]
    shown = shown.astype(dict.fromkeys((*ITEM, "protocol"), "str"))
    whose = _marks(marked).groupby(["protocol", *ITEM])["suggested"].agg(kept="sum", size="size").reset_index()
    table = shown.merge(suggestions(marked, released), on=ITEM, how="left")
    table = table.merge(whose, on=["protocol", *ITEM], how="left").fillna({"kept": 0, "size": 0})
    return table.assign(own=table["size"] - table["kept"]).drop(columns=["size", "known"])


def confirmed(marked: pd.DataFrame, *, by: str = QUALITY[0], resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """Tell which marks independent MQM confirms: kind, marks, characters, confirmed, low, high.

    kind: suggestions that the people of both ``ASSISTED`` campaigns left, or of one only, marks that these people drew
    themselves, and those of ``ALONE``. characters: mean length. confirmed: share that shares a character with a mark of
    ``by`` in the same translation; what was found missing is confirmed by anything missing. What both left and what one
    removed were both left by somebody, so their difference is what removing tells. Intervals draw segments anew.
    Caveat: longer marks are confirmed more easily; and suggestions that everybody removed are not in the release.
    """
    marks = _marks(marked)
    known = known_suggestions(marked)
    times = known[list(ASSISTED)].sum(axis=1)
    drawn = marks["protocol"].isin(ASSISTED) & ~marks["suggested"]
    kinds = {
        "suggested, both left it": known[times == len(ASSISTED)],
        "suggested, one of two removed it": known[times == 1],
        "drawn beside suggestions": marks[drawn],
        **{f"drawn under {name}": marks[marks["protocol"] == name] for name in ALONE},
    }
    sound = marks[marks["protocol"] == by]
    rows = []
    for kind, some in kinds.items():
        hit = _confirmed(some, sound)
        draws = resample(column_means(hit[:, None]), segment_names(some).to_numpy(str), resamples=resamples, seed=seed)
        low, high = interval(draws[:, 0])
        size = (some["end"] - some["start"]).mean()
        rows.append((kind, len(some), float(size), float(hit.mean()), float(low), float(high)))
    return pd.DataFrame(rows, columns=["kind", "marks", "characters", "confirmed", "low", "high"])


def marking(
    judged: pd.DataFrame, marked: pd.DataFrame, released: pd.DataFrame, *, resamples: int = 200, seed: int = 7
) -> pd.DataFrame:
    """Describe the marks of campaigns without and with suggestions: measure, protocol, n, estimate, low, high.

    measure: a name of ``MARKINGS``, over systems' outputs; marks weigh what the model says if minus their weights
    (``WEIGHTS``) is its score. protocol: a campaign, or one of ``pull.MEANS``. n: judgements.
    Intervals draw documents and people anew; see ``inference.crossed``.
    """
    parts, sizes = {}, {}
    for name, own in _weighed(judged, marked, released).groupby("protocol"):
        above, below = _parts(own)
        parts[name] = Part(partial(_ratios, above, below), drawn_units(own), len(own), below > 0)
        sizes[name] = [len(own)] * len(MARKINGS)
    return campaigns(parts, MARKINGS, sizes, resamples=resamples, seed=seed)


def _marks(marked: pd.DataFrame) -> pd.DataFrame:
    """Return marks in undamaged translations, with plain columns; what is missing lies at -1."""
    marks = marked[marked["item_type"].isin(["system", "reference"])]
    marks = marks.astype(dict.fromkeys(("protocol", *ITEM, "severity"), "str"))
    return marks.astype({"start": float, "end": float}).fillna({"start": -1.0, "end": 0.0})


def _unseen(short: float, unsure: float) -> tuple[int, int]:
    """Return how few and how many more suggestions make up for missing weight, where some may weigh 4 more.

    >>> _unseen(0, 0), _unseen(1, 0), _unseen(6, 0), _unseen(5, 1), _unseen(-2, 0)
    ((0, 0), (1, 1), (2, 6), (1, 5), (0, 0))
    """
    minor, major = sorted(WEIGHTS.values())
    rests = [rest for rest in (short - (major - minor) * n for n in range(int(unsure) + 1)) if rest >= 0]
    counts = [(int(rest // major + rest % major), int(rest)) for rest in rests] or [(0, 0)]
    return min(low for low, _ in counts), max(high for _, high in counts)


def _confirmed(some: pd.DataFrame, sound: pd.DataFrame) -> np.ndarray:
    """Tell which marks share a character with one of ``sound`` in the same translation, (marks,), 0 or 1."""
    numbered = some[_SPAN].reset_index(drop=True).reset_index(names="number")
    pairs = numbered.merge(sound[_SPAN], on=ITEM, suffixes=("", "_other"))
    met = pairs[(pairs["start"] < pairs["end_other"]) & (pairs["start_other"] < pairs["end"])]
    return np.isin(np.arange(len(some)), met["number"]).astype(float)


def _weighed(judged: pd.DataFrame, marked: pd.DataFrame, released: pd.DataFrame) -> pd.DataFrame:
    """Return judgements of systems' outputs with their marks, major marks, weight, and the model's score."""
    rows = judged[judged["protocol"].isin([*ALONE, *ASSISTED]) & judged["item_type"].eq("system")]
    rows = rows.astype(dict.fromkeys(("protocol", *ITEM), "str"))
    marks = _marks(marked)
    marks = marks.assign(weight=marks["severity"].map(WEIGHTS), major=marks["severity"].eq("major"))
    sums = marks.groupby(["protocol", *ITEM]).agg(
        marks=("major", "size"), major=("major", "sum"), weight=("weight", "sum")
    )
    model = released[released["protocol"].astype("str") == MODEL].astype(dict.fromkeys(ITEM, "str"))
    rows = rows[["protocol", *ITEM, "annotator"]].merge(sums.reset_index(), on=["protocol", *ITEM], how="left")
    rows = rows.fillna({"marks": 0, "major": 0, "weight": 0}).merge(model[[*ITEM, "score"]], on=ITEM)
    return rows.reset_index(drop=True)


def _parts(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return numerators and denominators of ``MARKINGS``, (rows, measures) each."""
    one, some, bare = np.ones(len(rows)), rows["marks"].gt(0), rows["score"].eq(0)
    same = rows["weight"].eq(-rows["score"])
    above = [rows["marks"], some, rows["major"], some & bare, same]
    below = [one, one, rows["marks"], bare, one]
    return np.stack(above, axis=1).astype(float), np.stack(below, axis=1).astype(float)


def _ratios(above: np.ndarray, below: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Compute ``MARKINGS`` under each weighting of rows, (batch, measures)."""
    return np.asarray(ratio(times @ above, times @ below))
