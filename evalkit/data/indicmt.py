"""Load IndicMT-Eval: translations from English into Indian languages with MQM errors and scores out of 25."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit.data import languages, schemas, typology

#: How the study prints the languages, in the paper's order; the last four are the zero-shot ones.
SHORT = {"guj": "gu", "hin": "hi", "mar": "mr", "mal": "ml", "tam": "ta", "asm": "as", "kan": "kn", "mai": "mai"}
SHORT |= {"pan": "pa"}
_SLOTS = range(1, 6)  # the guidelines allow five errors
_TEXTS = {"source": "Source", "reference": "Reference", "hypothesis": "Translation"}
_COLUMNS = [*_TEXTS.values(), "Computed_scores", "Human_scores", "model"]
_COLUMNS += [f"Error{slot}_{part}" for slot in _SLOTS for part in ("Type", "Severity")]
_STRAY = "`'\" "  # marks that a spreadsheet leaves around a number
_PART = {"score": "mqm_norm_score", "own_score": "da_norm_score", "formula_score": "full_score"}
_SCORED = schemas.RATINGS.also(
    dict.fromkeys(_TEXTS, schemas.Column()) | {"own_score": schemas.Column("float", nullable=True)}
)
_TYPES = [*typology.TYPOLOGIES["Sai et al. 2023, Table 5"], "fluency/inconsistency", schemas.UNSTATED]
_MARKED = schemas.SPANS.also(
    {
        "error_type": schemas.Column("category", choices=_TYPES),
        "severity": schemas.Column("category", choices=[*typology.SEVERITIES, schemas.UNSTATED]),
    }
)


def ratings(paths: list[Path]) -> pd.DataFrame:
    """Load the release's CSV files: a row per judged translation.

    ``score`` is the file's Computed_scores, what its formula made of the marked errors: 25 at best, below 0 for
    some non-translations; nothing is clipped. ``own_score`` is the annotator's own score out of 25 (Human_scores):
    missing where the cell is blank, and read without the stray mark where it is like `` `19 ``; both are counted in
    ``attrs["corrected"]``. ``segment`` names the English sentence: the same in all languages and files of the release,
    whatever white space an annotator's marking lost. ``row`` is the row's place in its file, from 0. The release names
    neither annotators nor documents: ``annotator`` is "expert", ``doc`` "indicmt".
    Raises DataError naming file, line and column.
    """
    sheets = [_sheet(path) for path in paths]
    frame = pd.concat([judgements(*sheet) for sheet in sheets], ignore_index=True)
    given = pd.concat([raw["Human_scores"] for raw, *_ in sheets])
    stray = int(given.dropna().ne(given.dropna().str.strip(_STRAY)).sum())
    frame.attrs["corrected"] = {"blank own scores": int(given.isna().sum()), "own scores with a stray mark": stray}
    return frame


def spans(paths: list[Path]) -> pd.DataFrame:
    """Load the errors of the same files: a row per error, in the order of its judgement's five slots.

    ``span`` is the slot. A slot with a type but no severity, or a severity but no type, is an error whose missing half
    is "unstated". The CSV files do not say where an error lies.
    Raises DataError for a type or a severity that the guidelines do not know, with file, line and column.
    """
    frame = pd.concat([errors(*_sheet(path)).drop(columns="row") for path in paths], ignore_index=True)
    return schemas.check(frame, schemas.SPANS, origin="the errors of IndicMT-Eval")


def _sheet(path: Path) -> tuple[pd.DataFrame, str, str]:
    """Read one CSV file: its cells, the target language, which its name begins with, and its name."""
    cells = pd.read_csv(path, dtype="str", keep_default_na=False, na_values=[""])
    return cells, str(languages.code(path.stem)), path.name


def judgements(raw: pd.DataFrame, language: str, origin: str) -> pd.DataFrame:
    """Make of a sheet what ``ratings`` makes of a file."""
    frame = _placed(raw, language, origin).assign(
        score=raw["Computed_scores"],
        item_type="system",
        own_score=raw["Human_scores"].str.strip(_STRAY),
        **{ours: raw[theirs] for ours, theirs in _TEXTS.items()},
        row=np.arange(len(raw)),
    )
    return schemas.check(frame, _SCORED, origin=origin)


def errors(raw: pd.DataFrame, language: str, origin: str) -> pd.DataFrame:
    """Make of a sheet what ``spans`` makes of a file, with the ``row`` of each error's judgement."""
    place, parts = _placed(raw, language, origin).assign(row=np.arange(len(raw))), []
    for slot in _SLOTS:
        kind, severity = (_named(raw[f"Error{slot}_{part}"]) for part in ("Type", "Severity"))
        marked = kind.ne(schemas.UNSTATED) | severity.ne(schemas.UNSTATED)
        parts.append(place.assign(span=str(slot), error_type=kind, severity=severity)[marked])
    return schemas.check(pd.concat(parts), _MARKED, origin=origin)


def splits(paths: list[Path]) -> pd.DataFrame:
    """Load the release's JSONL files (train, validation and test, or the zero-shot languages): a row per translation.

    Columns src_lang, tgt_lang, split, row, segment (as in ``ratings``), score (MQM between 0 and 1), own_score (the
    annotator's own, likewise), formula_score (out of 25; missing in the zero-shot files), source, reference,
    hypothesis. Systems are not named. A row without texts is left out and counted in ``attrs["excluded"]``.
    """
    parts, empty = [], 0
    for path in paths:
        rows = pd.DataFrame(map(json.loads, path.read_text(encoding="utf-8-sig").rstrip("\n").split("\n")))
        judged = rows[rows["src"].ne("")]
        empty += len(rows) - len(judged)
        split = path.stem.partition("_")[2] or "zero-shot"
        place = {"src_lang": "eng", "tgt_lang": languages.code(path.stem), "split": split, "row": judged.index}
        numbers = {ours: pd.to_numeric(judged[theirs].replace("", np.nan)) for ours, theirs in _PART.items()}
        texts = {"source": judged["src"], "reference": judged["ref"], "hypothesis": judged["translation"]}
        parts.append(pd.DataFrame(place | {"segment": segment_names(judged["src"])} | numbers | texts))
    frame = pd.concat(parts, ignore_index=True)
    frame.attrs["excluded"] = {"rows without texts": empty}
    return frame


def segment_names(sources: pd.Series) -> pd.Series:
    """Name sentences by their letters: eight hexadecimal digits of the SHA-256 of the text without white space.

    >>> segment_names(pd.Series(["Also hopes.", "Alsohopes.", "Also hoped."])).tolist()
    ['2bf612cb', '2bf612cb', '09fbae56']
    """
    distinct = {text: hashlib.sha256(re.sub(r"\s", "", text).encode()).hexdigest()[:8] for text in sources.unique()}
    return sources.map(distinct)


def with_language(table: pd.DataFrame) -> pd.DataFrame:
    """Add the languages as the study prints them, ``language``, and bring the rows into that order.

    >>> with_language(pd.DataFrame({"tgt_lang": ["tam", "guj"]}))["language"].tolist()
    ['gu', 'ta']
    """
    language = table["tgt_lang"].astype("str").map(SHORT)
    order = language.map({name: place for place, name in enumerate(SHORT.values())}).argsort(kind="stable")
    return table.assign(language=language).iloc[order].reset_index(drop=True)


def _placed(raw: pd.DataFrame, language: str, origin: str) -> pd.DataFrame:
    """Say what each row judges. Raises DataError for a sheet that lacks a column."""
    schemas.demand(raw, _COLUMNS, origin=origin)
    place = {"src_lang": "eng", "tgt_lang": language, "system": raw["model"], "doc": "indicmt"}
    names = segment_names(raw["Source"].fillna(""))
    return pd.DataFrame(place | {"segment": names, "annotator": "expert"}, index=raw.index)


def _named(cells: pd.Series) -> pd.Series:
    """Translate the files' names of types or severities, such as Accuracy_Omission; Default states nothing."""
    names = cells.str.lower().str.replace(r"^(accuracy|fluency|style|terminology)_", r"\1/", regex=True)
    return names.str.replace("_", " ").replace("default", schemas.UNSTATED)
