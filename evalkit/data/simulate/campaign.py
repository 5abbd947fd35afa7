"""Draw annotation campaigns from a model whose parts can be switched on and off, each by one number.

And what designs are tried on: categories whose expected kappa is chosen in advance, and post-edits of errors.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import schemas

_SYLLABLES = ("ka", "ro", "mi", "tel", "nu", "sa", "lo", "den", "vi", "pur")


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


def categories(
    kappa: float, *, marginal: list[float], items: int, annotators: int, rng: np.random.Generator, draws: int = 1
) -> np.ndarray:
    r"""Draw items whose chance-corrected agreement is ``kappa`` in expectation.

    Returns codes, (draws, items, annotators).
    marginal: how often each category 0, 1, … is used, summing to 1; all annotators share it.

    For :math:`\kappa \ge 0` item i has a true category :math:`T_i \sim \pi`. An annotator reports it with probability
    :math:`p = \sqrt\kappa` and else draws from :math:`\pi`, whatever the item. Two annotators agree where both report
    (:math:`p^2`), and by chance otherwise, for a report and a guess, or two guesses, are independent of each other:

    .. math:: P_o = p^2 + (1 - p^2) \sum_k \pi_k^2, \qquad
       \kappa = \frac{P_o - \sum_k \pi_k^2}{1 - \sum_k \pi_k^2} = p^2

    For :math:`\kappa < 0` annotators avoid each other: with probability :math:`-\kappa (K - 1)` an item's annotators
    take different categories out of K at random, and else guess. This needs equal marginals, :math:`1/K` each, and
    no more annotators than categories; then :math:`P_o = (1 + \kappa (K - 1)) / K`.

    Caveat: agreement and marginals are exact in expectation. The kappa of a finite sample is a ratio of the two, which
    estimates its target with a bias of the order of 1/items.
    Raises DataError where no such model exists.

    >>> codes = categories(1, marginal=[0.5, 0.5], items=4, annotators=3, rng=np.random.default_rng(7))
    >>> codes.shape, bool((codes == codes[..., :1]).all())
    ((1, 4, 3), True)
    """
    share = np.asarray(marginal, float)
    if len(share) < 2 or (share < 0).any() or not np.isclose(share.sum(), 1):
        raise DataError(f"marginal={list(marginal)}: give a share of each of two or more categories, 1 in all.")
    shape, k = (draws, items, annotators), len(share)
    guessed = _draw(share, shape, rng)
    if 0 <= kappa <= 1:
        true = _draw(share, (draws, items, 1), rng)
        return np.where(rng.random(shape) < np.sqrt(kappa), true, guessed)
    if kappa > 1 or -kappa * (k - 1) > 1 or annotators > k or not np.allclose(share, 1 / k):
        raise DataError(
            f"kappa={kappa:g} cannot be drawn: above 1 there is none, and below 0 only down to {-1 / (k - 1):.2f}, "
            f"with {k} equally frequent categories and no more annotators than these. Choose another kappa."
        )
    different = rng.permuted(np.broadcast_to(np.arange(k), (draws, items, k)), axis=-1)[..., :annotators]
    return np.where(rng.random((draws, items, 1)) < -kappa * (k - 1), different, guessed)


def _draw(share: np.ndarray, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Draw codes with the given shares."""
    chance, codes = rng.random(shape), np.zeros(shape, np.int8)
    for below in np.cumsum(share)[:-1]:  # quicker than a search, the categories being few
        codes += chance >= below
    return codes


