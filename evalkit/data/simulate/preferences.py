r"""Stand-ins for judgements of several translations on one screen, drawn from stated models.

Literary: four ways to translate have log strengths .8, .1, -.1 and -.8; the first of two is preferred with the chance
of Bradley and Terry's model, and a translation of strength s has :math:`\mathrm{Poisson}(4 - 2 s)` marks.
Side by side: a translation has :math:`\mathrm{Poisson}(1.2)` errors; each of three raters marks each with probability
0.6, and what he marked in one translation with probability 0.7 in the other, too, where it has the same letters there.
Contrastive ESA: a score is 75 less 3 points a place of the system, plus :math:`N(0, 8^2)` of the segment and
:math:`N(0, 10^2)` of the judgement, rounded to fives and clipped to 0 and 100.
"""

import numpy as np
import pandas as pd

from evalkit.data import compared, schemas
from evalkit.data.compared import MARKS
from evalkit.data.simulate.finish import finished, seeded
from evalkit.data.simulate.metrics import metric_outputs

_STRENGTHS = {"sim-para": 0.8, "sim-para_sent": 0.1, "sim-sent": -0.1, "sim-gtr": -0.8}
_LANGUAGES, _BOOKS, _PARAGRAPHS = ("pol", "jpn", "eng"), 6, 10
_LABELS = {
    "mistranslation": 0.7,
    "grammar": 0.16,
    "untranslated": 0.07,
    "register": 0.03,
    "format": 0.03,
    "inconsistency": 0.01,
}
#: Pairs of systems, by number, that share a screen; some share none with others, even through third ones.
_SCREENS = ((1, 2), (3, 4), (5, 6), (7, 8), (8, 9))
_SEGMENTS, _RATERS = 60, 9
_PLACE = ["src_lang", "tgt_lang", "doc", "segment", "annotator"]


def literary_preferences(*, seed: int = 7) -> pd.DataFrame:
    """Draw three comparisons of each of 180 paragraphs: the first way of translating against each other."""
    rng = np.random.default_rng([seed, *b"literary"])
    rows: list[dict[str, object]] = []
    for language in _LANGUAGES:
        for book, number in np.ndindex(_BOOKS, _PARAGRAPHS):
            for other in list(_STRENGTHS)[1:]:
                names = [str(name) for name in rng.permutation(["sim-para", other])]
                rows.append(
                    _chosen(names, rng)
                    | {
                        "src_lang": "deu" if language == "eng" else "eng",
                        "tgt_lang": language,
                        "annotator": "unnamed",
                        "doc": f"sim-book-{book}-{language}",
                        "segment": str(number + 1),
                        "first": "a",
                        "screen": f"sim/{len(rows) + 1}",
                    }
                )
    frame = compared.check(pd.DataFrame(rows), origin="the simulation")
    return seeded(frame, seed)


def _chosen(names: list[str], rng: np.random.Generator) -> dict[str, object]:
    """Draw which of two translations is preferred, and how much was marked in either."""
    lead = _STRENGTHS[names[0]] - _STRENGTHS[names[1]]
    marks = [int(rng.poisson(4 - 2 * _STRENGTHS[name])) for name in names]
    chance = 1 / (1 + np.exp(-lead))
    return {
        "system_a": names[0],
        "system_b": names[1],
        "preference": "a" if rng.random() < chance else "b",
        "close": bool(rng.random() < 0.6 - abs(chance - 0.5)),
        "marks_a": marks[0],
        "marks_b": marks[1],
    }


def literary_marks(*, seed: int = 7) -> pd.DataFrame:
    """Give the marks that ``literary_preferences`` counts a label."""
    rng = np.random.default_rng([seed, *b"labels"])
    rows = []
    for one in literary_preferences(seed=seed).to_dict("records"):
        for side in "ab":
            place = {name: one[name] for name in (*_PLACE, "screen")} | {"system": one[f"system_{side}"]}
            drawn = rng.choice(list(_LABELS), one[f"marks_{side}"], p=list(_LABELS.values()))
            rows += [
                place | {"span": str(k), "error_type": str(label), "severity": schemas.UNSTATED, "side": "target"}
                for k, label in enumerate(drawn, start=1)
            ]
    return finished(pd.DataFrame(rows), MARKS, seed=seed)


