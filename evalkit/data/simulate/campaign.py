"""Draw an annotation campaign from a model whose parts can be switched on and off, each by one number."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import schemas


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
    mixed: int = 0  # a HIT holds documents of different systems, and each is judged in so many systems' translations
    through: bool = False  # segments are numbered through all documents


@dataclass(frozen=True)
class Quality:
    """Say how good the translations are, in points of the scale; a standard deviation of 0 switches a part off."""

    mean: float = 70.0
    sd_system: float = 6.0
    sd_document: float = 4.0
    sd_segment: float = 12.0
    leads: tuple[float, ...] = (0.0,)  # how much better each system is besides, over and over again


@dataclass(frozen=True)
class Behaviour:
    """Say how annotators use the scale, in its points; 0 switches a part off (for ``ticks``: all points are used)."""

    sd_bias: float = 6.0
    sd_gain: float = 0.2  # of the logarithm of the gain
    sd_noise: float = 7.0
    cut: float = 0.0  # at most this share of the scale stays unused at each end, different between annotators
    ticks: int = 0  # how many evenly spaced points are used; 0: whole numbers
    coarse: float = 0.0  # probability that an annotator uses only every fifth of them or, a quarter of these, tenth
    drift: float = 0.0  # points by which scores have moved at the end of an annotator's work
    fatigue: float = 0.0  # share by which the noise has grown then


@dataclass(frozen=True)
class Control:
    """Say how each HIT checks its annotator: copies of documents, some of their segments spoilt on purpose."""

    copies: int = 0  # documents of each HIT that are shown again
    degraded: float = 0.4  # share of a copy's segments that are spoilt
    references: float = 0.0  # share of a copy's other segments that are references, as much better as spoilt ones lose
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
    true: np.ndarray | None = None,
    seed: int | Sequence[int] = 7,
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
    References are :math:`\ell` better. Calibration items have :math:`q` evenly spread over the scale.
    ``attrs["truth"]`` holds the qualities of systems, the bias, gain and range of each annotator, and all settings.
    true: the qualities, systems × documents × segments, where they are known and not drawn.
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
    if true is None:
        document = rng.normal(0, quality.sd_document, design.documents)
        segment = rng.normal(0, quality.sd_segment, (design.systems, design.documents, design.segments))
        true = quality.mean + system[:, None, None] + document[:, None] + segment
    true = true + np.resize(quality.leads, design.systems)[:, None, None]
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
    people["step"] = step
    if behaviour.coarse:
        shares = np.array([1 - behaviour.coarse, 0.75 * behaviour.coarse, 0.25 * behaviour.coarse])
        people["step"] = step * rng.choice([1, 5, 10], len(people), p=shares)
    shown = {str(name): [_calibration(design, low, high)] for name in people.index}
    for number, hit in enumerate(_hits(design, rng)):
        for turn in range(design.judgements):
            name = str(people.index[(number + turn) % design.annotators])
            for unit, copy in _order(len(hit), control, rng):
                part = _document(hit[unit], true, copy, control, rng, through=design.through)
                shown[name].append(part | _same(design.segments, hit=f"sim-hit-{number + 1:03}-{turn + 1}"))
    frames = []
    for start, (name, person) in enumerate(people.iterrows()):
        parts = shown[str(name)]
        work = pd.DataFrame({field: np.concatenate([part[field] for part in parts]) for field in parts[0]})
        if work.empty:
            continue
        progress = np.linspace(0, 1, len(work)) if len(work) > 1 else np.zeros(1)
        felt = work["true"] - quality.mean - control.loss * work["spoilt"] + control.context * work["after"]
        noise = rng.normal(0, 1, len(work)) * behaviour.sd_noise * (1 + behaviour.fatigue * progress)
        meant = quality.mean + person["gain"] * felt + person["bias"] + behaviour.drift * progress + noise
        score = (low + person["step"] * np.round((meant - low) / person["step"])).clip(person["low"], person["high"])
        ended = 1.6e9 + 1e6 * start + np.cumsum(rng.gamma(2, 10, len(work))).round(3)
        frames.append(
            work.drop(columns=["true", "spoilt", "after"]).assign(
                annotator=name, score=score, started=np.concatenate([[1.6e9 + 1e6 * start], ended[:-1]]), ended=ended
            )
        )
    frame = pd.concat(frames, ignore_index=True).assign(src_lang=design.pair[0], tgt_lang=design.pair[1])
    frame = frame[rng.random(len(frame)) >= design.missing].reset_index(drop=True)
    settings = {type(part).__name__.lower(): asdict(part) for part in (design, quality, behaviour, control)}
    named = {f"sim-system-{number}": float(quality.mean + one) for number, one in enumerate(system, 1)}
    # plain values, because pandas compares the attrs of frames that it joins
    known = {"systems": named, "annotators": people.to_dict("index"), **settings}
    return finished(frame, seed=seed, scale=scale, truth=known)


def _hits(design: Design, rng: np.random.Generator) -> list[list[tuple[int, int]]]:
    """Pack documents into HITs of a bounded size, of one system after the other or of all systems in turn."""
    room = max(1, design.hit // design.segments)
    hits = []
    if design.mixed:
        order = rng.permutation(design.documents).tolist()
        blocks = [order[at : at + room] for at in range(0, design.documents, room)]
        return [
            [((place + shift) % design.systems, doc) for place, doc in enumerate(block)]
            for block in blocks
            for shift in range(design.mixed)
        ]
    for system in range(design.systems):
        order = rng.permutation(design.documents).tolist()
        hits += [[(system, doc) for doc in order[at : at + room]] for at in range(0, design.documents, room)]
    return hits


def _same(count: int, **values: object) -> dict[str, np.ndarray]:
    """Repeat values, or take columns of so many values as they are."""
    return {name: np.broadcast_to(np.asarray(value), count) for name, value in values.items()}


def _calibration(design: Design, low: float, high: float) -> dict[str, np.ndarray]:
    """List the calibration items, column by column."""
    n, name = design.calibration, "sim-calibration"
    items = {"system": name, "doc": name, "segment": np.arange(1, n + 1).astype(str), "item_type": "calibration"}
    return _same(n, **items, true=np.linspace(low, high, n), spoilt=False, after=False, hit=name)


def _order(documents: int, control: Control, rng: np.random.Generator) -> list[tuple[int, bool]]:
    """Put the documents of a HIT into an order of showing, with copies of some of them."""
    order = [(unit, False) for unit in rng.permutation(documents).tolist()]
    for unit in rng.permutation(documents)[: control.copies].tolist():
        place = order.index((unit, False))
        at = rng.integers(0, place + 1) if rng.random() < control.first else rng.integers(place + 1, len(order) + 1)
        order.insert(int(at), (unit, True))
    return order


def _document(
    unit: tuple[int, int], true: np.ndarray, copy: bool, control: Control, rng: np.random.Generator, *, through: bool
) -> dict[str, np.ndarray]:
    """List one document's segments as they are shown, column by column; a copy has spoilt ones."""
    system, doc = unit
    count = true.shape[2]
    spoilt = rng.random(count) < (control.degraded if copy else 0)
    chance = rng.random(count) if control.references else np.ones(count)
    better = (chance < (control.references if copy else 0)) & ~spoilt
    first = doc * count if through else 0
    return _same(
        count,
        system=f"sim-system-{system + 1}",
        doc=f"sim-doc-{doc + 1:02}",
        segment=np.arange(first + 1, first + count + 1).astype(str),
        item_type=np.where(spoilt, "degraded", np.where(better, "reference", "repeat" if copy else "system")),
        true=true[system, doc] + control.loss * better,
        spoilt=spoilt,
        after=(np.cumsum(spoilt) > 0) & ~spoilt & ~better,
    )


def finished(
    frame: pd.DataFrame, schema: schemas.Schema = schemas.RATINGS, *, seed: int | Sequence[int], **facts: Any
) -> pd.DataFrame:
    """Return a drawn table as a loader would: the schema's columns first and in its order, seed and other facts noted.

    facts: scale, truth and the like. Raises DataError where the simulation breaks a rule of the schema, or leaves the
    scale.
    """
    names = sorted(frame, key=lambda name: [*schema.columns, name].index(name))
    made = schemas.check(frame[names], schema, origin="the simulation", scale=facts.get("scale"))
    made.attrs = {"seed": seed, **{name: fact for name, fact in facts.items() if fact is not None}}
    return made
