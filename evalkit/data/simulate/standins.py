"""Draw ratings from stated models, in the shape of the real tables; every name in them starts with ``sim-``."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit.data import schemas
from evalkit.data.simulate.finish import finished


@dataclass(frozen=True)
class Shape:
    """Say how large one language pair of the WMT22 calibration HITs is (counts of the real files)."""

    annotators: int
    mapped: int  # annotators who did additional HITs
    hits: int  # additional HITs, over all mapped annotators
    systems: int
    snippets: int
    segments: int
    incomplete: int = 0  # judgements of an account that stopped half-way; 0 where none did


SHAPES = {
    ("eng", "ces"): Shape(27, 16, 120, 6, 8, 93, 61),
    ("eng", "deu"): Shape(15, 14, 109, 6, 9, 93),
    ("eng", "hrv"): Shape(13, 13, 96, 7, 13, 100),
    ("eng", "jpn"): Shape(19, 17, 138, 7, 9, 95, 21),
    ("eng", "zho"): Shape(12, 8, 139, 8, 14, 100, 18),
    ("zho", "eng"): Shape(13, 12, 134, 12, 15, 100, 12),
}
#: The languages of Licht et al.'s calibration study.
LANGUAGES = ("amh", "ara", "azj", "bos", "bul", "hin", "kat", "por", "ron", "slv", "snd", "swh", "urd", "zul")
_HIT = 100  # judgements in a complete HIT: the segments, then the first of them again


def calibration_hits(*, seed: int = 7) -> pd.DataFrame:
    r"""Draw calibration HITs on 0-100: in each pair all annotators judge the same segments, some of them twice.

    Annotator a gives segment i at showing t

    .. math:: y_{ait} = \min(100, \max(0, k_a \operatorname{round}((\mu + b_a + s_a \theta_i + \epsilon_{ait}) / k_a)))

    with mean :math:`\mu = 83`, segment quality :math:`\theta_i \sim N(0, 12^2)`, leniency :math:`b_a \sim N(0, 8^2)`,
    spread :math:`\ln s_a \sim N(0, 0.4^2)`, noise :math:`\epsilon_{ait} \sim N(0, 7^2)` and a tick :math:`k_a`
    drawn from 1, 5, 10 with probabilities .6, .3, .1. Repeats differ from first showings by their noise alone.
    Pairs, and the numbers of annotators, systems, snippets and segments, are those of the real files.

    Caveat: scores pile up at 100 as real ones do, so :math:`b_a` and :math:`s_a` shrink on the way into the data; real
    annotators also drift, tire and disagree on particular segments, which this model leaves out.
    """
    frames = [
        _calibration_pair(pair, shape, rng)
        for (pair, shape), rng in zip(SHAPES.items(), np.random.default_rng(seed).spawn(len(SHAPES)))
    ]
    whole = pd.concat(frames, ignore_index=True)
    return finished(whole, seed=seed, scale=(0, 100), excluded={"document scores": 0})


def calibration_mapping(*, seed: int = 7) -> pd.DataFrame:
    """Draw who did which additional HIT: in each pair the first ``mapped`` annotators did one, and more by chance.

    The HITs beyond the first are shared out evenly at random. Annotators are those of ``calibration_hits``.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for pair, shape in SHAPES.items():
        who = np.concatenate([np.arange(shape.mapped), rng.integers(shape.mapped, size=shape.hits - shape.mapped)])
        rows += [(f"sim-{''.join(pair)}-hit-{n:03}", _account(pair, a)) for n, a in enumerate(rng.permutation(who), 1)]
    return finished(pd.DataFrame(rows, columns=["hit", "annotator"]), schemas.HITS, seed=seed)