def wmt23_side_by_side(*, seed: int = 7) -> pd.DataFrame:
    """Draw MQM of two systems' outputs on one screen, by three raters each, on 60 segments."""
    judged, marked = _screens(seed)
    key = [*_PLACE, "hit", "system"]
    found = marked.groupby(key)["weight"].agg(["sum", "size"]).reset_index()
    frame = judged.merge(found, on=key, how="left").fillna({"sum": 0.0, "size": 0.0})
    frame = frame.assign(score=0.0 - frame["sum"], errors=frame["size"].astype(float), item_type="system")
    return finished(frame.drop(columns=["sum", "size"]), seed=seed)


def wmt23_side_by_side_spans(*, seed: int = 7) -> pd.DataFrame:
    """Draw the errors behind ``wmt23_side_by_side``."""
    return finished(_screens(seed)[1], schemas.SPANS, seed=seed)


def _screens(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw what each rater judged, and marked in either translation."""
    rng = np.random.default_rng([seed, *b"screens"])
    outputs = metric_outputs(seed=seed)
    outputs = outputs[outputs["tgt_lang"].eq("deu")]
    texts = {(row.system, int(row.segment)): row for row in outputs.itertuples()}
    judged, marked = [], []
    for segment in range(1, _SEGMENTS + 1):
        for pair in _SCREENS:
            shown = [texts[f"sim-system-{number:02d}", segment] for number in pair]
            true = [_errors(one.hypothesis, rng) for one in shown]
            for rater in rng.choice(_RATERS, 3, replace=False):
                one, marks = _rated(shown, true, f"sim-rater{rater + 1}", rng)
                judged += one
                marked += marks
    errors = pd.DataFrame(marked)
    errors["span"] = (errors.groupby([*_PLACE, "system"]).cumcount() + 1).astype("str")  # over both screens of a system
    return pd.DataFrame(judged), errors


def _errors(text: str, rng: np.random.Generator) -> list[tuple[int, int, bool]]:
    """Draw begin, end and graveness of the errors of a text."""
    begins = rng.integers(0, len(text) - 4, rng.poisson(1.2))
    return [
        (int(begin), min(len(text), int(begin + rng.integers(4, 10))), bool(rng.random() < 0.3)) for begin in begins
    ]


def _rated(shown, true, rater: str, rng: np.random.Generator) -> tuple[list[dict], list[dict]]:
    """Draw what a rater marks in two translations side by side, as rows of judgements and of errors."""
    own = [[error for error in errors if rng.random() < 0.6] for errors in true]
    seen = [list(marks) for marks in own]
    for here, there in ((0, 1), (1, 0)):
        for begin, end, grave in own[here]:
            place = shown[there].hypothesis.find(shown[here].hypothesis[begin:end])
            if place >= 0 and rng.random() < 0.7:
                seen[there].append((place, place + end - begin, grave))
    hit, judged, marked = f"{rater}: {shown[0].system} | {shown[1].system}", [], []
    for k, one in enumerate(shown):
        place = {
            "src_lang": "eng",
            "tgt_lang": "deu",
            "system": one.system,
            "doc": one.doc,
            "segment": one.segment,
            "annotator": rater,
            "against": shown[1 - k].system,
            "position": ("left", "right")[k],
            "hit": hit,
        }
        judged.append(place | {"source": one.source, "hypothesis": one.hypothesis})
        marked += [
            place
            | {
                "error_type": "accuracy/mistranslation",
                "side": "target",
                "severity": "major" if grave else "minor",
                "weight": 5.0 if grave else 1.0,
                "start": float(begin),
                "end": float(end),
                "text": one.hypothesis[begin:end],
            }
            for begin, end, grave in sorted(set(seen[k]))
        ]
    return judged, marked


def contrastive_esa(*, seed: int = 7) -> pd.DataFrame:
    """Draw scores of three of ten systems' outputs on each of 96 screens, by two people."""
    rng = np.random.default_rng([seed, *b"contrast"])
    rows = []
    for screen in range(96):
        person, segment = f"sim-person{screen % 2 + 1}", screen // 2
        level = 75 + rng.normal(0, 8)
        for position, number in enumerate(rng.choice(10, 3, replace=False), start=1):
            score = float(np.clip(5 * np.round((level - 3 * number + rng.normal(0, 10)) / 5), 0, 100))
            rows.append(
                {
                    "src_lang": "eng",
                    "tgt_lang": "jpn",
                    "system": f"sim-system-{number + 1:02d}",
                    "score": score,
                    "doc": f"sim-doc-{segment // 6}",
                    "segment": f"s{segment % 6}",
                    "annotator": person,
                    "item_type": "system",
                    "hit": f"{person}/{screen + 1}",
                    "position": position,
                }
            )
    return finished(pd.DataFrame(rows), seed=seed, scale=(0, 100))
