"""Load MQM judgements with their marked errors, laid out as mt-metrics-eval keeps single raters' work."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, languages, schemas
from evalkit.data.mtme import lines

_RATINGS = re.compile(r"(?P<pair>\w\w-\w\w)\.mqm\.(?P<annotator>\w+)\.seg\.rating")
_SIDES = {False: "target", True: "source"}
_MOST = 1e9  # no weight and no place in a text reaches it
_FIELDS = ["start", "end", "category", "severity", "score", "is_source_error"]
_KINDS: dict[str, tuple[tuple[type, ...], str]] = dict.fromkeys(("score", "start", "end"), ((int, float), "number"))
_KINDS |= {"is_source_error": ((bool,), "truth value"), "category": ((str,), "text"), "severity": ((str,), "text")}


def ratings(paths: list[Path]) -> pd.DataFrame:
    """Load a row per judgement; ``score`` is the negative sum of what the file gives its errors, 0 without errors.

    The file gives an error what it takes away, a number of 0 or more; anything else is refused.
    paths: ``human-scores/<pair>.mqm.<annotator>.seg.rating``, with a line per system and segment, besides
    ``documents/<pair>.docs``. ``annotator`` is the file's: "rater1", or "merged" where the raters are not told apart.
    ``segment`` counts from 1 within a system. item_type is "reference" for systems called ref..., else "system".
    Raises DataError where a line is no judgement or a system has not a line per segment, with file and line.
    """
    frame, errors = _read(paths)
    weights = [-math.fsum(error["score"] for error in marked) + 0.0 for marked in errors]
    kind = np.where(frame["system"].str.startswith("ref"), "reference", "system")
    return schemas.check(frame.assign(score=weights, item_type=kind), schemas.RATINGS, origin="the MQM judgements")


def spans(paths: list[Path]) -> pd.DataFrame:
    """Load a row per marked error of the same files, ``start`` and ``end`` in characters, ``weight`` the file's own.

    A place of no length is where something is missing. Errors marked in the source have the side "source".
    """
    frame, errors = _read(paths)
    place = frame.loc[frame.index.repeat([len(marked) for marked in errors])]
    marked = pd.DataFrame([error for judgement in errors for error in judgement], columns=_FIELDS)
    table = place.assign(span=place.groupby(level=0).cumcount().add(1).astype("str")).reset_index(drop=True)
    table = table.assign(
        error_type=marked["category"].str.removesuffix("!").str.lower(),  # "non-translation!"
        severity=marked["severity"].str.lower(),
        side=marked["is_source_error"].map(_SIDES),
        weight=marked["score"].astype(float),
        start=marked["start"].astype(float),
        end=marked["end"].astype(float),
    )
    table = schemas.check(table, schemas.SPANS, origin="the marked errors")
    if len(wrong := np.flatnonzero(table["end"] < table["start"])):
        row = table.iloc[wrong[0]]
        raise DataError(
            f"{row['annotator']}, {row['system']}, segment {row['segment']}: an error ends before it starts."
        )
    return table


def _read(paths: list[Path]) -> tuple[pd.DataFrame, list[list[dict]]]:
    """Read all judgements: what each judges, and its errors."""
    docs = {path.stem: lines(path) for path in paths if path.suffix == ".docs"}
    frames, errors = [], []
    for path in (path for path in paths if path.suffix != ".docs"):
        found = _RATINGS.fullmatch(path.name)
        if not found:
            raise DataError(f"{path.name} is not named as mt-metrics-eval names ratings. Keep the names of the files.")
        source, target = languages.pair(found["pair"], origin=path.name)
        of_segment = np.array([line.partition("\t")[2] for line in docs[found["pair"]]], dtype=object)
        text = delimited.content(path).decode("utf-8-sig").removesuffix("\n")
        systems, cells = zip(*(line.split("\t", 1) for line in text.split("\n")), strict=True)
        frame = pd.DataFrame({"src_lang": source, "tgt_lang": target, "system": systems})
        place = frame.groupby("system").cumcount().to_numpy()
        uneven = frame["system"].value_counts().ne(len(of_segment))
        if uneven.any():
            raise DataError(f"{path.name}: {uneven.idxmax()} has not {len(of_segment)} lines. Get the file again.")
        judged = np.flatnonzero(np.array(cells, dtype=object) != "None")
        errors += [_errors(cells[row], f"{path.name}, line {row + 1}") for row in judged]
        named = {"doc": of_segment[place], "segment": (place + 1).astype(str), "annotator": found["annotator"]}
        frames.append(frame.assign(**named).iloc[judged])
    return pd.concat(frames, ignore_index=True), errors


def _errors(cell: str, place: str) -> list[dict]:
    """Read the errors of one judgement. Raises DataError, naming ``place``, for values that could mean two things."""
    try:
        errors = json.loads(cell, object_pairs_hook=once)["errors"]
        whole = all(isinstance(error, dict) and set(_FIELDS) <= set(error) for error in errors)
    except (TypeError, KeyError, ValueError, RecursionError) as problem:
        raise DataError(f"{place}: {cell[:40]!r} is no list of errors in JSON. Mend the row.") from problem
    if not whole:
        raise DataError(f"{place}: an error lacks one of {', '.join(_FIELDS)}. Mend the row.")
    for error in errors:
        if complaint := _complaint(error):
            raise DataError(f"{place}: {complaint}.")
    return errors


def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse an object that names something twice, of which JSON would silently take the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in it")
    return found


def _complaint(error: dict) -> str:
    """Say which value of an error is not of its kind, with the remedy; empty where all are."""
    for name, (kinds, word) in _KINDS.items():
        value = error[name]
        if type(value) not in kinds or (float in kinds and not abs(value) < _MOST):
            return f"an error's {name} is {str(json.dumps(value))[:40]}, no {word}. Correct it"
    if error["score"] < 0:
        return (
            f"an error's score is {error['score']}, below 0; these files say what an error takes away, as 5 for a "
            "major one, and it would be added. Write it without the sign, or correct it"
        )
    return ""
