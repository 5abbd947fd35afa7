"""Stand in for ratings of whole documents with quality-control copies: WMT's Mechanical Turk files and error spans."""

from functools import cache

import numpy as np
import pandas as pd

from evalkit.data import appraise, schemas
from evalkit.data.simulate.finish import finished, seeded

#: Source languages of the real files, all into English.
SOURCES = {21: ("ces", "deu", "hau", "isl", "jpn", "rus"), 22: ("ces", "deu", "jpn", "liv", "rus", "ukr", "zho")}
#: Kinds of items in a quality-control copy, with their probabilities.
KINDS = {"repeat": 0.4, "degraded": 0.35, "reference": 0.25}
_ANNOTATORS, _HITS, _DOCUMENTS, _SEGMENTS, _SYSTEMS, _COPIES = 12, 2, 8, 8, 5, 3


def wmt21_mturk(*, seed: int = 7) -> pd.DataFrame:
    """Draw ratings in the shape of WMT21's; see ``wmt22_mturk``."""
    return _mturk(21, seed)


def wmt22_mturk(*, seed: int = 7) -> pd.DataFrame:
    r"""Draw ratings with quality-control copies in the shape of WMT22's, a few per cent of their size.

    An annotator a gives item i of a document d

    .. math:: y = \operatorname{round}(\min(100, \max(0, 70 + q_s + t_i + b_a + u_{ad} + \Delta_i + o + \epsilon)))

    with system quality :math:`q_s \sim N(0, 5^2)`, a segment's ease :math:`t_i \sim N(0, 10^2)`, leniency
    :math:`b_a \sim N(0, 8^2)`, a document's effect :math:`u_{ad} \sim N(0, 4^2)`, noise
    :math:`\epsilon \sim N(0, 12^2)`, :math:`o = 2` for the second showing of a segment, and :math:`\Delta` = -20 for
    degraded items, +20 for references, -1 for repeats after a degraded one. A HIT takes a log-normal number of seconds
    a judgement, with median e^2.5.
    Caveat: real annotators differ in whether they notice degradation at all; these do not.
    """
    return _mturk(22, seed)


def wmt21_mturk_annotators(*, seed: int = 7) -> pd.DataFrame:
    """Summarise the simulated workers of WMT21 as the files do."""
    return _annotators(21, seed)


def wmt22_mturk_annotators(*, seed: int = 7) -> pd.DataFrame:
    """Summarise the simulated workers of WMT22 as the files do."""
    return _annotators(22, seed)


def wmt21_mturk_ranking(*, seed: int = 7) -> pd.DataFrame:
    """Rank the simulated systems of WMT21 as the files do."""
    return _ranking(21, seed)


def wmt22_mturk_ranking(*, seed: int = 7) -> pd.DataFrame:
    """Rank the simulated systems of WMT22 as the files do."""
    return _ranking(22, seed)


def wmt24_esa(*, seed: int = 7) -> pd.DataFrame:
    """Draw error span annotations: originals, degraded copies 50 points lower, clean repeats with noise of 5 points."""
    return finished(_esa(seed)[0], seed=seed, scale=(0, 100), excluded={})


def wmt24_esa_spans(*, seed: int = 7) -> pd.DataFrame:
    r"""Draw the errors behind ``wmt24_esa``.

    A translation with score :math:`y` has :math:`\mathrm{Poisson}((100 - y) / 12)` minor and
    :math:`\mathrm{Poisson}((100 - y) / 30)` major errors, each on five characters of its own; a tenth are
    omissions.
    """
    judged, minor, major = _esa(seed)
    judgement = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator", "item_type", "hit", "mark"]
    frame = judged[judgement].loc[judged.index.repeat(minor + major)]
    number = frame.groupby(level=0).cumcount().to_numpy()
    severity = np.where(number < np.repeat(minor, minor + major), "minor", "major")
    absent = np.random.default_rng(seed + 2).random(len(frame)) < 0.1
    frame = frame.assign(
        span=(number + 1).astype(str), error_type=np.where(absent, "omission", "other"), severity=severity
    )
    frame = frame.assign(start=np.where(absent, np.nan, 8.0 * number), side="target")
    return finished(frame.assign(end=frame["start"] + 5), appraise.ESA_SPANS, seed=seed)