def xsts_campaign(
    *,
    languages: tuple[str, ...] = LANGUAGES,
    annotators: int = 3,
    segments: int = 60,
    per_level: int = 12,
    sd_language: float = 0.4,
    seed: int = 7,
) -> pd.DataFrame:
    r"""Draw an XSTS campaign on 1-5, both directions of each language, with one group of annotators a language.

    Annotator a of language l gives item i

    .. math:: y_{ai} = \min(5, \max(1, \operatorname{round}(q_i + \delta_l + b_a + \epsilon_{ai})))

    with the group's leniency :math:`\delta_l \sim N(0, \text{sd\_language}^2)`, shared by both directions, the
    annotator's :math:`b_a \sim N(0, 0.15^2)` and noise :math:`\epsilon_{ai} \sim N(0, 0.5^2)`. Quality :math:`q_i` is
    :math:`N(Q_p, 0.8^2)` for the system's output in pair p, :math:`Q_p \sim U(2, 4.6)`; :math:`N(4.7, 0.3^2)` for human
    references; and 1 to 5, ``per_level`` items each and the same in all pairs, for the calibration set (consensus 3).

    ``attrs["truth"]`` holds :math:`\delta_l` by language and :math:`Q_p` by pair. Caveat: the ends of the scale cut
    leniency off, so on levels 1 and 5 a calibration set shows less of :math:`\delta_l` than on 2 to 4.
    """
    rng = np.random.default_rng(seed)
    leniency = dict(zip(languages, rng.normal(0, sd_language, len(languages)).tolist()))
    mean_quality: dict[str, float] = {}
    frames = []
    for language in languages:
        own = rng.normal(0, 0.15, annotators)
        for pair in ((language, "eng"), ("eng", language)):
            mean_quality["-".join(pair)] = float(rng.uniform(2, 4.6))
            items = pd.concat(
                [
                    _items("system", "sim-system", rng.normal(mean_quality["-".join(pair)], 0.8, segments)),
                    _items("reference", "sim-reference", rng.normal(4.7, 0.3, segments)),
                    _items("calibration", "sim-calibration", np.repeat(np.arange(1.0, 6.0), per_level)),
                ]
            )
            for number, bias in enumerate(own, 1):
                raw = items["quality"] + leniency[language] + bias + rng.normal(0, 0.5, len(items))
                judged = {"annotator": f"sim-{language}-{number}", "score": raw.round().clip(1, 5)}
                frames.append(items.drop(columns="quality").assign(src_lang=pair[0], tgt_lang=pair[1], **judged))
    truth = {"leniency": leniency, "quality": mean_quality}
    return finished(pd.concat(frames, ignore_index=True), seed=seed, scale=(1, 5), truth=truth)


def _calibration_pair(pair: tuple[str, str], shape: Shape, rng: np.random.Generator) -> pd.DataFrame:
    """Draw the judgements of one language pair."""
    cuts = np.sort(rng.choice(np.arange(1, shape.segments), shape.snippets - 1, replace=False))
    lengths = np.diff([0, *cuts, shape.segments])
    snippet = np.repeat(np.arange(shape.snippets), lengths)
    shown = np.arange(_HIT) % shape.segments  # the segments in order, then the first of them again
    item = np.concatenate([np.arange(length) for length in lengths])
    quality = rng.normal(0, 12, shape.segments)
    frames = []
    for annotator in range(shape.annotators):
        last = annotator == shape.annotators - 1 and shape.incomplete
        seen = shown[: shape.incomplete if last else _HIT]
        tick = rng.choice([1, 5, 10], p=[0.6, 0.3, 0.1])
        raw = 83 + rng.normal(0, 8) + np.exp(rng.normal(0, 0.4)) * quality[seen] + rng.normal(0, 7, len(seen))
        ended = 1.66e9 + 1e5 * annotator + np.cumsum(rng.gamma(2, 12, len(seen))).round(3)
        work = {
            "system": [f"sim-system-{snippet[i] % shape.systems + 1:02}" for i in seen],
            "doc": [f"sim-doc-{snippet[i] + 1:02}#1-{lengths[snippet[i]]}" for i in seen],
            "segment": item[seen].astype(str),
            "annotator": _account(pair, annotator),
            "score": (tick * (raw / tick).round()).clip(0, 100),
            "item_type": np.where(np.arange(len(seen)) < shape.segments, "calibration", "repeat"),
            "hit": _account(pair, annotator),
            "ended": ended,
            "started": np.concatenate([[1.66e9 + 1e5 * annotator], ended[:-1]]),
        }
        frames.append(pd.DataFrame(work))
    return pd.concat(frames).assign(src_lang=pair[0], tgt_lang=pair[1])


def _items(item_type: str, system: str, quality: np.ndarray) -> pd.DataFrame:
    """List items of one kind with their true quality."""
    segment = [str(number) for number in range(1, len(quality) + 1)]
    return pd.DataFrame(
        {"system": system, "doc": f"sim-{item_type}", "segment": segment, "item_type": item_type, "quality": quality}
    )


def _account(pair: tuple[str, str], number: int) -> str:
    """Name a simulated annotator."""
    return f"sim-{''.join(pair)}-{number + 1:02}"
