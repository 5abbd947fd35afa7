"""Load what WMT19's metrics task published: relative rankings, scores of metrics, direct assessments, translations.

The archives could not be had when this was written. Their form is the one that the task's page, their README files and
public programs which read them state; a file of another form is refused with its name and line.
"""

import io
import re
from pathlib import Path, PurePosixPath

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, files, languages, schemas
from evalkit.data.mtme import constant, stacked

#: The metrics whose ties Stanchev et al. 2020 count (Table 3); the package has two dozen.
METRICS = ("YiSi-1", "EED")
_TEST_SET = "newstest2019"
_CODES = languages.CODES | {"gu": "guj", "kk": "kaz", "lt": "lit"}
_RANKS = ["LP", "DATA", "SID", "BETTER", "WORSE"]
_SCORES = ["metric", "pair", "testset", "system", "segment", "score"]
_ASSESSED = ["system", "segment", "score", "z", "judgements"]
_OUTPUT = re.compile(
    r"(?:.*/)?txt/system-outputs/newstest2019/(?P<pair>\w\w-\w\w)/newstest2019\.(?P<system>.+)\.(?P=pair)"
)
_SEGMENTS = re.compile(r"(?:.*/)?ad-seg-scores-(?P<pair>\w\w-\w\w)\.csv")
#: Where scores of a metric may lie, the ones that count first.
_PLACES = ("submissions-corrected", "submissions-processed", "baselines", "submissions")


def canonical(system: str, pair: str) -> str:
    """Write a system's name in the one way in which the package's files agree.

    Human judgements of Chinese-English add the language pair, and some names have - for _.

    >>> canonical("Baidu-system.6940.zh-en", "zh-en"), canonical("Helsinki_NLP.6889", "fi-en")
    ('Baidu-system.6940', 'Helsinki-NLP.6889')
    """
    return system.replace(f".{pair}", "").replace("_", "-")


def relative_rankings(paths: list[Path]) -> pd.DataFrame:
    """Load the official relative rankings (DARR): a row per pair of translations of which one was judged better.

    paths: the metrics task's package, with ``RR-seglevel.csv``. Columns src_lang, tgt_lang, doc (the test set),
    segment, better, worse (systems as ``canonical`` writes them), better_named, worse_named (as the file does).
    Raises DataError for other headings, and rows of another length, with the line.
    """
    name = "RR-seglevel.csv"
    content = files.member(paths[0], name, most_files=files.MANY_FILES, most_bytes=files.MANY_BYTES, links=True)
    raw = _cut(content, name, _RANKS, headed=True)
    frame = _placed(raw["LP"], name).assign(doc=raw["DATA"].to_numpy(), segment=raw["SID"].to_numpy())
    for ours, theirs in (("better", "BETTER"), ("worse", "WORSE")):
        frame[ours] = _systems(raw[theirs], raw["LP"], name)
        frame[f"{ours}_named"] = raw[theirs].to_numpy()
    return frame


def metrics(paths: list[Path]) -> pd.DataFrame:
    """Load segment scores of ``METRICS``, all language pairs: METRIC_SCORES, systems as ``canonical`` writes them.

    paths: the metrics task's package, with ``<metric>.seg.score.gz``: a row has metric, pair, test set, system,
    segment, score, and perhaps more. Of a metric whose scores lie in several folders, those that the task's organisers
    corrected are taken. What has no score has no row, and is counted in ``attrs["excluded"]``.
    Raises DataError where a metric is lacking, or a row is of another form.
    """
    found: dict[str, tuple[int, pd.DataFrame]] = {}
    for name, content in files.members(paths[0], re.compile(r".*\.seg\.score")):
        words = content.partition(b"\n")[0].split()
        metric = words[0].decode("utf-8", "replace") if words else ""
        folders = PurePosixPath(name.string).parts
        rank = next((place for place, folder in enumerate(_PLACES) if folder in folders), len(_PLACES))
        if metric in METRICS and (metric not in found or rank < found[metric][0]):
            found[metric] = rank, _of_metric(content, name.string)
    if lacking := [metric for metric in METRICS if metric not in found]:
        raise DataError(f"{paths[0].name} holds no segment scores of {', '.join(lacking)}. Fetch the right archive.")
    scores = stacked([found[metric][1] for metric in METRICS])
    table = scores.dropna(subset="score", ignore_index=True)
    table = schemas.check(table, schemas.METRIC_SCORES, origin="the metric scores", first_line=1)
    table.attrs["excluded"] = {"translations without a score": len(scores) - len(table)}
    return table


