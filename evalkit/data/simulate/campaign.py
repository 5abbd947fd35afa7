"""Draw an annotation campaign from a model whose parts can be switched on and off, each by one number."""

from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.simulate.finish import finished


@dataclass(frozen=True)
class Design:
    """Say who judges what: systems, documents, how they are packed into HITs, and how much stays unjudged."""

    pair: tuple[str, str] = ("xxx", "eng")
    systems: int = 4
    documents: int = 12
    segments: int = 8  # in each document
    annotators: int = 5
    judgements: int = 2  # annotators of each document of each system; equal to ``annotators``: all see all
    hit: int = 40  # segments in a HIT, at most (a longer document is a HIT of its own)
    calibration: int = 0  # items of a calibration set, the same for all annotators, shown first
    missing: float = 0.0  # share of judgements that are not there, at random


@dataclass(frozen=True)
class Quality:
    """Say how good the translations are, in points of the scale; a standard deviation of 0 switches a part off."""

    mean: float = 70.0
    sd_system: float = 6.0
    sd_document: float = 4.0
    sd_segment: float = 12.0


@dataclass(frozen=True)
class Behaviour:
    """Say how annotators use the scale, in its points; 0 switches a part off (for ``ticks``: all points are used)."""

    sd_bias: float = 6.0
    sd_gain: float = 0.2  # of the logarithm of the gain
    sd_noise: float = 7.0
    cut: float = 0.0  # at most this share of the scale stays unused at each end, different between annotators
    ticks: int = 0  # how many evenly spaced points are used; 0: whole numbers
    drift: float = 0.0  # points by which scores have moved at the end of an annotator's work
    fatigue: float = 0.0  # share by which the noise has grown then


@dataclass(frozen=True)
class Control:
    """Say how each HIT checks its annotator: copies of documents, some of their segments spoilt on purpose."""

    copies: int = 0  # documents of each HIT that are shown again
    degraded: float = 0.4  # share of a copy's segments that are spoilt
    loss: float = 30.0  # points of quality that spoiling costs
    context: float = 0.0  # points that a clean segment gains or loses after the first spoilt one of its document
    first: float = 0.5  # probability that the copy comes before the original


def campaign(
    *,
    design: Design = Design(),
    quality: Quality = Quality(),
    behaviour: Behaviour = Behaviour(),
    control: Control = Control(),
    scale: tuple[float, float] = (0, 100),
    seed: int = 7,
) -> pd.DataFrame:
    r"""Draw the ratings of one language pair on a scale of whole numbers, continuous (0-100) or ordinal (1-5).

    Segment i of document d by system s has the quality :math:`q_{sdi} = \mu + S_s + D_d + \theta_{sdi}`, three
    independent normals around ``quality.mean``. At showing t annotator a means

    .. math:: x_{at} = \mu + g_a (q - \mu - \ell\,B_t + c\,A_t) + b_a + \lambda u_t
        + \epsilon_{at}, \qquad \epsilon_{at} \sim N(0, \sigma^2 (1 + \phi u_t)^2)

    with bias :math:`b_a \sim N(0, \text{sd\_bias}^2)`, gain :math:`\ln g_a \sim N(0, \text{sd\_gain}^2)`, progress
    :math:`u_t` from 0 to 1 through an annotator's work, drift :math:`\lambda`, fatigue :math:`\phi`; :math:`B_t` is 1
    for a spoilt segment, which loses :math:`\ell`, and :math:`A_t` for a clean one after the first spoilt one of its
    document, which moves by the effect of context :math:`c`. What is written down is

    .. math:: y_{at} = \operatorname{clip}(k \operatorname{round}((x_{at} - L) / k) + L,\ L_a,\ H_a)

    with the scale's lower end L, steps :math:`k` (1, or the scale cut into ``ticks`` points) and a range
    :math:`L_a, H_a` that leaves up to ``cut`` of the scale out at each end, rounded to a step.

    Documents of one system are packed in a random order into HITs; each HIT goes to ``judgements`` annotators, who
    see its documents in their own order. Copies have the item type ``degraded`` where spoilt and ``repeat`` elsewhere.
    Calibration items have :math:`q` evenly spread over the scale. ``attrs["truth"]`` holds the qualities of systems,
    the bias, gain and range of each annotator, and all settings.
    Raises DataError for a design that cannot be drawn.

    >>> campaign(design=Design(judgements=9))
    Traceback (most recent call last):
    evalkit.DataError: 9 judgements of each document need as many annotators, and there are 5. Add annotators.
    """
    low, high = map(float, scale)
    if design.judgements > design.annotators:
        raise DataError(
            f"{design.judgements} judgements of each document need as many annotators, and there are "
            f"{design.annotators}. Add annotators."
        )
    if not (low < high and 0 <= design.missing < 1 and 0 <= behaviour.cut < 0.5 and behaviour.ticks != 1):
        raise DataError("A campaign needs a scale from low to high, missing < 1, cut < 0.5 and two or more ticks.")
    rng = np.random.default_rng(seed)
    system = rng.normal(0, quality.sd_system, design.systems)
    document = rng.normal(0, quality.sd_document, design.documents)
    segment = rng.normal(0, quality.sd_segment, (design.systems, design.documents, design.segments))
    true = quality.mean + system[:, None, None] + document[:, None] + segment
    step = (high - low) / (behaviour.ticks - 1) if behaviour.ticks else 1.0
    people = pd.DataFrame(
        {
            "bias": rng.normal(0, behaviour.sd_bias, design.annotators),
            "gain": np.exp(rng.normal(0, behaviour.sd_gain, design.annotators)),
            "low": low + step * np.round(rng.uniform(0, behaviour.cut, design.annotators) * (high - low) / step),
            "high": high - step * np.round(rng.uniform(0, behaviour.cut, design.annotators) * (high - low) / step),
        },
        index=[f"sim-annotator-{n}" for n in range(1, design.annotators + 1)],
    )
    shown: dict[str, list[pd.DataFrame]] = {name: [_calibration(design, low, high)] for name in people.index}
    for number, hit in enumerate(_hits(design, rng)):
        for turn in range(design.judgements):
            name = people.index[(number + turn) % design.annotators]
            shown[name].append(_showing(hit, true, control, rng).assign(hit=f"sim-hit-{number + 1:03}-{turn + 1}"))
    frames = []
    for start, (name, person) in enumerate(people.iterrows()):
        work = pd.concat(shown[name], ignore_index=True)
        if work.empty:
            continue
        progress = np.linspace(0, 1, len(work)) if len(work) > 1 else np.zeros(1)
        felt = work["true"] - quality.mean - control.loss * work["spoilt"] + control.context * work["after"]
        noise = rng.normal(0, 1, len(work)) * behaviour.sd_noise * (1 + behaviour.fatigue * progress)
        meant = quality.mean + person["gain"] * felt + person["bias"] + behaviour.drift * progress + noise
        score = (low + step * np.round((meant - low) / step)).clip(person["low"], person["high"])
        ended = 1.6e9 + 1e6 * start + np.cumsum(rng.gamma(2, 10, len(work))).round(3)
        frames.append(
            work.drop(columns=["true", "spoilt", "after"]).assign(
                annotator=name, score=score, started=np.concatenate([[1.6e9 + 1e6 * start], ended[:-1]]), ended=ended
            )
        )
    frame = pd.concat(frames, ignore_index=True).assign(src_lang=design.pair[0], tgt_lang=design.pair[1])
    frame = frame[rng.random(len(frame)) >= design.missing].reset_index(drop=True)
    settings = {type(part).__name__.lower(): asdict(part) for part in (design, quality, behaviour, control)}
    named = dict(zip(_systems(design), (quality.mean + system).tolist(), strict=True))
    # plain values, because pandas compares the attrs of frames that it joins
    known = {"systems": named, "annotators": people.to_dict("index"), **settings}
    return finished(frame, seed=seed, scale=scale, truth=known)


