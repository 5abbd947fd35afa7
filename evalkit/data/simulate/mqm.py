r"""Stand-ins for MQM campaigns: IndicMT-Eval and WMT23, drawn from stated models.

Indic: a sentence is a row of made-up words; its reference has each word in the letters of the target language. A
translation gets each word wrong with the probability of its system, :math:`p_s` (0.03 to 0.18), and then another word
stands there and one error is marked, of a drawn type and severity; at most five are marked. One translation in eighty
is a non-translation. Scores are 25 less the weights of the release; the annotator's own are the same, clipped at 0,
plus :math:`N(0, 2^2)`, rounded.
WMT: a translation has :math:`\mathrm{Poisson}(1.2)` errors at drawn places; a rater marks each with probability 0.6,
its borders moved by up to two characters, and :math:`\mathrm{Poisson}(0.3)` places that are none.
"""

import hashlib
import math

import numpy as np
import pandas as pd

from evalkit.data import schemas
from evalkit.data.simulate.finish import finished, seeded
from evalkit.data.simulate.metrics import metric_outputs

_WEIGHTS = {"very low": 0.5, "low": 1.0, "medium": 2.0, "high": 4.0, "very high": 5.0, schemas.UNSTATED: 1.0}
_TYPES = {
    "accuracy/mistranslation": 0.4,
    "accuracy/omission": 0.12,
    "fluency/grammar": 0.24,
    "fluency/spelling": 0.08,
    "terminology/inappropriate": 0.1,
    "style/awkward": 0.06,
}
_SYSTEMS = {
    "sim-IndicTrans": 0.03,
    "sim-NLLB": 0.05,
    "sim-bing": 0.07,
    "sim-google": 0.09,
    "sim-mT5": 0.13,
    "sim-cvit": 0.18,
}
_SCRIPTS = {
    "guj": 0x0A95,
    "hin": 0x0915,
    "mal": 0x0D15,
    "mar": 0x0915,
    "tam": 0x0B95,
    "asm": 0x0995,
    "kan": 0x0C95,
    "mai": 0x0915,
    "pan": 0x0A15,
}
_FIVE, _UNSEEN = ("guj", "hin", "mal", "mar", "tam"), ("asm", "kan", "mai", "pan")
_SENTENCES, _OTHERS = 120, 40
_PLACE = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]


def indicmt_mqm(*, seed: int = 7) -> pd.DataFrame:
    """Draw a score of every system's translation of 120 sentences into five languages."""
    judged, _ = _campaign(_FIVE, _SENTENCES, "five", seed)
    return finished(judged.drop(columns="split"), seed=seed)


def indicmt_mqm_spans(*, seed: int = 7) -> pd.DataFrame:
    """Draw the errors behind ``indicmt_mqm``."""
    marked = _campaign(_FIVE, _SENTENCES, "five", seed)[1][[*_PLACE, "span", "error_type", "severity"]]
    return finished(marked, schemas.SPANS, seed=seed)


def indicmt_splits(*, seed: int = 7) -> pd.DataFrame:
    """Cut the judgements of ``indicmt_mqm`` into train, validation and test."""
    return seeded(_split(_campaign(_FIVE, _SENTENCES, "five", seed)[0]), seed)


def indicmt_splits_spans(*, seed: int = 7) -> pd.DataFrame:
    """Give the errors of ``indicmt_splits`` with their words."""
    return seeded(_split_spans(*_campaign(_FIVE, _SENTENCES, "five", seed)), seed)


def indicmt_zero_shot(*, seed: int = 7) -> pd.DataFrame:
    """Draw translations of 40 further sentences into four further languages, with scores."""
    unknown = dict.fromkeys(["formula_score", "accuracy_score", "fluency_score"], np.nan)
    return seeded(
        _split(_campaign(_UNSEEN, _OTHERS, "four", seed)[0].assign(split="zero-shot")).assign(**unknown), seed
    )


def indicmt_zero_shot_spans(*, seed: int = 7) -> pd.DataFrame:
    """Give the errors of ``indicmt_zero_shot`` with their words."""
    judged, marked = _campaign(_UNSEEN, _OTHERS, "four", seed)
    return seeded(_split_spans(judged.assign(split="zero-shot"), marked), seed)


def wmt23_mqm(*, seed: int = 7) -> pd.DataFrame:
    """Draw judgements: Chinese-English by eight raters, 18 segments by all of them; English-German merged."""
    judged, marked = _raters(seed)
    weight = marked.groupby(_PLACE)["weight"].sum().rename("weight").reset_index()
    scores = judged.merge(weight, on=_PLACE, how="left")["weight"].fillna(0.0)
    frame = judged.assign(score=0.0 - scores, item_type="system")
    return finished(frame, seed=seed)


def wmt23_mqm_spans(*, seed: int = 7) -> pd.DataFrame:
    """Draw the errors behind ``wmt23_mqm``."""
    return finished(_raters(seed)[1], schemas.SPANS, seed=seed)


