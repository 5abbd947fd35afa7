"""A class's own judgements for the lessons: the file that it imported, or a simulated class, marked as simulated.

The texts of lesson 0 lie beside the lessons. No person and no translation system wrote the translations of their three
"systems": a language model wrote them for the lesson, with errors planted on purpose.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import ROOT, DataError, data
from evalkit.campaign.design.drawing import Wish, draw, get_protocol
from evalkit.campaign.design.texts import Texts, read_texts
from evalkit.data.provenance import like, scale_of, source_of
from evalkit.data.schemas import ITEM
from evalkit.data.simulate import finished
from evalkit.stats import agreement
from evalkit.stats.terms import join_names, pluralize

TEXTS = ROOT / "notebooks" / "lessons" / "texts"
#: What the translations of each "system" lose on average, in points: by what they say, and by how they say it.
LOSSES = {"clean": (4.0, 3.0), "smooth": (45.0, 5.0), "stiff": (8.0, 55.0)}
#: Simulated students: points by which all their scores are moved, and how much of both losses they count.
PEOPLE = {
    "sim-01": (0.0, 1.0, 0.6),
    "sim-02": (-14.0, 1.0, 0.9),
    "sim-03": (6.0, 0.3, 0.8),
    "sim-04": (-4.0, 1.2, 0.3),
    "sim-05": (3.0, 0.8, 0.7),
    "sim-06": (-8.0, 0.5, 1.1),
    "sim-07": (8.0, 0.9, 0.4),
    "sim-08": (0.0, 0.7, 0.7),
}
_PER_MARK = 22.0  # points below 100 for each error that a simulated student marks, on average
_DEGRADED, _NOISE, _ITEM = 40.0, 7.0, 0.5  # points lost, sd in points, spread of losses as a share of their mean


def texts() -> Texts:
    """Read the texts of lesson 0: German, with three translations into English.

    >>> len(texts().sources), sorted(texts().outputs)
    (16, ['clean', 'smooth', 'stiff'])
    """
    return read_texts(
        [TEXTS / "outputs"], source=TEXTS / "source.txt", documents=TEXTS / "documents.txt", pair="deu-eng"
    )


def simulated(*, seed: int = 7) -> pd.DataFrame:
    """Draw the judgements of eight students who never were, of the design that ``--class`` makes.

    Columns as in ``schemas.RATINGS``. A score is 100 less what the translation loses, as the student counts it, moved
    by the student's strictness, with noise. Source "simulated".

    >>> simulated()["annotator"].nunique(), simulated().attrs["source"]["source"]
    (8, 'simulated')
    """
    given, rng, rows = texts(), np.random.default_rng(seed), []
    drawn = draw(given, Wish(get_protocol("ESA"), tuple(PEOPLE), everybody=True, seed=seed))
    lost = {name: rng.gamma(1 / _ITEM, np.array(loss) * _ITEM, (len(given.docs), 2)) for name, loss in LOSSES.items()}
    for (name, (moved, *counted)), screens in zip(PEOPLE.items(), drawn.screens):
        for item in (item for screen in screens for item in screen.items):
            place = item.segment
            for system, kind, text in zip(item.systems, item.kinds, item.texts):
                meant = 100 + moved - np.dot(counted, lost[system][place]) - _DEGRADED * (kind == "degraded")
                rows.append((system, given.docs[place], str(place + 1), name, meant, kind, given.sources[place], text))
    columns = ["system", "doc", "segment", "annotator", "score", "item_type", "source", "hypothesis"]
    frame = pd.DataFrame(rows, columns=columns).assign(src_lang=given.src_lang, tgt_lang=given.tgt_lang)
    frame["hit"] = frame["annotator"]
    frame["score"] = (frame["score"] + rng.normal(0, _NOISE, len(frame))).round().clip(0, 100)
    origin = f"a simulation (evalkit.lessons.classroom, seed {seed})"
    source = {"name": "simulated-class", "source": "simulated", "origin": origin, "digest": f"seed:{seed}"}
    return finished(frame, seed=seed, source=source, scale=(0, 100))


def judgements(class_file: str = "", *, seed: int = 7) -> pd.DataFrame:
    """Open the class's own judgements, or the simulated ones where no file is named.

    class_file: path of what ``evalkit import … --keep-names`` wrote. Raises DataError where it holds fewer than two
    annotators, or fewer than two translations that all of them judged.
    """
    if not class_file:
        return simulated(seed=seed)
    ratings, _ = data.open_campaign(Path(class_file))
    counts = ratings["annotator"].value_counts()
    if len(counts) < 2 or len(matrix(ratings).dropna()) < 2:
        raise DataError(
            f"Fewer than two people judged the same two translations of {class_file}. {counts.index[-1]} judged fewest "
            f"({counts.iloc[-1]}): import the files of all without that one, or make the campaign with --class."
        )
    return ratings


def marks(class_file: str = "", *, seed: int = 7) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Open the class's first judgements of systems with the errors marked in them, or the simulated class's.

    Returns the judgements and their marks (``severity``, and ``start`` and ``end`` in characters, the end excluded).
    Raises DataError as ``judgements`` does, and where the file has no marks.
    """
    ratings = judgements(class_file, seed=seed)
    spans = data.open_campaign(Path(class_file))[1] if class_file else _marked(ratings, seed=seed)
    if spans is None or not len(own := spans[spans["item_type"] == "system"]):
        raise DataError(
            f"{class_file} holds no marked errors: workbooks have room for scores only. Judge in Pearmut, or leave "
            "class_file empty in this lesson."
        )
    return ratings[ratings["item_type"] == "system"].reset_index(drop=True), own.reset_index(drop=True)


