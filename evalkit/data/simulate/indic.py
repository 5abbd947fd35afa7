r"""Stand-ins for IndicMT-Eval: translations of made-up sentences with errors marked, their scores, and its splits.

A sentence is a row of made-up words; its reference has each word in the letters of the target language. A translation
gets each word wrong with the probability of its system, and then another word stands there and one error is marked, of
a drawn type and severity; at most five are marked. One translation in eighty is a non-translation. Scores are 25 less
the weights of the release; the annotator's own are the same, clipped at 0, plus :math:`N(0, 2^2)`, rounded.
"""

import hashlib
import itertools
import math

import numpy as np
import pandas as pd

from evalkit.data import schemas
from evalkit.data.simulate import recipes
from evalkit.data.simulate.campaign import finished

_LETTERS = "aeioukmnprst"
_PLACE = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]
_ROW = ["src_lang", "tgt_lang", "split", "row", "segment"]


def ratings(*, scripts: dict[str, int], sentences: int, seed: int) -> pd.DataFrame:
    """Draw a score of every system's translation of some sentences. scripts: language -> its first letter, Unicode."""
    judged = _drawn(scripts, sentences, seed)[0].drop(columns=["split", "accuracy_score", "fluency_score"])
    return finished(judged.assign(row=judged.groupby("tgt_lang").cumcount()), seed=seed)


def spans(*, scripts: dict[str, int], sentences: int, seed: int) -> pd.DataFrame:
    """Draw the errors behind ``ratings``."""
    return finished(_drawn(scripts, sentences, seed)[1], schemas.SPANS, seed=seed)


def splits(*, scripts: dict[str, int], sentences: int, split: str = "", seed: int) -> pd.DataFrame:
    """Lay the judgements out as the release's splits. split: the only one there is, in which parts of scores lack."""
    judged = _drawn(scripts, sentences, seed)[0]
    judged = judged.assign(split=split) if split else judged
    judged = judged.assign(row=judged.groupby(["tgt_lang", "split"]).cumcount())
    parts = {f"{name}_score": judged[f"{name}_score"] for name in ("accuracy", "fluency")}
    parts["formula_score"] = judged["score"]
    scores = {"score": judged["score"].clip(lower=0) / 25, "own_score": judged["own_score"] / 25}
    frame = judged[_ROW].assign(**scores, **(dict.fromkeys(parts, np.nan) if split else parts))
    frame = frame.assign(**{name: judged[name] for name in ("source", "reference", "hypothesis")})
    frame.attrs = {"seed": seed}
    return frame


def _drawn(scripts: dict[str, int], sentences: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw translations with their scores, and their errors."""
    rng, options = np.random.default_rng([seed, sentences]), recipes()["tasks"]["indic"]
    vocabulary = np.array(["".join(rng.choice(list(_LETTERS), rng.integers(3, 8))) for _ in range(400)])
    sources = [vocabulary[rng.integers(0, 400, rng.integers(8, 22))] for _ in range(sentences)]
    judged, marked = [], []
    for (language, first), (number, source) in itertools.product(scripts.items(), enumerate(sources)):
        letters = str.maketrans({letter: chr(first + place) for place, letter in enumerate(_LETTERS)})
        reference, text = [word.translate(letters) for word in source], " ".join(source) + "."
        segment = hashlib.sha256(text.replace(" ", "").encode()).hexdigest()[:8]
        for system, chance in options["systems"].items():
            lost = rng.random() < 1 / 80
            wrong = np.flatnonzero(rng.random(len(source)) < (1.0 if lost else chance))
            said = reference.copy()
            for word in wrong:
                said[word] = rng.choice(vocabulary).translate(letters)
            errors = _errors(len(wrong), options, rng, lost=lost)
            score, accuracy, fluency = (
                25.0 - math.fsum(weight for kind, _, weight in errors if kind.startswith(part))
                for part in ("", "accuracy", "fluency")
            )
            own = float(np.clip(np.round(max(score, 0) + rng.normal(0, 2)), 0, 25))
            place = dict(zip(_PLACE, ["eng", language, system, "sim-doc", segment, "sim-expert"], strict=True))
            judged.append(
                place
                | {"score": score, "item_type": "system", "own_score": own, "accuracy_score": accuracy}
                | {"fluency_score": fluency, "split": ("train", "train", "train", "val", "test")[number % 5]}
                | {"source": text, "reference": " ".join(reference) + ".", "hypothesis": " ".join(said) + "."}
            )
            marked += [
                place | {"span": str(span), "error_type": kind, "severity": severity}
                for span, (kind, severity, _) in enumerate(errors, 1)
            ]
    return pd.DataFrame(judged), pd.DataFrame(marked)


def _errors(
    count: int, options: dict[str, dict[str, float]], rng: np.random.Generator, *, lost: bool
) -> list[tuple[str, str, float]]:
    """Draw type, severity and weight of each error that is marked."""
    if lost:
        return [("non-translation", schemas.UNSTATED, 25.0)]
    weights, types = options["severities"], options["types"]
    severities = rng.choice(list(weights), count, p=[0.1, 0.15, 0.3, 0.25, 0.2]).tolist()
    kinds = rng.choice(list(types), count, p=list(types.values())).tolist()
    return [(kind, one, weights[one]) for kind, one in zip(kinds, severities, strict=True)][:5]
