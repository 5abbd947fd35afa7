r"""Draw ratings from stated models; names of systems begin with ``sim-``.

``campaign`` is a general model of an annotation campaign whose parts can be switched on and off. ``categories`` and
``protocol_study`` draw categories whose expected kappa is chosen in advance, ``post_edited`` outputs with post-edits.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import schemas

_SYLLABLES = ("ka", "ro", "mi", "tel", "nu", "sa", "lo", "den", "vi", "pur")


@dataclass(frozen=True)
class Design:
    """Say who judges what, how good translations are, how annotators use the scale, and how HITs check them.

    Standard deviations, points and shares of 0 switch a part off.
    """

    # Who judges what, and how documents are packed into HITs
    systems: int = 4
    documents: int = 12
    segments: int = 8  # in each document
    annotators: int = 5
    judgements: int = 2  # annotators of each document of each system; equal to ``annotators``: all see all
    hit: int = 40  # segments in a HIT, at most (a longer document is a HIT of its own)
    calibration: int = 0  # items of a calibration set, the same for all annotators, shown first
    mixed: int = 0  # a HIT holds documents of different systems, and each is judged in so many systems' translations
    through: bool = False  # segments are numbered through all documents

    # How good translations are, in points of the scale
    mean: float = 70.0
    sd_system: float = 6.0
    sd_document: float = 4.0
    sd_segment: float = 12.0
    leads: tuple[float, ...] = (0.0,)  # how much better each system is besides, over and over again

    # How annotators use the scale, in its points
    sd_bias: float = 6.0
    sd_gain: float = 0.2  # of the logarithm of the gain
    sd_noise: float = 7.0
    ticks: int = 0  # how many evenly spaced points are used; 0: whole numbers
    coarse: float = 0.0  # probability that an annotator uses only every fifth of them or, a quarter of these, tenth
    drift: float = 0.0  # points by which scores have moved at the end of an annotator's work

    # How each HIT checks its annotator: copies of documents, some of their segments spoilt on purpose
    copies: int = 0  # documents of each HIT that are shown again
    degraded: float = 0.4  # share of a copy's segments that are spoilt
    references: float = 0.0  # share of a copy's other segments that are references, as much better as spoilt ones lose
    loss: float = 30.0  # points of quality that spoiling costs
    context: float = 0.0  # points that a clean segment gains or loses after the first spoilt one of its document
    first: float = 0.5  # probability that the copy comes before the original


def campaign(
    design: Design = Design(),
    *,
    scale: tuple[float, float] = (0, 100),
    true: np.ndarray | None = None,
    seed: int | Sequence[int] = 7,
) -> pd.DataFrame:
    r"""Draw the ratings of one language pair on a scale of whole numbers, continuous (0-100) or ordinal (1-5).

    Segment i of document d by system s has the quality :math:`q_{sdi} = \mu + S_s + D_d + \theta_{sdi}`, three
    independent normals around ``mean``. At showing t annotator a means

    .. math:: x_{at} = \mu + g_a (q - \mu - \ell\,B_t + c\,A_t) + b_a + \lambda u_t
        + \epsilon_{at}, \qquad \epsilon_{at} \sim N(0, \sigma^2)

    with bias :math:`b_a \sim N(0, \text{sd\_bias}^2)`, gain :math:`\ln g_a \sim N(0, \text{sd\_gain}^2)`, progress
    :math:`u_t` from 0 to 1 through an annotator's work, drift :math:`\lambda`; :math:`B_t` is 1
    for a spoilt segment, which loses :math:`\ell`, and :math:`A_t` for a clean one after the first spoilt one of its
    document, which moves by the effect of context :math:`c`. What is written down is

    .. math:: y_{at} = \operatorname{clip}(k \operatorname{round}((x_{at} - L) / k) + L,\ L,\ H)

    with the scale's ends L and H and steps :math:`k` (1, or the scale cut into ``ticks`` points).

    Documents of one system are packed in a random order into HITs; each HIT goes to ``judgements`` annotators, who
    see its documents in their own order. Copies have the item type ``degraded`` where spoilt and ``repeat`` elsewhere.
    References are :math:`\ell` better. Calibration items have :math:`q` evenly spread over the scale.
    true: the qualities, systems × documents × segments, where they are known and not drawn.
    Raises DataError for a design that cannot be drawn.

    >>> campaign(Design(judgements=9))
    Traceback (most recent call last):
    evalkit.DataError: 9 judgements a document need more than 5 annotators. Add some.
    """
    (low, high), people = map(float, scale), design.annotators
    if design.judgements > people:
        raise DataError(f"{design.judgements} judgements a document need more than {people} annotators. Add some.")
    rng = np.random.default_rng(seed)
    system = rng.normal(0, design.sd_system, design.systems)
    if true is None:
        document = rng.normal(0, design.sd_document, design.documents)
        segment = rng.normal(0, design.sd_segment, (design.systems, design.documents, design.segments))
        true = design.mean + system[:, None, None] + document[:, None] + segment
    true = true + np.resize(design.leads, design.systems)[:, None, None]
    bias, gain = rng.normal(0, design.sd_bias, people), np.exp(rng.normal(0, design.sd_gain, people))
    finest = (high - low) / (design.ticks - 1) if design.ticks else 1.0
    coarse = [1 - design.coarse, 0.75 * design.coarse, 0.25 * design.coarse]
    steps = finest * rng.choice([1, 5, 10], people, p=coarse)
    work = pd.concat([_calibration(design, low, high), _shown(design, true, rng)]).reset_index(drop=True)
    work = work.sort_values("who", kind="stable", ignore_index=True)
    who, by = work["who"], work.groupby("who")["who"]
    progress = by.cumcount() / (by.transform("size") - 1).clip(lower=1)
    felt = work["true"] - design.mean - design.loss * work["spoilt"] + design.context * work["after"]
    noise = rng.normal(0, 1, len(work)) * design.sd_noise
    meant, step = design.mean + gain[who] * felt + bias[who] + design.drift * progress + noise, steps[who]
    begun = 1.6e9 + 1e6 * who
    ended = begun + pd.Series(rng.gamma(2, 10, len(work))).groupby(who).cumsum().round(3)
    frame = work.drop(columns=["who", "true", "spoilt", "after"]).assign(
        annotator="sim-annotator-" + (who + 1).astype("str"),
        score=(low + step * ((meant - low) / step).round()).clip(low, high),
        started=ended.groupby(who).shift().fillna(begun),
        ended=ended,
        src_lang="xxx",
        tgt_lang="eng",
    )
    return finished(frame, seed=seed, scale=scale)


def _calibration(design: Design, low: float, high: float) -> pd.DataFrame:
    """List the calibration items of everybody."""
    items = pd.DataFrame({"true": np.linspace(low, high, design.calibration), "item_type": "calibration"})
    items["segment"] = [f"{number}" for number in range(1, design.calibration + 1)]
    name = "sim-calibration"
    items = items.assign(system=name, doc=name, hit=name, spoilt=False, after=False)
    return pd.DataFrame({"who": range(design.annotators)}).merge(items, how="cross")


def _shown(design: Design, true: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """List the segments that are shown, in the order of showing; copies have spoilt ones."""
    rows = []
    for number, hit in enumerate(_hits(design, rng)):
        for turn in range(design.judgements):
            name = f"sim-hit-{number + 1:03}-{turn + 1}"
            order = _order(len(hit), design, rng)
            rows += [((number + turn) % design.annotators, name, *hit[unit], copy) for unit, copy in order]
    showings = pd.DataFrame(rows, columns=["who", "hit", "system", "doc", "copy"])
    work = showings.loc[showings.index.repeat(design.segments)]
    place = work.groupby(level=0).cumcount()
    spoilt = work["copy"] & (rng.random(len(work)) < design.degraded)
    better = work["copy"] & (rng.random(len(work)) < design.references) & ~spoilt
    kinds = np.select([spoilt, better, work["copy"]], ["degraded", "reference", "repeat"], "system")
    number = place + 1 + (work["doc"] * design.segments if design.through else 0)
    return work.drop(columns="copy").assign(
        system="sim-system-" + (work["system"] + 1).astype("str"),
        doc="sim-doc-" + (work["doc"] + 1).astype("str").str.zfill(2),
        segment=number.astype("str"),
        item_type=kinds,
        true=true[work["system"], work["doc"], place] + design.loss * better,
        spoilt=spoilt,
        after=(spoilt.groupby(level=0).cumsum() > 0) & ~spoilt & ~better,
    )


def _hits(design: Design, rng: np.random.Generator) -> list[list[tuple[int, int]]]:
    """Pack documents into HITs of a bounded size, of one system after the other or of all systems in turn."""
    room = max(1, design.hit // design.segments)

    def blocks() -> list[list[int]]:
        order = rng.permutation(design.documents).tolist()
        return [order[at : at + room] for at in range(0, design.documents, room)]

    if not design.mixed:
        return [[(system, doc) for doc in block] for system in range(design.systems) for block in blocks()]
    turns = [(block, shift) for block in blocks() for shift in range(design.mixed)]
    return [[((place + shift) % design.systems, doc) for place, doc in enumerate(block)] for block, shift in turns]


def _order(documents: int, design: Design, rng: np.random.Generator) -> list[tuple[int, bool]]:
    """Put the documents of a HIT into an order of showing, with copies of some of them."""
    order = [(unit, False) for unit in rng.permutation(documents).tolist()]
    for unit in rng.permutation(documents)[: design.copies].tolist():
        place = order.index((unit, False))
        at = rng.integers(0, place + 1) if rng.random() < design.first else rng.integers(place + 1, len(order) + 1)
        order.insert(int(at), (unit, True))
    return order


def finished(
    frame: pd.DataFrame, schema: schemas.Schema = schemas.RATINGS, *, seed: int | Sequence[int], **facts: Any
) -> pd.DataFrame:
    """Return a drawn table as a loader would: the schema's columns first and in its order, seed and other facts noted.

    facts: scale and the like. Raises DataError where the simulation breaks a rule of the schema, or leaves the scale.
    """
    names = sorted(frame, key=lambda name: [*schema.columns, name].index(name))
    made = schemas.check(frame[names], schema, origin="the simulation", scale=facts.get("scale"))
    made.attrs = {"seed": seed, **facts}
    return made


def crossed(**levels: Iterable[Any]) -> pd.DataFrame:
    """Cross the levels of columns, the last column changing first."""
    return pd.MultiIndex.from_product(levels.values(), names=levels).to_frame(index=False)


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
    if not 0 <= kappa <= 1:
        raise DataError(f"kappa={kappa:g} cannot be drawn. Choose one from 0 to 1.")
    shape = (draws, items, annotators)
    guessed, true = (rng.choice(len(share), size, p=share / share.sum()) for size in (shape, (draws, items, 1)))
    return np.where(rng.random(shape) < np.sqrt(kappa), true, guessed)


def protocol_study(
    kappas: pd.DataFrame, *, marginal: dict[str, list[float]], sentences: int = 250, annotators: int = 3, seed: int = 7
) -> pd.DataFrame:
    """Draw what annotators mean of each sentence's translations under several protocols, each with a stated true kappa.

    kappas: protocol, src_lang, tgt_lang, kappa. In every cell the same annotators give each translation of each
    sentence a category from 1 on, by the model of ``categories``, with the same true kappa for all translations.
    marginal: translation -> shares of the categories. Returns doc (the protocol), src_lang, tgt_lang, system (the
    translation), segment, score (the mean of the annotators).
    """
    size: dict[str, Any] = {"items": sentences, "annotators": annotators, "rng": np.random.default_rng(seed)}
    cells = itertools.product(kappas["kappa"].astype(float), marginal.values())
    means = [categories(kappa, marginal=shares, **size).mean(axis=-1) + 1 for kappa, shares in cells]
    items = crossed(system=marginal, segment=range(1, sentences + 1)).astype("str")
    frame = kappas[["protocol", "src_lang", "tgt_lang"]].merge(items, how="cross")
    return frame.rename(columns={"protocol": "doc"}).assign(score=np.concatenate(means, axis=None))


def post_edited(*, sentences: int = 120, seed: int = 7) -> pd.DataFrame:
    r"""Draw a post-editing campaign: ratings with ``hypothesis``, ``post_edit`` and, in ``score``, critical errors.

    A sentence has 6 to 20 words, made of syllables. Each word of translation m is wrong with probability :math:`e_m`
    (HT0 .02, MT1 .10, MT2 .22): half of the wrong ones are other words, a quarter is missing, a quarter is doubled.
    Each of three annotators finds each error with probability .85 and mends exactly that; a quarter of the mended ones
    counts as critical. ``reference`` is the sentence without errors.
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
    return finished(frame, seed=seed, scale=(0, 100))


def _written(right: np.ndarray, other: np.ndarray, kind: np.ndarray) -> str:
    """Write a sentence out with its errors."""
    forms = {0: "{0}", 1: "{1}", 2: "", 3: "{0} {0}"}
    words = [forms[k].format(word, wrong) for word, wrong, k in zip(right, other, kind, strict=True)]
    return " ".join(word for word in words if word) or "-"
