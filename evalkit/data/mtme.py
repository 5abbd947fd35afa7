"""Load metric scores, human scores and system outputs that are laid out as mt-metrics-eval keeps them."""

import io
import re
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from evalkit import DataError, one_line
from evalkit.data import delimited, languages, schemas
from evalkit.data.names import plain

_METRIC = re.compile(r".*/metric-scores/(?P<pair>\w\w-\w\w)/(?P<metric>.+)-(?P<reference>[^-]+)\.(?:seg|sys)\.score")
_HUMAN = re.compile(r".*/(?:human-scores|campaign-[^/]+)/(?P<pair>\w\w-\w\w)\.(?P<metric>[^.]+)\.(?:seg|sys)\.score")
_TEXTS = re.compile(r".*/(?:documents|sources|references|system-outputs)/(?P<pair>\w\w-\w\w)")


def segment_scores(paths: list[Path]) -> pd.DataFrame:
    """Load scores of segments, of metrics or of humans: a file each, with a line per system and segment.

    paths: ``metric-scores/<pair>/<metric>-<reference>.seg.score`` or ``human-scores/<pair>.<name>.seg.score`` (or in a
    campaign's own folder, ``campaign-…``), besides ``documents/<pair>.docs``, which says how many segments there are
    and which document each belongs to. ``segment`` is the line's number, counted from 1. Scores printed as None
    are missing and have no row.
    Raises DataError where a system has not one line per segment, with the file.
    """
    documents = {_pair(path): path for path in paths if path.suffix == ".docs"}
    docs = {pair: _table(path, ["domain", "doc"])["doc"].astype("category") for pair, path in documents.items()}
    frames = []
    for path in paths:
        if path.suffix != ".docs":
            names = _names(path)
            frames.append(
                placed(_table(path, ["system", "score"]), docs[names["pair"]], path).assign(**_columns(names))
            )
    scores = stacked(frames).dropna(subset="score", ignore_index=True)
    return schemas.check(scores, schemas.METRIC_SCORES, origin="the segment scores", first_line=1)


def system_scores(paths: list[Path]) -> pd.DataFrame:
    """Load scores of whole systems: a file for each metric or kind of human score, with a line per system.

    A metric's own system score need not be the mean of its segment scores; BLEU's is not.
    """
    frames = [_table(path, ["system", "score"]).assign(**_columns(_names(path))) for path in paths]
    scores = stacked(frames).dropna(subset="score", ignore_index=True)
    return schemas.check(scores, schemas.SYSTEM_SCORES, origin="the system scores", first_line=1)


def outputs(paths: list[Path]) -> pd.DataFrame:
    """Load what was translated: a row per system and segment, with source, reference and hypothesis.

    Columns src_lang, tgt_lang, system, domain, doc, segment, source, reference, hypothesis. Texts are as in the files.
    Raises DataError where two files of a language pair have different numbers of lines.
    """
    frames = []
    for documents in (path for path in paths if path.suffix == ".docs"):
        pair = _pair(documents)
        of_pair = {path: lines(path) for path in paths if path != documents and _pair(path) == pair}
        frame = _table(documents, ["domain", "doc"])
        for path, texts in of_pair.items():
            if len(texts) != len(frame):
                raise DataError(f"{path.name} has {len(texts)} lines, {documents.name} {len(frame)}. Get both again.")
        frame["segment"] = np.arange(1, len(frame) + 1).astype(str)
        frame["source"] = next(texts for path, texts in of_pair.items() if path.parent.name == "sources")
        frame["reference"] = next(texts for path, texts in of_pair.items() if path.parent.name == "references")
        source, target = languages.pair(pair, origin=documents.name)
        frames += [
            frame.assign(src_lang=source, tgt_lang=target, system=path.stem, hypothesis=texts)
            for path, texts in of_pair.items()
            if path.parent.parent.name == "system-outputs"
        ]
    order = ["src_lang", "tgt_lang", "system", "domain", "doc", "segment", "source", "reference", "hypothesis"]
    return pd.concat(frames, ignore_index=True)[order]


def lines(path: Path) -> list[str]:
    """Read a text file, a segment a line; only a line feed ends a line."""
    return delimited.content(path).decode("utf-8-sig").removesuffix("\n").split("\n")