def _esa(seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Draw the judgements with error spans, and how many minor and major errors each has."""
    rng = np.random.default_rng(seed)
    doc, segment, kind = (part.ravel() for part in np.meshgrid(range(60), range(5), range(3), indexing="ij"))
    annotator = np.array([f"sim-{k % 6}" for k in doc], dtype=object)
    quality = rng.normal(85, 8, (60, 5))[doc, segment]
    score = np.clip(quality - 50 * (kind == 1) + rng.normal(0, 5, len(doc)), 0, 100).round()
    frame = pd.DataFrame(
        {"src_lang": "eng", "tgt_lang": "jpn", "system": "sim-system", "doc": [f"sim-{d}" for d in doc]}
    )
    frame = frame.assign(segment=segment, annotator=annotator, score=score, hit=annotator)
    frame = frame.assign(item_type=np.array(["system", "degraded", "repeat"])[kind], copy=kind > 0)
    marks = np.random.default_rng(seed + 1)  # draws of their own, so that the scores are what they would be without
    frame = frame.assign(minor=marks.poisson((100 - score) / 12), major=marks.poisson((100 - score) / 30))
    frame = frame.assign(mark=np.array(["", "bad", "dup"])[kind], errors=frame["minor"] + frame["major"])
    frame = frame.sort_values(["hit", "mark"], kind="stable", ignore_index=True)
    frame = frame.assign(position=frame.groupby("hit").cumcount())
    minor, major = frame.pop("minor").to_numpy(), frame.pop("major").to_numpy()
    return frame, minor, major


def _mturk(year: int, seed: int) -> pd.DataFrame:
    """Draw all language pairs of a year, once a process; callers get a copy of their own."""
    return _drawn(year, seed).copy()


@cache
def _drawn(year: int, seed: int) -> pd.DataFrame:
    rngs = np.random.default_rng(seed + year).spawn(len(SOURCES[year]))
    frame = pd.concat([_pair(source, rng) for source, rng in zip(SOURCES[year], rngs, strict=True)], ignore_index=True)
    worker = frame.groupby(["src_lang", "annotator"])["score"]
    mean, sd = (worker.transform(how).map(_printed) for how in ("mean", "std"))
    z = (frame["score"] - mean) / sd
    hit = frame.groupby(["src_lang", "hit"])
    pace = np.random.default_rng(seed).lognormal(2.5, 0.5, hit.ngroups)
    seconds = (pace[hit.ngroup()] * hit["score"].transform("size")).round()
    frame = frame.assign(z=z, position=frame.groupby("hit").cumcount(), hit_seconds=seconds)
    return finished(frame, seed=seed, scale=(0, 100), excluded={})


def _printed(value: float) -> float:
    """Round to seven significant digits, as the statistics behind WMT's z-scores were printed and read again."""
    return float(f"{value:.7g}")


def _pair(source: str, rng: np.random.Generator) -> pd.DataFrame:
    """Draw one language pair: every HIT has a few documents, some of them twice."""
    quality = rng.normal(0, 5, _SYSTEMS)
    ease = rng.normal(0, 10, (_HITS, _DOCUMENTS, _SEGMENTS))
    parts = []
    for annotator in range(_ANNOTATORS):
        leniency = rng.normal(0, 8)
        for hit in range(_HITS):
            showings = [(d, False) for d in range(_DOCUMENTS)] + [(d, True) for d in range(_COPIES)]
            seen: set[int] = set()
            for place in rng.permutation(len(showings)):
                doc, copy = showings[place]
                system = (doc + hit + annotator) % _SYSTEMS
                kind = rng.choice(list(KINDS), _SEGMENTS, p=list(KINDS.values())) if copy else ["system"] * _SEGMENTS
                kind = np.array(kind, dtype=object)
                after = np.cumsum(kind == "degraded") > 0
                shift = -20.0 * (kind == "degraded") + 20 * (kind == "reference") - (after & (kind == "repeat"))
                level = 70 + quality[system] + leniency + rng.normal(0, 4) + 2 * (doc in seen)
                seen.add(doc)
                score = np.clip(level + ease[hit, doc] + shift + rng.normal(0, 12, _SEGMENTS), 0, 100).round()
                number = hit * 100 + doc * 10  # other annotators see the same texts, translated by other systems
                document = (f"sim-{system}", f"sim-{hit}-{doc}", f"sim-{source}-{annotator}", hit, copy)
                parts += [(*document, str(number + k), kind[k], score[k]) for k in range(_SEGMENTS)]
    frame = pd.DataFrame(parts, columns=["system", "doc", "annotator", "hit", "copy", "segment", "item_type", "score"])
    hit = "sim-" + frame["hit"].astype("str") + "/" + frame["annotator"]
    return frame.assign(hit=hit, src_lang=source, tgt_lang="eng")


def _annotators(year: int, seed: int) -> pd.DataFrame:
    """Summarise the simulated workers of a year."""
    worker = _mturk(year, seed).groupby(["src_lang", "tgt_lang", "annotator"])["score"]
    return seeded(worker.agg(["mean", "std"]).map(_printed).reset_index().rename(columns={"std": "sd"}), seed)


def _ranking(year: int, seed: int) -> pd.DataFrame:
    """Rank the simulated systems of a year: segments are averaged before systems."""
    frame = _mturk(year, seed)
    counted = frame[frame["item_type"].isin(["system", "repeat"])]
    system = ["src_lang", "tgt_lang", "system"]
    segments = counted.groupby([*system, "segment"])[["score", "z"]].mean().groupby(system)
    table = segments.mean().rename(columns={"score": "raw"}).assign(segments=segments.size())
    table = table.assign(judgements=counted.groupby(system).size()).reset_index()
    table = table.sort_values(["src_lang", "z"], ascending=[True, False], ignore_index=True)
    return seeded(table.assign(raw=table["raw"].map("{:.1f}".format), z=table["z"].map("{:.3f}".format)), seed)
