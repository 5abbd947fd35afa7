"""Draw translations with their post-edits."""

import numpy as np
import pandas as pd

from evalkit.data.simulate.finish import finished

#: The share of wrong words in each translation.
_ERRORS = {"HT0": 0.02, "MT1": 0.10, "MT2": 0.22}
_ANNOTATORS = 3
#: The share of errors that an annotator finds, and the share of those that are critical.
_FOUND, _CRITICAL = 0.85, 0.25
_SYLLABLES = ("ka", "ro", "mi", "tel", "nu", "sa", "lo", "den", "vi", "pur")


def post_edited(*, sentences: int = 120, seed: int = 7) -> pd.DataFrame:
    r"""Draw a post-editing campaign: ratings with ``hypothesis``, ``post_edit`` and, in ``score``, critical errors.

    A sentence has 6 to 20 words, made of syllables. Each word of translation m is wrong with probability :math:`e_m`
    (HT0 .02, MT1 .10, MT2 .22): half of the wrong ones are other words, a quarter is missing, a quarter is doubled.
    Each of three annotators finds each error with probability .85 and mends exactly that; a quarter of the mended ones
    counts as critical. ``reference`` is the sentence without errors. ``attrs["truth"]`` holds :math:`e`.
    """
    rng = np.random.default_rng(seed)
    words = np.array(["".join(rng.choice(_SYLLABLES, n)) for n in rng.integers(1, 4, 300)])
    sentence = [rng.choice(words, length) for length in rng.integers(6, 21, sentences)]
    rows = []
    for name, rate in _ERRORS.items():
        for number, right in enumerate(sentence, 1):
            # fine, another word, missing, doubled
            kind = rng.choice(4, len(right), p=[1 - rate, rate / 2, rate / 4, rate / 4])
            other = rng.choice(words, len(right))
            hypothesis = _written(right, other, kind)
            wrong = kind > 0
            for annotator in range(1, _ANNOTATORS + 1):
                mended = wrong & (rng.random(len(right)) < _FOUND)
                grave = int((rng.random(len(right)) < _CRITICAL)[mended].sum())
                rows.append(
                    (
                        f"sim-{name}",
                        str(number),
                        f"sim-{annotator}",
                        float(grave),
                        hypothesis,
                        _written(right, other, np.where(mended, 0, kind)),
                        " ".join(right),
                    )
                )
    columns = ["system", "segment", "annotator", "score", "hypothesis", "post_edit", "reference"]
    frame = pd.DataFrame(rows, columns=columns).assign(src_lang="xxx", tgt_lang="eng", doc="sim-post-edits")
    frame["item_type"] = np.where(frame["system"].str.startswith("sim-HT"), "reference", "system")
    return finished(frame, seed=seed, scale=(0, 100), truth=dict(_ERRORS))


def _written(right: np.ndarray, other: np.ndarray, kind: np.ndarray) -> str:
    """Write a sentence out with its errors."""
    parts = [
        (word,) if k == 0 else (wrong,) if k == 1 else () if k == 2 else (word, word)
        for word, wrong, k in zip(right, other, kind, strict=True)
    ]
    return " ".join(word for part in parts for word in part) or "-"