def protocol_study(
    kappas: pd.DataFrame,
    *,
    marginal: list[float] | dict[str, list[float]],
    translations: tuple[str, ...] = ("HT0", "MT0", "MT1", "MT2"),
    sentences: int = 250,
    annotators: int = 3,
    seed: int = 7,
) -> pd.DataFrame:
    """Draw the annotation file of a comparison of protocols, each cell of which has a stated true kappa.

    kappas: protocol, src_lang, tgt_lang, kappa. In every cell the same annotators give each translation of each
    sentence a category from 1 on, by the model of ``categories``, with the same true kappa for all translations.
    ``doc`` is the protocol, ``system`` the translation. ``attrs["truth"]`` keeps the rows of ``kappas``.
    marginal: shares of the categories, the same for all translations, or one for each.
    """
    rng = np.random.default_rng(seed)
    shares = marginal if isinstance(marginal, dict) else dict.fromkeys(translations, marginal)
    top = max(map(len, shares.values()))
    frames = []
    for cell in kappas.itertuples():
        codes = [
            categories(float(cell.kappa), marginal=shares[name], items=sentences, annotators=annotators, rng=rng)
            for name in translations
        ]
        index = pd.MultiIndex.from_product(
            [
                [f"sim-{name}" for name in translations],
                [str(n) for n in range(1, sentences + 1)],
                [f"sim-{cell.src_lang}{cell.tgt_lang}-{n}" for n in range(1, annotators + 1)],
            ],
            names=["system", "segment", "annotator"],
        )
        frame = pd.DataFrame({"score": np.concatenate(codes).ravel() + 1.0}, index=index).reset_index()
        frames.append(frame.assign(src_lang=cell.src_lang, tgt_lang=cell.tgt_lang, doc=f"sim-{cell.protocol}"))
    frame = pd.concat(frames, ignore_index=True)
    frame["item_type"] = np.where(frame["system"].str.startswith("sim-HT"), "reference", "system")
    return finished(frame, seed=seed, scale=(1, top), truth=kappas.to_dict("records"))


def post_edited(*, sentences: int = 120, seed: int = 7) -> pd.DataFrame:
    r"""Draw a post-editing campaign: ratings with ``hypothesis``, ``post_edit`` and, in ``score``, critical errors.

    A sentence has 6 to 20 words, made of syllables. Each word of translation m is wrong with probability :math:`e_m`
    (HT0 .02, MT1 .10, MT2 .22): half of the wrong ones are other words, a quarter is missing, a quarter is doubled.
    Each of three annotators finds each error with probability .85 and mends exactly that; a quarter of the mended ones
    counts as critical. ``reference`` is the sentence without errors. ``attrs["truth"]`` holds :math:`e`.
    """
    rng = np.random.default_rng(seed)
    errors = {"HT0": 0.02, "MT1": 0.10, "MT2": 0.22}
    words = np.array(["".join(rng.choice(_SYLLABLES, n)) for n in rng.integers(1, 4, 300)])
    texts = [rng.choice(words, length) for length in rng.integers(6, 21, sentences)]
    rows = []
    for name, rate in errors.items():
        for number, right in enumerate(texts, 1):
            # fine, another word, missing, doubled
            kind = rng.choice(4, len(right), p=[1 - rate, rate / 2, rate / 4, rate / 4])
            other = rng.choice(words, len(right))
            for annotator in range(1, 4):
                mended = (kind > 0) & (rng.random(len(right)) < 0.85)
                critical = float((rng.random(len(right)) < 0.25)[mended].sum())
                written = [_written(right, other, kinds) for kinds in (kind, np.where(mended, 0, kind), 0 * kind)]
                rows.append([f"sim-{name}", str(number), f"sim-{annotator}", critical, *written])
    columns = ["system", "segment", "annotator", "score", "hypothesis", "post_edit", "reference"]
    frame = pd.DataFrame(rows, columns=columns).assign(src_lang="xxx", tgt_lang="eng", doc="sim-post-edits")
    frame["item_type"] = np.where(frame["system"].str.startswith("sim-HT"), "reference", "system")
    return finished(frame, seed=seed, scale=(0, 100), truth=errors)


def _written(right: np.ndarray, other: np.ndarray, kind: np.ndarray) -> str:
    """Write a sentence out with its errors."""
    forms = {0: "{0}", 1: "{1}", 2: "", 3: "{0} {0}"}
    words = [forms[k].format(word, wrong) for word, wrong, k in zip(right, other, kind, strict=True)]
    return " ".join(word for word in words if word) or "-"
