"""Read mt-metrics-eval's layout: documents, sources, references, system outputs, and scores of people and metrics.

A test set's folder has ``documents/PAIR.docs``, ``sources/PAIR.txt``, ``references/PAIR.NAME.txt``,
``system-outputs/PAIR/SYSTEM.txt``, ``human-scores/PAIR.NAME.LEVEL.score`` and
``metric-scores/PAIR/METRIC-REFERENCE.LEVEL.score``. Texts are lines, or JSON lines (``.jsonl``); scores are lines of a
system and a score, cut by a tab or by spaces, None where there is no score, and stand in the order of the documents.
Errors of MQM stand in ``human-scores/PAIR.mqm.RATER.seg.rating``, a line a judgement.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from evalkit import DataError, nameable
from evalkit.data import delimited, languages, schemas
from evalkit.data.names import plain

_PLACE = re.compile(
    r"(?:.*/)?(?P<part>documents|sources|references|system-outputs|human-scores|metric-scores|campaign-[^/]+)/"
    r"(?P<pair>[^./]+)(?:[./](?P<name>[^./][^/]*?))?(?:\.(?P<level>seg|sys|doc|domain)\.score|\.(?:docs|txt|jsonl))"
)
_SCORES = re.compile(r"(?:(?P<pair>[a-z]{2,3}-[a-z]{2,3})\.)?(?P<name>.+?)\.(?P<level>seg|sys)\.score")
_REFERENCE = re.compile(r"(ref|post|syn|std|hyp|newstest)\w*(\.\w+)*|src|all", re.IGNORECASE)
_SCORE = re.compile(r"None|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_RATING = re.compile(r"(?P<pair>[a-z]+-\w+)\.mqm\.(?P<annotator>\w+)\.seg\.rating")
#: What an error of MQM says.
_FIELDS = ["start", "end", "category", "severity", "score", "is_source_error"]
_MARKED = schemas.SPANS.also(dict.fromkeys(["start", "end", "weight"], schemas.Column("float", low=0)))
_OUTPUTS = ["src_lang", "tgt_lang", "system", "domain", "doc", "segment", "source", "reference", "hypothesis"]


class Place(NamedTuple):
    """What a file of the layout is: which part of which language pair, as the names of files write it.

    name: of a reference, a system, people's scores or a metric. level: of scores: seg, sys, doc or domain.
    """

    path: Path
    part: str
    pair: str
    name: str
    level: str


def place(path: Path) -> Place:
    """Tell from its path what a file of the layout is. Raises DataError for a path that the layout does not have.

    >>> place(Path("wmt23/metric-scores/en-de/BLEU-refA.seg.score"))[1:]
    ('metric-scores', 'en-de', 'BLEU-refA', 'seg')
    """
    found = _PLACE.fullmatch(path.as_posix())
    if not found:
        raise DataError(f"{path.name} is not named, or does not lie, as in mt-metrics-eval. Keep its folder and name.")
    return Place(path, *(found[field] or "" for field in Place._fields[1:]))


def in_folder(folder: Path) -> list[Place]:
    """List the files of a test set's folder by name; others, hidden ones, and names that do not print, are left.

    Raises DataError for a name that is no text in UTF-8.
    """
    paths = [path for depth in ("*/*", "*/*/*") for path in sorted(folder.glob(depth))]
    fitting = (path for path in paths if _PLACE.fullmatch(path.relative_to(folder).as_posix()))
    return [place(path) for path in map(nameable, fitting) if path.name.isprintable() and path.is_file()]


def score_files(path: Path) -> list[Place]:
    """List the files of metrics' scores in a folder, wherever they lie in it; or the file itself, if it is named so.

    Their language pair is that of the name or of the folder, "" where neither tells it. Raises DataError for a folder
    that holds none.

    >>> [score_files(Path(f"{name}/BLEU-refA.seg.score"))[0][1:] for name in ("en-de", "data")]
    [('metric-scores', 'en-de', 'BLEU-refA', 'seg'), ('metric-scores', '', 'BLEU-refA', 'seg')]
    >>> score_files(Path("my.csv"))
    []
    """
    places = []
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        found = _SCORES.fullmatch(file.name)
        if found and (file == path or file.parent.name != "human-scores"):
            pair = found["pair"] or file.parent.name
            pair = pair if "-" in pair and languages.split(pair) else ""  # a folder data is not Danish into Tamil
            places.append(Place(nameable(file), "metric-scores", pair, found["name"], found["level"]))
    if path.is_dir() and not places:
        raise DataError(f"{path} holds no files like COMET-refA.seg.score. Name the file of metrics.")
    return places


def named(places: Iterable[Place], part: str, pair: str, level: str = "") -> dict[str, Path]:
    """Return the files of a part, of a language pair, by their names."""
    return {one.name: one.path for one in places if (one.part, one.pair, one.level) == (part, pair, level)}


def listed(names: Iterable[object]) -> str:
    """Name things for a message: all of a dozen, else the first of them and how many others.

    >>> listed("AB"), listed(range(14))
    ('A, B', '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 others')
    """
    texts = [str(name) for name in names]
    return ", ".join(texts[:12]) + (f" and {len(texts) - 12} others" if len(texts) > 12 else "")


def parted(name: str, references: Iterable[str] = ()) -> tuple[str, str]:
    """Part a metric's name from the references that it read: src for none, all, or names joined by dots.

    references: those that the test set has. A name that tells no reference has "".

    >>> parted("UniTE-src-src"), parted("cometoid22-wmt23-src"), parted("BLEU"), parted("chrF-stars", ["stars"])
    (('UniTE-src', 'src'), ('cometoid22-wmt23', 'src'), ('BLEU', ''), ('chrF', 'stars'))
    """
    base, _, reference = name.rpartition("-")
    known = set(reference.split(".")) <= {*references} or _REFERENCE.fullmatch(reference)
    return (base, reference) if base and reference and known else (name, "")


def called(names: Iterable[str], references: Iterable[str] = ()) -> dict[str, str]:
    """Call metrics by their plain names, and by all of it where one is there with several references, or without.

    >>> called(["BLEU-refA", "BLEU-refB", "COMET-refA"])
    {'BLEU-refA': 'BLEU-refA', 'BLEU-refB': 'BLEU-refB', 'COMET-refA': 'COMET'}
    """
    plain_names = {name: parted(name, references)[0] for name in names}
    counts = Counter(plain_names.values())
    return {name: short if counts[short] == 1 else name for name, short in plain_names.items()}


def segment_scores(paths: list[Path]) -> pd.DataFrame:
    """Load scores of segments, of metrics or of humans: a file each, with a line per system and segment.

    paths: files of scores besides ``documents/<pair>.docs``, which says how many segments there are and which document
    each belongs to. ``segment`` is the line's number, counted from 1. Scores printed as None are missing and have no
    row. Raises DataError where a system has not one line per segment, with the file.
    """
    places = [place(path) for path in paths]
    docs = {one.pair: documents(one.path) for one in places if one.part == "documents"}
    return score_table([one for one in places if one.part != "documents"], docs)


def system_scores(paths: list[Path]) -> pd.DataFrame:
    """Load scores of whole systems: a file for each metric or kind of human score, with a line per system.

    A metric's own system score need not be the mean of its segment scores; BLEU's is not.
    """
    return score_table([place(path) for path in paths])


def score_table(
    places: list[Place], docs: Mapping[str, pd.DataFrame] | None = None, *, called: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Read files of scores into one table: src_lang, tgt_lang, system, doc, segment, metric, score, reference.

    docs: pair -> the result of ``documents``; without it the scores are of systems. called: a metric's name in the
    file -> what it is called in the table, which then has no column ``reference``. People's scores have none, either.
    """
    frames = []
    for one in places:
        frame = scores(one.path) if docs is None else lined_up(scores(one.path), docs[one.pair], one.path)
        if docs is None and frame["system"].duplicated().any():
            system = frame["system"][frame["system"].duplicated()].iloc[0]
            raise DataError(f"{one.path.name} has the system {system} more than once. Keep one of its lines.")
        names = dict(zip(("src_lang", "tgt_lang"), _ends(one.pair), strict=True))
        if called or one.part != "metric-scores":
            names["metric"] = (called or {}).get(one.name, one.name)
        else:
            names["metric"], names["reference"] = parted(one.name)
        frames.append(frame.assign(**{name: constant(value, len(frame)) for name, value in names.items()}))
    table = stacked(frames).dropna(subset="score", ignore_index=True)
    if table.empty:
        raise DataError(f"{listed(one.path.name for one in places)}: no score, only None. Choose other scores.")
    schema = schemas.SYSTEM_SCORES if docs is None else schemas.METRIC_SCORES
    return schemas.check(table, schema, origin="the scores", first_line=1)