def direct_assessments(paths: list[Path]) -> pd.DataFrame:
    """Load segments' direct assessments: ``score`` is the mean raw score (0-100), ``z`` the mean standardised one.

    paths: ``newstest2019-humaneval.tar.gz``, with ``ad-seg-scores-<pair>.csv`` in folders. Of a pair that was judged
    twice, sentence by sentence and in documents, the former counts, as for the official rankings of Chinese-English;
    ``attrs["passed_over"]`` names the other files. ``judgements`` counts the judgements behind a mean.
    Raises DataError for rows of another form, with the line.
    """
    files: dict[str, list[tuple[bool, str, bytes]]] = {}
    for place, content in files.members(paths[0], _SEGMENTS):
        several = files.setdefault(place["pair"], [])
        several.append(("doclevel" in place.string.casefold(), place.string, content))
    if not files:
        raise DataError(f"{paths[0].name} holds no ad-seg-scores-<pair>.csv. Fetch the right archive.")
    frames, passed = [], []
    for pair, several in sorted(files.items()):
        (_, name, content), *others = sorted(several)
        passed += [other for _, other, _ in others]
        frames.append(_of_pair(content, name, pair))
    table = schemas.check(stacked(frames), schemas.METRIC_SCORES, origin="the direct assessments", scale=(0, 100))
    table.attrs["passed_over"] = passed
    return table


def outputs(paths: list[Path]) -> pd.DataFrame:
    """Load the systems' translations, a row per system and segment.

    Columns src_lang, tgt_lang, system (as ``canonical`` writes it), doc (the test set), segment, hypothesis.
    paths: an archive with ``txt/system-outputs/newstest2019/<pair>/newstest2019.<system>.<pair>``, a line a segment.
    Raises DataError where it has none, or systems of a pair differ in their number of lines.
    """
    frames: list[pd.DataFrame] = []
    lengths: dict[str, int] = {}
    for place, content in files.members(paths[0], _OUTPUT):
        name = place.string
        texts = content.decode("utf-8-sig", "replace").removesuffix("\n").split("\n")
        if lengths.setdefault(place["pair"], len(texts)) != len(texts):
            raise DataError(
                f"{name} has {len(texts)} lines, others of its pair {lengths[place['pair']]}. Fetch it again."
            )
        pairs = pd.Series([place["pair"]] * len(texts))
        frame = _placed(pairs, name).assign(system=canonical(place["system"], place["pair"]), doc=_TEST_SET)
        frames.append(frame.assign(segment=np.arange(1, len(texts) + 1).astype(str), hypothesis=texts))
    if not frames:
        raise DataError(f"{paths[0].name} holds no txt/system-outputs/newstest2019. Fetch the right archive.")
    frame = pd.concat(frames, ignore_index=True)
    if (again := frame.duplicated(["src_lang", "tgt_lang", "system", "segment"])).any():
        raise DataError(f"{paths[0].name} holds two outputs of {frame['system'][again].iloc[0]}. Fetch it again.")
    return frame


def _of_metric(content: bytes, name: str) -> pd.DataFrame:
    """Read one metric's scores of the news test set."""
    delimited.measured(content, origin=name)
    options = {"names": _SCORES, "usecols": range(len(_SCORES)), "header": None, "quoting": 3, "index_col": False}
    types = dict.fromkeys(_SCORES, "category") | {"score": float}
    separator = "\t" if b"\t" in content.partition(b"\n")[0] else r"\s+"
    try:
        raw = pd.read_csv(io.BytesIO(content), sep=separator, dtype=types, **options)
    except (ValueError, pd.errors.ParserError) as problem:
        raise DataError(f"{name}: {problem}. Expected {', '.join(_SCORES)}.") from problem
    raw = raw[raw["testset"] == _TEST_SET].reset_index(drop=True)
    texts = raw.drop(columns="score").astype("str")
    return _scored(texts, texts["pair"], name, metric=pd.Categorical(texts["metric"]), score=raw["score"])


