"""Draw what designs are tried on: categories whose expected kappa is chosen in advance, and post-edits of errors."""

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.simulate.campaign import finished

_SYLLABLES = ("ka", "ro", "mi", "tel", "nu", "sa", "lo", "den", "vi", "pur")


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