def outputs(paths: list[Path]) -> pd.DataFrame:
    """Load what was translated: a row per system and segment, with source, reference and hypothesis.

    Columns src_lang, tgt_lang, system, domain, doc, segment, source, reference, hypothesis. Texts are as in the files.
    Raises DataError where two files of a language pair have different numbers of lines.
    """
    places = [place(path) for path in paths]
    frames = [text_table(places, one.pair, documents(one.path)) for one in places if one.part == "documents"]
    return pd.concat(frames, ignore_index=True)


def text_table(places: list[Place], pair: str, docs: pd.DataFrame) -> pd.DataFrame:
    """Read a language pair's texts, see ``outputs``; source and reference are empty where there is no file of them."""
    source, reference, systems = (named(places, part, pair) for part in ("sources", "references", "system-outputs"))
    frame = docs.assign(**dict(zip(("src_lang", "tgt_lang"), _ends(pair), strict=True)))
    for column, field, files in (("source", "source", source), ("reference", "target", reference)):
        frame[column] = texts(next(iter(files.values())), field, len(docs)) if files else ""
    frames = [
        frame.assign(system=name, hypothesis=texts(path, "hypothesis", len(docs))) for name, path in systems.items()
    ]
    return pd.concat(frames, ignore_index=True)[_OUTPUTS]