def _marked(ratings: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Draw errors that the simulated students mark, the more and the worse the lower they score, at words of the text.

    What is wrong with a text lies in the same words for everybody, and most people find part of it.
    """
    rng, rows = np.random.default_rng([seed, 6]), []
    key = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "item_type", "hit"]
    worst: dict[str, np.ndarray] = {}
    for one in ratings.sort_values(["hypothesis", "annotator", "item_type"]).itertuples():
        words = [(found.start(), found.end()) for found in re.finditer(r"\S+", one.hypothesis)]
        weight = worst.setdefault(one.hypothesis, rng.gamma(0.3, size=len(words)) + 0.01)
        number = min(rng.poisson((100 - one.score) / _PER_MARK), len(words))
        for start, end in rng.choice(words, number, replace=False, p=weight / weight.sum()):
            severity = "major" if rng.random() < (100 - one.score) / 130 else "minor"
            rows.append([*(getattr(one, name) for name in key), severity, float(start), float(end)])
    frame = pd.DataFrame(rows, columns=[*key, "severity", "start", "end"]).assign(error_type="other", side="target")
    source = source_of(ratings) | {"name": "simulated-class-marks"}
    return like(frame, ratings, source=source)


def matrix(ratings: pd.DataFrame) -> pd.DataFrame:
    """Lay out first showings of systems' translations: one row an item, one column an annotator."""
    return agreement.score_matrix(ratings[ratings["item_type"] == "system"])


def person(ratings: pd.DataFrame, me: str = "") -> str:
    """Return who "you" are: the one named, or the first; DataError for a name that is not in the file."""
    people = sorted(ratings["annotator"].unique())
    if me and me not in people:
        raise DataError(f"me: there is no {me!r} in this file. It has: {join_names(people)}.")
    return me or people[0]


def introduced(ratings: pd.DataFrame, me: str = "") -> str:
    """Say in a sentence whose judgements these are; a simulated class is called one."""
    crew, whom = pluralize(ratings["annotator"].nunique(), "annotator"), person(ratings, me)
    you = f'Where it says "you", it means {whom}.'
    if source_of(ratings)["source"] == "simulated":
        return f"No file of a class was named, so these {crew} are SIMULATED: nobody gave these scores. {you}"
    return f"Your class: {crew}, {pluralize(len(ratings), 'judgement')}. {you}"


def nearest(ratings: pd.DataFrame, me: str = "") -> tuple[str, str]:
    """Return you and the one who scored most of the same items as you (the first of several)."""
    table, you = matrix(ratings), person(ratings, me)
    shared = table.drop(columns=you).notna().mul(table[you].notna(), axis=0).sum()
    return you, str(shared.idxmax())


def agreement_table(ratings: pd.DataFrame, you: str, other: str) -> pd.DataFrame:
    """Count the items to which two people gave scores in the low, middle and high third of the scale.

    Rows are yours, columns the other's, both from low to high.
    """
    low, high = scale_of(ratings)
    thirds = [*np.linspace(low, high, 3, endpoint=False), np.inf]
    both = matrix(ratings)[[you, other]].dropna()
    part = both.apply(pd.cut, bins=thirds, right=False, labels=["low", "middle", "high"])
    return pd.crosstab(part[you], part[other], dropna=False)


def strictness(ratings: pd.DataFrame) -> pd.DataFrame:
    """Tabulate annotators from strict to lenient, over items that all judged: mean, sd, below (points under all)."""
    shared = matrix(ratings).dropna()
    table = pd.DataFrame({"mean": shared.mean(), "sd": shared.std(), "below": shared.mean().mean() - shared.mean()})
    return table.sort_values("mean").rename_axis("annotator").reset_index()


def copies(ratings: pd.DataFrame) -> pd.DataFrame:
    """Pair second showings with first ones: annotator, item_type (repeat or degraded), score, first, loss (points).

    loss: the first showing's score less the copy's, so positive where the copy scored lower.
    """
    key = ["annotator", *ITEM]
    first = ratings[ratings["item_type"] == "system"][[*key, "score"]].rename(columns={"score": "first"})
    later = ratings[ratings["item_type"].isin(["repeat", "degraded"])][[*key, "item_type", "score"]]
    both = later.merge(first.drop_duplicates(key), on=key)
    return both.assign(loss=both["first"] - both["score"])


def disputed(ratings: pd.DataFrame) -> pd.DataFrame:
    """List items from most to least disputed: system, doc, segment, lowest, highest, sd, and their texts if known."""
    own = ratings[ratings["item_type"] == "system"]
    found = own.groupby(ITEM)["score"].agg(lowest="min", highest="max", sd="std", mean="mean").reset_index()
    known = [name for name in ("source", "hypothesis") if name in own]
    found = found.merge(own.drop_duplicates(ITEM)[[*ITEM, *known]], on=ITEM)
    return found.sort_values(["sd", *ITEM], ascending=[False, True, True, True], ignore_index=True)


def as_metrics(ratings: pd.DataFrame) -> pd.DataFrame:
    """Treat each annotator as a metric of all others: annotator, pearson, pairwise.

    pearson: over all items together. pairwise: share of pairs of translations of one segment in which the annotator and
    the others' mean give the same relation. Both over what the annotator and somebody else judged; NaN where that is
    too little.
    """
    table, rows = matrix(ratings), []
    for name in table:
        both = pd.DataFrame({"own": table[name], "others": table.drop(columns=name).mean(axis=1)}).dropna()
        segments = both.reset_index().groupby(["doc", "segment"]).indices.values()
        pairs = [(a, b) for places in segments for at, a in enumerate(places) for b in places[at + 1 :]]
        first, second = np.array(pairs, int).reshape(-1, 2).T
        own, others = both["own"].to_numpy(), both["others"].to_numpy()
        same = np.sign(own[first] - own[second]) == np.sign(others[first] - others[second])
        rows.append((name, float(both.corr().iloc[0, 1]), float(same.mean()) if len(same) else np.nan))
    return pd.DataFrame(rows, columns=["annotator", "pearson", "pairwise"])