def _systems(design: Design) -> list[str]:
    """Name the systems."""
    return [f"sim-system-{n + 1}" for n in range(design.systems)]


def _hits(design: Design, rng: np.random.Generator) -> list[list[tuple[int, int]]]:
    """Pack documents of one system after the other into HITs of a bounded size."""
    room = max(1, design.hit // design.segments)
    hits = []
    for system in range(design.systems):
        order = rng.permutation(design.documents).tolist()
        hits += [[(system, doc) for doc in order[at : at + room]] for at in range(0, design.documents, room)]
    return hits


def _calibration(design: Design, low: float, high: float) -> pd.DataFrame:
    """List the calibration items."""
    n = design.calibration
    segment = [str(number) for number in range(1, n + 1)]
    return pd.DataFrame(
        {
            "system": "sim-calibration",
            "doc": "sim-calibration",
            "segment": segment,
            "item_type": "calibration",
            "true": np.linspace(low, high, n),
            "spoilt": False,
            "after": False,
            "hit": "sim-calibration",
        }
    )


def _showing(hit: list[tuple[int, int]], true: np.ndarray, control: Control, rng: np.random.Generator) -> pd.DataFrame:
    """Put the documents of a HIT into an order of showing, with copies of some of them."""
    order = [(unit, False) for unit in rng.permutation(len(hit)).tolist()]
    for unit in rng.permutation(len(hit))[: control.copies].tolist():
        place = order.index((unit, False))
        at = rng.integers(0, place + 1) if rng.random() < control.first else rng.integers(place + 1, len(order) + 1)
        order.insert(int(at), (unit, True))
    return pd.concat([_document(hit[unit], true, copy, control, rng) for unit, copy in order], ignore_index=True)


def _document(
    unit: tuple[int, int], true: np.ndarray, copy: bool, control: Control, rng: np.random.Generator
) -> pd.DataFrame:
    """List one document's segments as they are shown, in the original or as a copy with spoilt segments."""
    system, doc = unit
    spoilt = (rng.random(true.shape[2]) < control.degraded) & copy
    after = (np.cumsum(spoilt) > 0) & ~spoilt
    kinds = np.where(spoilt, "degraded", "repeat") if copy else "system"
    segment = [str(number) for number in range(1, true.shape[2] + 1)]
    return pd.DataFrame(
        {
            "system": f"sim-system-{system + 1}",
            "doc": f"sim-doc-{doc + 1:02}",
            "segment": segment,
            "item_type": kinds,
            "true": true[system, doc],
            "spoilt": spoilt,
            "after": after,
        }
    )