def _ends(pair: str) -> list[str]:
    """Return source and target language as this suite writes them."""
    return languages.in_full(pair).split("-", 1)


def lines(path: Path) -> list[str]:
    """Read a text file, a segment a line; only a line feed ends a line.

    Raises DataError where it is empty, or no text in UTF-8, with the line.
    """
    data = delimited.content(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        told = f"{path.name}, line {line}: the byte 0x{data[problem.start]:02X} is not UTF-8"
        raise DataError(f"{told}. Save the file in UTF-8.") from problem
    if not text.strip():
        raise DataError(f"{path.name} is empty. Get it again, or remove it.")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def texts(path: Path, field: str, count: int) -> list[str]:
    """Return a translation, or the source, of each segment: lines of text, or of JSON with ``field``.

    Raises DataError where there are not ``count`` of them.
    """
    found = lines(path)
    if len(found) != count:
        raise DataError(f"{path.parent.name}/{path.name} has {len(found):,} lines for {count:,} segments. Correct it.")
    if path.suffix != ".jsonl":
        return found
    try:
        values = [json.loads(line)[field] for line in found]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError(f"{path.name} has a line that is no JSON object with {field!r}. Get the file again.") from None
    return [value if isinstance(value, str) else json.dumps(value) for value in values]


def documents(path: Path) -> pd.DataFrame:
    """Read ``<pair>.docs``: domain, doc and segment (counted from 1) of each line, in their order.

    Raises DataError where there is no such file, or a line has not two names.
    """
    if not path.is_file():
        raise DataError(f"There is no documents/{path.name}, which says what each line of scores is of. Add it.")
    table = pd.DataFrame(_in_two(path, "a domain and a document"), columns=["domain", "doc"], dtype="str").map(plain)
    return table.replace("", "-").assign(segment=np.arange(1, len(table) + 1).astype(str))


def documents_of(one: Place) -> pd.DataFrame | None:
    """Read the documents of a file of scores where a folder around it has them, or its own; None where none has."""
    name = f"{one.pair}.docs"
    files = [*(folder / "documents" / name for folder in one.path.parents[:4]), one.path.with_name(name)]
    return next((documents(file) for file in files if one.pair and file.is_file()), None)


def scores(path: Path) -> pd.DataFrame:
    """Read lines of a system and a score: system, score (NaN where it says None).

    Raises DataError where a line has not two cells, or a score is no number, with the line.
    """
    rows = _in_two(path, "a system and a score")
    names = {name: plain(name) for name in dict.fromkeys(name for name, _ in rows)}
    values = [float(cell.replace("None", "nan")) if _SCORE.fullmatch(cell) else np.inf for _, cell in rows]
    for line, ((name, cell), value) in enumerate(zip(rows, values, strict=True), 1):
        if abs(value) >= schemas.LARGEST or not names[name]:
            what = f"{name[:40]!r} and {cell[:40]!r} are no system and its score"
            raise DataError(f"{path.name}, line {line}: {what}. Write a name, and a number or None.")
    system = pd.Series([names[name] for name, _ in rows], dtype="category")
    return pd.DataFrame({"system": system, "score": values})


def _in_two(path: Path, what: str) -> list[list[str]]:
    """Cut each line at its tab or, where it has none, at its spaces."""
    rows = [[cell.strip() for cell in line.split("\t")] if "\t" in line else line.split() for line in lines(path)]
    for number, row in enumerate(rows, 1):
        if len(row) != 2:
            raise DataError(f"{path.name}, line {number}: {len(row)} cells instead of {what}. Correct it.")
    return rows


def lined_up(table: pd.DataFrame, docs: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Name the segment and the document of each line: a system's lines follow the order of the documents file.

    table: system (a category) and more, a line a row. docs: doc and segment of each line of a system.
    Raises DataError where a system has not one line per segment.
    """
    length, counts = len(docs), table["system"].value_counts(sort=False).sort_index()
    if len(uneven := counts[counts != length]):
        system, count = uneven.index[0], uneven.iloc[0]
        raise DataError(f"{path.name}: {system} has {count:,} lines for {length:,} segments. Give each one, or None.")
    place = table.groupby("system", observed=True).cumcount().to_numpy()
    return table.assign(
        doc=docs["doc"].astype("category").array.take(place),
        segment=pd.Categorical.from_codes(place, categories=docs["segment"]),
    )


def stacked(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Put tables on top of each other, each recurring name kept once."""
    parts = {name: [frame[name] for frame in frames] for name in frames[0]}
    named = {name for name, own in parts.items() if isinstance(own[0].dtype, pd.CategoricalDtype)}
    return pd.DataFrame(
        {name: union_categoricals(own) if name in named else np.concatenate(own) for name, own in parts.items()}
    )


def constant(value: str, length: int) -> pd.Categorical:
    """Repeat one name without repeating its letters."""
    return pd.Categorical.from_codes(np.zeros(length, dtype=np.int8), categories=[value])


def mqm_ratings(paths: list[Path]) -> pd.DataFrame:
    """Load the judgements of ``mqm``."""
    return mqm(paths)[0]


def mqm_spans(paths: list[Path]) -> pd.DataFrame:
    """Load the marked errors of ``mqm``."""
    return mqm(paths)[1].drop(columns="row")


def mqm(paths: list[Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Load a row per judgement, and a row per error marked in them.

    ``score`` is the negative sum of what the file gives its errors, 0 without errors. The file gives an error what it
    takes away, ``weight``, a number of 0 or more; anything else is refused.
    paths: ``human-scores/<pair>.mqm.<annotator>.seg.rating``, with a line per system and segment, besides
    ``documents/<pair>.docs``. ``annotator`` is the file's: "rater1", or "merged" where the raters are not told apart.
    ``segment`` counts from 1 within a system. item_type is "reference" for systems called ref..., else "system".
    Errors have ``start`` and ``end`` in characters; a place of no length is where something is missing. Those marked in
    the source have the side "source". ``row`` is the place of an error's judgement among the judgements.
    Raises DataError where a line is no judgement or a system has not a line per segment, with file and line.
    """
    docs, frames = {path.stem: documents(path) for path in paths if path.suffix == ".docs"}, []
    files = [path for path in paths if path.suffix != ".docs"]
    for path in files:
        found = _RATING.fullmatch(path.name)
        if not found:
            raise DataError(f"{path.name} is not named as mt-metrics-eval names ratings. Keep the names of the files.")
        rows = [line.partition("\t")[::2] for line in lines(path)]
        table = pd.DataFrame(rows, columns=["system", "errors"]).astype({"system": "category"})
        table = lined_up(table, docs[found["pair"]], path).assign(line=np.arange(1, len(rows) + 1))
        table = table[table["errors"] != "None"].astype(dict.fromkeys(schemas.ITEM, "str"))
        table["errors"] = [_errors(*row, path.name) for row in zip(table["errors"], table["line"], strict=True)]
        source, target = _ends(found["pair"])
        frames.append(table.assign(src_lang=source, tgt_lang=target, annotator=found["annotator"]))
    order = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator"]
    judged = pd.concat(frames, ignore_index=True)
    marked = judged.explode("errors").dropna(subset="errors").reset_index(names="row").set_index("line")
    said = pd.DataFrame(marked["errors"].tolist(), marked.index).reindex(columns=_FIELDS)
    marked = marked[[*order, "row"]].assign(
        span=marked.groupby("row").cumcount() + 1,
        error_type=said["category"].astype("str").str.removesuffix("!").str.lower(),  # "non-translation!"
        severity=said["severity"].astype("str").str.lower(),
        side=said["is_source_error"].map({True: "source", False: "target"}),
        weight=said["score"],
        **said[["start", "end"]],
    )
    if len(marked):
        marked = schemas.check(marked, _MARKED, origin=listed(path.name for path in files))
    if len(wrong := marked[marked["end"] < marked["start"]]):
        where = ", ".join(wrong.iloc[0][["annotator", "system", "segment"]])
        raise DataError(f"{where}: an error ends before it starts. Correct it.")
    lost = marked.groupby("row")["weight"].agg(math.fsum).reindex(judged.index, fill_value=0.0)
    kind = np.where(judged["system"].str.startswith("ref"), "reference", "system")
    judged = judged[order].assign(score=0.0 - lost, item_type=kind)
    return schemas.check(judged, schemas.RATINGS, origin="the MQM judgements"), marked


def _errors(cell: str, line: int, origin: str) -> list[dict[str, Any]]:
    """Read the errors of one judgement. Raises DataError for what could mean two things."""
    try:
        return [dict(error) for error in json.loads(cell, object_pairs_hook=once)["errors"]]
    except (TypeError, KeyError, ValueError, RecursionError) as problem:
        raise DataError(f"{origin}, line {line}: {cell[:40]!r} is no list of errors in JSON. Correct it.") from problem


def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse an object that names something twice, of which JSON would silently take the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in it")
    return found
