"""Load preferences between two translations of a literary paragraph, and what was marked in either (2023)."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import DataError
from evalkit.data import compared, delimited, languages, schemas

#: How the four ways of translating are called: sentence by sentence, with the paragraph before it, as a paragraph, and
#: by Google Translate.
SYSTEMS = ("sent", "para_sent", "para", "gtr")
_SIDES = {"a": "text1", "b": "text2"}
_ANSWERS = {"text1": "a", "text2": "b"}
_CHANGED = {"NEITHER": "neither", "BOTH": "both", "TRANSLATION 1": "a", "TRANSLATION 2": "b"}


def comparisons(paths: list[Path]) -> pd.DataFrame:
    """Load a comparison per record: text 1, which stood first, is ``a``; nobody could answer that they tie.

    ``close``: whether the choice was said to be difficult. ``changed``: which text adds or omits what changes the
    meaning (a, b, both, neither). ``marks_a``, ``marks_b``: how many stretches were marked. ``comment``: why, in words.
    ``doc`` is the book, ``segment`` the paragraph in it. The file does not name annotators: ``annotator`` is
    "unnamed", and who judged what cannot be told apart.
    Raises DataError for a record with another answer, with its number.
    """
    rows = [_comparison(record, f"{paths[0].name}, record {place}") for place, record in _records(paths[0])]
    frame = pd.DataFrame(rows)
    number = frame.groupby("doc")["source"].transform(lambda texts: pd.factorize(texts)[0])
    frame.insert(5, "segment", (number + 1).astype("str"))
    return compared.check(frame, origin=paths[0].name, first_line=1)


def marks(paths: list[Path]) -> pd.DataFrame:
    """Load a row per stretch and label that was marked in one of two texts; ``screen`` is that of the comparison.

    ``error_type`` is the label (mistranslation, grammar, untranslated, format, register, inconsistency, repetition);
    none has a severity. ``start`` and ``end`` count characters of the translation as it was shown.
    """
    frame = comparisons(paths).set_index("screen")
    rows = []
    for place, record in _records(paths[0]):
        shown = frame.loc[record["eval"] + f"/{place}"]
        for side, name in _SIDES.items():
            found = [(mark, label) for mark in record["annotations"][name] for label in mark["labels"]]
            rows += [_mark(shown, side, mark, label, k) for k, (mark, label) in enumerate(found, start=1)]
    return schemas.check(pd.DataFrame(rows), MARKS, origin=paths[0].name, first_line=1)


#: A paragraph is on several screens, so that its marks are told apart by them, too.
MARKS = schemas.SPANS.also({"screen": schemas.COMPARISONS.columns["screen"]}, key=["screen"])


def _records(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """Read the records, counted from 1."""
    found = json.loads(delimited.content(path))
    return list(enumerate(found, start=1))


def _comparison(record: dict[str, Any], place: str) -> dict[str, Any]:
    """Write one record as a comparison."""
    changed = next((ours for theirs, ours in _CHANGED.items() if record["added_omitted"].startswith(theirs)), None)
    answer = _ANSWERS.get(record["choice"])
    if answer is None or changed is None or not record["difficult_choice"].startswith(("YES", "NO")):
        raise DataError(f"{place}: the choice {record['choice']!r} is none of text1, text2, or an answer is unknown.")
    source, target = (languages.code(record[f"{name}_lang"]) for name in ("source", "target"))
    return {
        "src_lang": source,
        "tgt_lang": target,
        "system_a": record["text1_tag"],
        "system_b": record["text2_tag"],
        "doc": record["book"],
        "annotator": "unnamed",
        "preference": answer,
        "first": "a",
        "screen": f"{record['eval']}/{place.rpartition(' ')[2]}",
        "source": record["source"],
        "reference": record["target"],
        "hypothesis_a": record["text1"],
        "hypothesis_b": record["text2"],
        "close": record["difficult_choice"].startswith("YES"),
        "changed": changed,
        "comment": record["comment"],
        **{f"marks_{side}": len(record["annotations"][name]) for side, name in _SIDES.items()},
    }


def _mark(shown: pd.Series, side: str, mark: dict[str, Any], label: str, number: int) -> dict[str, Any]:
    """Write one label of one stretch as an error."""
    names = ("src_lang", "tgt_lang", "doc", "segment", "annotator")
    return {
        **{name: shown[name] for name in names},
        "system": shown[f"system_{side}"],
        "screen": shown.name,
        "span": str(number),
        "error_type": label.casefold(),
        "severity": schemas.UNSTATED,
        "start": mark["start"],
        "end": mark["end"],
        "side": "target",
        "text": mark["annotated_text"],
    }