def _of_pair(content: bytes, name: str, pair: str) -> pd.DataFrame:
    """Read one language pair's assessments."""
    raw = _cut(content, name, _ASSESSED, headed=False)
    numbers = {column: pd.to_numeric(raw[column], errors="coerce").to_numpy(float) for column in _ASSESSED[2:]}
    for column, values in numbers.items():
        if len(wrong := np.flatnonzero(~np.isfinite(values))):
            line, value = raw.index[wrong[0]], raw[column].iloc[wrong[0]]
            raise DataError(f"{name}, line {line}, column {column}: {value!r} is no number. Fetch the archive again.")
    return _scored(raw, pd.Series([pair] * len(raw)), name, metric=constant("DA", len(raw)), **numbers)


def _scored(raw: pd.DataFrame, pairs: pd.Series, name: str, **columns: object) -> pd.DataFrame:
    """Say what each score is of, names as categories."""
    ends = _placed(pairs, name).astype("category")
    named = {
        "system": pd.Categorical(_systems(raw["system"], pairs, name)),
        "doc": constant(_TEST_SET, len(raw)),
        "segment": pd.Categorical(raw["segment"]),
    }
    return pd.DataFrame({**ends, **named, **columns})


def _cut(content: bytes, name: str, header: list[str], *, headed: bool) -> pd.DataFrame:
    """Cut rows below a line of headings at white space; the index is the line.

    headed: the headings must be ``header``; else they may be any, but no row of numbers.
    """
    lines = content.decode("utf-8-sig", "replace").splitlines()
    words = lines[0].split() if lines else []
    bare = any(re.fullmatch(r"-?\d+(\.\d+)?", word) for word in words)
    if not words or bare or (headed and [word.upper() for word in words] != header):
        raise DataError(f"{name}, line 1: the columns are not {', '.join(header)}. Fetch the archive again.")
    rows = {line: text.split() for line, text in enumerate(lines[1:], 2) if text.strip()}
    if wrong := next((line for line, cells in rows.items() if len(cells) != len(header)), None):
        raise DataError(f"{name}, line {wrong}: {len(rows[wrong])} cells, not {len(header)}. Fetch the archive again.")
    return pd.DataFrame(list(rows.values()), columns=header, index=pd.Index(rows, name="line"), dtype="str")


def _placed(pairs: pd.Series, name: str) -> pd.DataFrame:
    """Name the languages of each row."""
    ends = {pair: pair.split("-") for pair in pairs.unique()}
    if wrong := next((pair for pair, two in ends.items() if len(two) != 2 or not {*two} <= {*_CODES}), None):
        raise DataError(f"{name}: {wrong!r} is no language pair of WMT19 that is known here. Fetch the archive again.")
    return pd.DataFrame(
        {
            side: pairs.map({pair: _CODES[two[place]] for pair, two in ends.items()}).to_numpy()
            for place, side in enumerate(("src_lang", "tgt_lang"))
        }
    )


def _systems(names: pd.Series, pairs: pd.Series, origin: str) -> np.ndarray:
    """Write systems' names as ``canonical`` does. Raises DataError where two of a pair would become one."""
    both = pd.DataFrame({"name": names.to_numpy(), "pair": pairs.to_numpy()})
    distinct = both.drop_duplicates()
    distinct = distinct.assign(system=[canonical(name, pair) for name, pair in distinct.itertuples(index=False)])
    if (same := distinct.duplicated(["pair", "system"])).any():
        raise DataError(f"{origin} has two names for {distinct['system'][same].iloc[0]}. Fetch the archive again.")
    return both.merge(distinct, on=["name", "pair"], how="left")["system"].to_numpy()