def _campaign(languages: tuple[str, ...], sentences: int, name: str, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw translations with their scores, and their errors."""
    rng = np.random.default_rng([seed, *name.encode()])
    vocabulary = np.array(["".join(rng.choice(list("aeioukmnprst"), rng.integers(3, 8))) for _ in range(400)])
    sources = [vocabulary[rng.integers(0, 400, rng.integers(8, 22))] for _ in range(sentences)]
    kinds, shares = list(_TYPES), np.array(list(_TYPES.values()))
    judged, marked = [], []
    for language in languages:
        letters = str.maketrans({c: chr(_SCRIPTS[language] + i) for i, c in enumerate("aeioukmnprst")})
        lexicon = {word: word.translate(letters) for word in vocabulary}
        words = np.array(list(lexicon.values()))
        for number, source in enumerate(sources):
            reference = [lexicon[word] for word in source]
            for system, chance in _SYSTEMS.items():
                lost = rng.random() < 1 / 80
                wrong = np.flatnonzero(rng.random(len(source)) < (1.0 if lost else chance))
                said = [words[rng.integers(len(words))] if i in wrong else word for i, word in enumerate(reference)]
                text = " ".join(source) + "."
                row = {
                    "src_lang": "eng",
                    "tgt_lang": language,
                    "system": system,
                    "doc": "sim-doc",
                    "segment": hashlib.sha256(text.replace(" ", "").encode()).hexdigest()[:8],
                    "annotator": "sim-expert",
                }
                errors: list[tuple[str, str, int, int]] = [("non-translation", schemas.UNSTATED, 0, len(source))]
                if not lost:
                    severities = rng.choice(list(_WEIGHTS)[:5], len(wrong), p=[0.1, 0.15, 0.3, 0.25, 0.2])
                    types = rng.choice(kinds, len(wrong), p=shares)
                    errors = [(t, s, i, i + 1) for t, s, i in zip(types, severities, wrong.tolist())][:5]
                weights = [(25.0 if t == "non-translation" else 1.0) * _WEIGHTS[s] for t, s, _, _ in errors]
                parts = {
                    part: 25.0 - math.fsum(w for w, e in zip(weights, errors) if e[0].startswith(part))
                    for part in ("accuracy", "fluency")
                }
                score = 25.0 - math.fsum(weights)
                own = float(np.clip(np.round(max(score, 0) + rng.normal(0, 2)), 0, 25))
                texts = {"source": text, "reference": " ".join(reference) + ".", "hypothesis": " ".join(said) + "."}
                split = ("train", "train", "train", "val", "test")[number % 5]
                numbers = {"score": score, "own_score": own, **{f"{part}_score": parts[part] for part in parts}}
                judged.append(row | texts | numbers | {"item_type": "system", "split": split})
                marked += [
                    row
                    | {
                        "span": str(k),
                        "error_type": t,
                        "severity": s,
                        "start": float(a),
                        "end": float(b),
                        "text": " ".join(said[a:b]),
                    }
                    for k, (t, s, a, b) in enumerate(errors, 1)
                ]
    table = pd.DataFrame(judged)
    table["row"] = table.groupby("tgt_lang").cumcount()
    order = [
        *_PLACE,
        "score",
        "item_type",
        "own_score",
        "source",
        "reference",
        "hypothesis",
        "row",
        "split",
        "accuracy_score",
        "fluency_score",
    ]
    return table[order], pd.DataFrame(marked)


def _split(judged: pd.DataFrame) -> pd.DataFrame:
    """Lay judgements out as the release's splits."""
    formula = judged["score"]
    frame = judged.assign(formula_score=formula, score=formula.clip(lower=0) / 25, own_score=judged["own_score"] / 25)
    frame["row"] = frame.groupby(["tgt_lang", "split"]).cumcount()
    return frame[
        [
            "src_lang",
            "tgt_lang",
            "split",
            "row",
            "segment",
            "score",
            "own_score",
            "accuracy_score",
            "fluency_score",
            "formula_score",
            "source",
            "reference",
            "hypothesis",
        ]
    ]


def _split_spans(judged: pd.DataFrame, marked: pd.DataFrame) -> pd.DataFrame:
    """Lay errors out as the release's splits."""
    rows = judged.assign(row=judged.groupby(["tgt_lang", "split"]).cumcount())[[*_PLACE, "split", "row"]]
    return marked.merge(rows, on=_PLACE)[
        ["src_lang", "tgt_lang", "split", "row", "segment", "span", "error_type", "severity", "text", "start", "end"]
    ]


def _raters(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw who judges what, and which errors they mark."""
    rng = np.random.default_rng([seed, *b"raters"])
    raters = [f"sim-rater{number}" for number in range(1, 9)]
    judged, marked = [], []
    for row in metric_outputs(seed=seed).itertuples():
        segment, chinese = int(row.segment), row.src_lang == "zho"
        if segment > 60:
            continue
        who = raters if chinese and segment <= 18 else [raters[segment % 8]] if chinese else ["merged"]
        length = len(row.hypothesis)
        true = [(a, min(length, a + rng.integers(2, 9))) for a in rng.integers(0, length - 2, rng.poisson(1.2))]
        grave = rng.random(len(true)) < 0.3
        for name in who:
            place = dict(zip(_PLACE, [row.src_lang, row.tgt_lang, row.system, row.doc, row.segment, name]))
            judged.append(place)
            seen = [(e, g) for e, g in zip(true, grave) if rng.random() < 0.6]
            seen += [((a, a + 3), False) for a in rng.integers(0, length - 3, rng.poisson(0.3))]
            for k, ((start, end), major) in enumerate(seen, 1):
                start = int(np.clip(start + rng.integers(-2, 3), 0, length - 1))
                end = int(np.clip(end + rng.integers(-2, 3), start + 1, length))
                marked.append(
                    place
                    | {
                        "span": str(k),
                        "error_type": str(rng.choice(["accuracy/mistranslation", "fluency/grammar"])),
                        "severity": "major" if major else "minor",
                        "side": "target",
                        "weight": 5.0 if major else 1.0,
                        "start": float(start),
                        "end": float(end),
                    }
                )
    return pd.DataFrame(judged), pd.DataFrame(marked)