def stacked(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Put tables on top of each other, each recurring name kept once."""
    return pd.DataFrame(
        {
            name: union_categoricals([frame[name] for frame in frames])
            if isinstance(frames[0][name].dtype, pd.CategoricalDtype)
            else np.concatenate([frame[name].to_numpy() for frame in frames])
            for name in frames[0]
        }
    )


def constant(value: str, length: int) -> pd.Categorical:
    """Repeat one name without repeating its letters."""
    return pd.Categorical.from_codes(np.zeros(length, dtype=np.int8), dtype=_only(value))


@lru_cache(maxsize=256)
def _only(value: str) -> pd.CategoricalDtype:
    """Make the type of a column of one name; to make it takes longer than to use it."""
    return pd.CategoricalDtype([value])


def _table(path: Path, header: list[str]) -> pd.DataFrame:
    """Read two columns without a header: a recurring name, then a name or a number."""
    options = {"sep": "\t", "names": header, "quoting": 3, "na_values": {"score": ["None"]}, "keep_default_na": False}
    types = {name: float if name == "score" else "category" for name in header}
    content = delimited.content(path)
    content = delimited.measured(content, origin=path.name) if "score" in header else content
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # further cells of the first row would be lost
            table = pd.read_csv(io.BytesIO(content), dtype=types, index_col=False, **options)
    except (ValueError, pd.errors.ParserError, pd.errors.ParserWarning) as problem:
        told = one_line(problem).rstrip(".")
        told = "its first row has more cells" if isinstance(problem, pd.errors.ParserWarning) else told
        raise DataError(f"{path.name}: {told}. Expected {' and '.join(header)}, cut by a tab.") from problem
    for name in set(header) - {"score"}:
        if (blank := np.flatnonzero(table[name].isna() | table[name].isin(_blank(table[name])))).size:
            raise DataError(f"{path.name}, row {blank[0] + 1}: no {name}. Expected {' and '.join(header)}.")
    return table


def _blank(names: pd.Series) -> list[str]:
    """List the names of a recurring column in which nothing can be seen."""
    return [name for name in names.cat.categories if not plain(str(name))]


def placed(scores: pd.DataFrame, docs: pd.Series, path: Path) -> pd.DataFrame:
    """Name the segment and the document of each line: a system's lines follow the order of the documents file."""
    codes = scores["system"].cat.codes.to_numpy()
    if is_uneven(scores, docs):
        counts = scores["system"].value_counts()
        uneven = counts[counts != len(docs)]
        raise DataError(
            f"{path.name}: {uneven.index[0]} has {uneven.iloc[0]} lines for {len(docs)} segments. Get the file again."
        )
    place = np.empty_like(codes, dtype=np.int64)  # of each line among its system's
    place[np.argsort(codes, kind="stable")] = np.tile(np.arange(len(docs)), len(codes) // len(docs)) if len(docs) else 0
    segments = np.arange(1, len(docs) + 1).astype(str)
    return scores.assign(
        doc=pd.Categorical.from_codes(docs.cat.codes.to_numpy()[place], dtype=docs.dtype),
        segment=pd.Categorical.from_codes(place, categories=segments),
    )


def is_uneven(scores: pd.DataFrame, docs: pd.Series | pd.DataFrame) -> bool:
    """Tell whether a system has more or fewer lines than there are segments."""
    return bool((np.bincount(scores["system"].cat.codes) != len(docs)).any())


def _names(path: Path) -> dict[str, str]:
    """Read pair, metric and, of a metric, the reference from a file's place."""
    found = _METRIC.fullmatch(path.as_posix()) or _HUMAN.fullmatch(path.as_posix())
    if not found:
        raise DataError(f"{path.name} is not named as mt-metrics-eval names scores. Keep the names of the files.")
    return found.groupdict() | {"origin": path.name}


def _pair(path: Path) -> str:
    """Read the language pair from the place of a file of texts or scores."""
    found = _TEXTS.match(path.as_posix())
    if not found:
        raise DataError(f"{path.name} does not lie where mt-metrics-eval keeps texts. Keep the folders of the files.")
    return found["pair"]


def _columns(names: dict[str, str]) -> dict[str, object]:
    """Turn the parts of a file's name into functions that make constant columns of a table."""
    source, target = languages.pair(names["pair"], origin=names["origin"])
    values = {"src_lang": source, "tgt_lang": target, "metric": names["metric"]}
    values |= {"reference": names["reference"]} if "reference" in names else {}
    return {name: lambda frame, value=value: constant(value, len(frame)) for name, value in values.items()}
