"""Load direct assessments: those of WMT17 and WMT20, with what WMT20 published of metrics; MLQE-PE's; and XSTS."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, files, languages, schemas
from evalkit.data.mtme import constant, lines, stacked

_OUTPUT = re.compile(r"newstest2017\.(?P<system>.+)\.(?P<pair>\w\w-\w\w)")
#: How the official files spell what a file name cannot hold.
_SPELLINGS = {"_DASH_": "-", "_PLUS_": "+"}
_SPLITS = {"train": "train", "dev": "dev", "test": "test20"}
#: ``z``: the score as the release standardises it. ``model_score``: what the NMT system gave its own translation, the
#: mean log probability of a token. ``source_words``, ``target_words``: lengths, in words between blanks.
PEOPLE = schemas.RATINGS.also(
    {name: schemas.Column("float") for name in ("z", "model_score", "source_words", "target_words")}
)
_POINTS = 5  # different points that only one line goes through by no chance
_EXACT = 1e-9  # how far rounding moves a point off its line
XSTS = "NLLB_200_XSTS_annotation_data.tsv"


def wmt17(paths: list[Path]) -> pd.DataFrame:
    """Load WMT17's translations with their mean standardised assessment: METRIC_SCORES whose ``metric`` is DA.

    paths: ``DA-seglevel.csv`` and system outputs. Translations that several systems shared were assessed
    once and are named with all of them, joined by ``+``; here each system has its row, and ``together`` holds the
    joined name. ``hypothesis`` is empty for language pairs without outputs, as those from English.
    """
    texts = {(m["pair"], m["system"]): lines(path) for path in paths if (m := _OUTPUT.fullmatch(path.name))}
    scores = next(path for path in paths if path.name == "DA-seglevel.csv")
    raw = assessments(scores)
    raw = raw.assign(together=raw["SYSTEM"], SYSTEM=raw["SYSTEM"].str.split("+")).explode("SYSTEM", ignore_index=True)
    ends = [languages.pair(name, origin=scores.name) for name in raw["LP"]]
    places = zip(raw["LP"], raw["SYSTEM"], raw["SID"].astype(int) - 1)
    frame = pd.DataFrame(
        {
            "src_lang": [source for source, _ in ends],
            "tgt_lang": [target for _, target in ends],
            "system": raw["SYSTEM"],
            "doc": raw["DATA"],
            "segment": raw["SID"],
            "metric": "DA",
            "score": raw["HUMAN"],
            "together": raw["together"],
            "hypothesis": [texts[pair, system][k] if (pair, system) in texts else "" for pair, system, k in places],
        }
    )
    return schemas.check(frame, schemas.METRIC_SCORES, origin=scores.name)


def assessments(path: Path) -> pd.DataFrame:
    """Read ``DA-seglevel.csv`` as it is: LP, DATA, SYSTEM, SID (all text) and HUMAN."""
    return pd.read_csv(path, sep=" ", dtype=dict.fromkeys(("LP", "DATA", "SYSTEM", "SID"), "str"))


def wmt20(paths: list[Path]) -> pd.DataFrame:
    """Load WMT20's segments: ``score`` is the mean raw score (0-100), ``z`` the mean standardised one.

    paths: ``metrics-ad-seg-scores-<pair>.csv``. ``judgements`` counts the judgements behind a mean.
    """
    frames = []
    for path in paths:
        raw = _wmt20(path, ["system", "place", "score", "z", "judgements", "line"], " ", skiprows=1)
        places = raw["place"].cat.categories.str.rpartition("::")
        codes = raw["place"].cat.codes.to_numpy()
        raw = raw.assign(
            pair=constant(path.stem.removeprefix("metrics-ad-seg-scores-"), len(raw)),
            metric=constant("DA", len(raw)),
            doc=places.get_level_values(0).take(codes).astype("category"),
            segment=places.get_level_values(2).take(codes).astype("category"),
        )
        frames.append(_with_languages(raw.drop(columns=["place", "line"]), origin=path.name))
    frame = stacked(frames).astype({"judgements": int})
    return schemas.check(frame, schemas.METRIC_SCORES, origin="the direct assessments", scale=(0, 100))


def wmt20_metrics(paths: list[Path]) -> pd.DataFrame:
    """Load metrics' segment scores of WMT20: a compressed file each, all language pairs in it.

    ``reference`` is the set of references that a metric read; ``newstest2020`` is the official one. The out-of-domain
    part of English-Inuktitut, which the files name ``en-in``, is left out and counted in ``attrs["excluded"]``.
    """
    frames, elsewhere = [], 0
    header = ["metric", "pair", "testset", "reference", "system", "doc", "segment", "score"]
    for path in paths:
        raw = _wmt20(path, header, "\t", compression="gzip")
        news = raw["pair"] != "en-in"
        elsewhere += int((~news).sum())
        frames.append(_with_languages(raw[news].drop(columns=["testset"]), origin=path.name))
    frame = schemas.check(stacked(frames), schemas.METRIC_SCORES, origin="the metric scores", first_line=1)
    frame.attrs["excluded"] = {"out-of-domain scores of English-Inuktitut": elsewhere}
    return frame


def wmt20_official(paths: list[Path]) -> pd.DataFrame:
    """Load official DARR results: src_lang, tgt_lang, metric, tau (text, with its printed digits), pairs.

    paths: ``RR-newstest2020-<pair>-seg-nohy-cor.csv``, the results over all systems, human translations excepted.
    """
    frames = []
    for path in paths:
        pair = path.name.split("-")[2]
        source, target = languages.pair(f"{pair[:2]}-{pair[2:]}", origin=path.name)
        frame = pd.read_csv(path, sep=" ", names=["metric", "tau", "pairs"], dtype="str", index_col=False)
        for spelling, sign in _SPELLINGS.items():
            frame["metric"] = frame["metric"].str.replace(spelling, sign)
        frames.append(frame.astype({"pairs": int}).assign(src_lang=source, tgt_lang=target))
    return pd.concat(frames, ignore_index=True)[["src_lang", "tgt_lang", "metric", "tau", "pairs"]]


def _wmt20(path: Path, header: list[str], separator: str, **options) -> pd.DataFrame:
    """Read a table without a header: names as categories, measurements as numbers."""
    numbers = dict.fromkeys(["score", "z", "judgements", "line"], float)
    types = {name: numbers.get(name, "category") for name in header}
    return pd.read_csv(path, sep=separator, names=header, dtype=types, quoting=3, index_col=False, **options)


def _with_languages(frame: pd.DataFrame, *, origin: str) -> pd.DataFrame:
    """Put source and target language in the place of the column ``pair``."""
    pairs = frame["pair"].cat.remove_unused_categories()
    codes = [languages.pair(name, origin=origin) for name in pairs.cat.categories]
    ends = {
        column: pd.Index([ends[place] for ends in codes]).take(pairs.cat.codes).astype("category")
        for place, column in enumerate(["src_lang", "tgt_lang"])
    }
    return frame.drop(columns="pair").assign(**ends)


def mlqe(paths: list[Path]) -> pd.DataFrame:
    """Load all scores of MLQE-PE, one row each; ``doc`` is the split, ``segment`` the row's own number in it.

    paths: archives called ``<source>-<target>-<split>.tar.gz``, with a table in which each row lists the scores of one
    translation. ``annotator`` is the score's *place* in the row's list (``place-1`` …): the files do not say who gave a
    score, and nothing shows that a place is one person throughout, so nothing may be computed that follows a place over
    segments. The translations' texts stay in the archive.
    """
    frames = []
    for known, raw in _mlqe(paths):
        part = pd.DataFrame({"segment": raw["index"], "score": raw["scores"].map(json.loads)})
        part = part.explode("score", ignore_index=True)
        place = part.groupby("segment", sort=False).cumcount() + 1
        frames.append(part.assign(annotator="place-" + place.astype("str"), **known))
    return _of_mlqe(pd.concat(frames, ignore_index=True), schemas.RATINGS)


def mlqe_people(paths: list[Path]) -> pd.DataFrame:
    """Load scores of MLQE-PE with who gave them, as far as the release's own z-scores tell, and what may judge beside.

    paths: as for ``mlqe``. A z-score is a line in the score, with a slope and an intercept of the annotator's own,
    so that points on one line are one annotator's (see ``on_lines``), whatever their place in a row. Names are
    ``person-1`` …, numbered in each language pair by how much they judged. Scores on no line are left out, and those of
    a translation that one line scores twice. Returns the columns of ``PEOPLE``.
    Caveat: an annotator who was standardised twice would count as two.
    """
    frames = []
    for known, raw in _mlqe(paths):
        part = pd.DataFrame(
            {
                "segment": raw["index"],
                "score": raw["scores"].map(json.loads),
                "z": raw["z_scores"].map(json.loads),
                "source_words": raw["original"].str.split().str.len(),
                "target_words": raw["translation"].str.split().str.len(),
                "model_score": raw["model_scores"].map(float),
            }
        )
        frames.append(part.explode(["score", "z"], ignore_index=True).assign(annotator=None, **known))
    frame = pd.concat(frames, ignore_index=True)
    for _, rows in frame.groupby(["src_lang", "tgt_lang"]):
        line = on_lines(rows["score"].to_numpy(float), rows["z"].to_numpy(float))
        frame.loc[rows.index[line >= 0], "annotator"] = [f"person-{n + 1}" for n in line[line >= 0]]
    twice = frame.duplicated(["src_lang", "tgt_lang", "doc", "segment", "annotator"], keep=False)
    sure = frame["annotator"].notna() & ~twice
    found = _of_mlqe(frame[sure], PEOPLE)
    found.attrs["excluded"] = {"scores on nobody's line, or on one that scores a translation twice": int((~sure).sum())}
    return found


def _mlqe(paths: list[Path]) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Yield of each archive its language pair and split, and the table in it, cut by tabs, quotes being characters."""
    for path in paths:
        source, target, split = path.name.removesuffix(".tar.gz").split("-")
        content = files.member(path, f"{_SPLITS[split]}.{source}{target}.df.short.tsv")
        raw = pd.read_csv(io.BytesIO(content), sep="\t", quoting=3, dtype="str", keep_default_na=False, index_col=False)
        known = {"src_lang": languages.CODES[source], "tgt_lang": languages.CODES[target], "doc": split}
        yield known, raw.rename(columns={raw.columns[0]: "index"})


def _of_mlqe(frame: pd.DataFrame, schema: schemas.Schema) -> pd.DataFrame:
    """Say what is the same of all judgements, and bring the columns into the schema's order."""
    frame = frame.assign(system="mlqe-pe", item_type="system")
    kept = [name for name in schema.columns if name in frame]
    return schemas.check(frame[kept], schema, origin="the archives", scale=(0, 100))


def on_lines(scores: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Say for each point (score, z) on whose line it lies: 0 has most points; -1 is on no line.

    A line rises and goes through ``_POINTS`` different points or more, of no other line. Points are put on the longest
    line that goes through them.

    >>> scores = np.array([0.0, 10, 20, 30, 40, 50] + [5.0, 15, 25, 35, 45] + [7.0])
    >>> z = np.concatenate([(scores[:6] - 20) / 10, (scores[6:11] - 30) / 7, [0.123]])
    >>> on_lines(scores, z).tolist()
    [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, -1]
    """
    points, at = np.unique(np.column_stack([scores, z]), axis=0, return_inverse=True)
    x, y = points.T
    i, j = np.triu_indices(len(x), 1)
    i, j = i[x[i] != x[j]], j[x[i] != x[j]]
    slope = (y[j] - y[i]) / (x[j] - x[i])
    i, slope = i[slope > 0], slope[slope > 0]
    keys = np.column_stack([np.round(slope, 8), np.round(y[i] - slope * x[i], 6)])
    order = np.lexsort(keys.T)
    starts = np.flatnonzero(np.r_[True, (np.diff(keys[order], axis=0) != 0).any(axis=1)])
    sizes = np.diff(np.r_[starts, len(order)])
    taken, found = np.full(len(x), -1), 0
    for place in np.argsort(-sizes, kind="stable"):
        if sizes[place] < _POINTS * (_POINTS - 1) / 2:
            break
        one = order[starts[place]]
        on = (np.abs(y - y[i[one]] - slope[one] * (x - x[i[one]])) < _EXACT) & (taken < 0)
        if on.sum() >= _POINTS:
            taken[on], found = found, found + 1
    line = taken[at.ravel()]
    ranks = np.argsort(-np.bincount(line[line >= 0], minlength=found), kind="stable")
    return np.where(line >= 0, np.argsort(ranks)[line] if found else -1, -1)


def xsts(paths: list[Path], *, columns: dict[str, str | list[str]] | None = None) -> pd.DataFrame:
    """Load a table of XSTS scores on 1-5 from the annotation file inside an archive, whose columns the user names.

    columns: our name -> the archive's; ``score`` may list several columns, one per annotator of a row, who is then
    called by the column's name. Needed are src_lang, tgt_lang and score. What the archive may not have gets a
    plain value: system "nllb-200", doc "all", segment the text of ``source`` or else the row, item_type "system".
    An annotator is needed where all scores stand in one column. Cells without a score are left out and
    counted in ``attrs["excluded"]`` only where several columns are listed, for there not everyone judged every row.
    Raises DataError naming the columns found and needed.
    """
    raw = delimited.table(files.member(paths[0], XSTS), origin=XSTS, delimiter="\t")
    names = dict(columns) if columns else {name: name for name in schemas.RATINGS.columns if name in raw}
    scores = names.pop("score", [])
    scores = [scores] if isinstance(scores, str) else list(scores)
    needed = ["src_lang", "tgt_lang", *(["annotator"] if len(scores) == 1 else [])]
    wrong = [theirs for theirs in (*scores, *map(str, names.values())) if theirs not in raw]
    wrong += [name for name in names if name not in schemas.RATINGS.columns]
    lacking = [name for name in needed if name not in names] + ["score"] * (not scores)
    if wrong or lacking:
        raise DataError(
            f"{XSTS}: the columns here are {', '.join(raw)}; not mapped: {', '.join(lacking) or 'none'}; not here: "
            f"{', '.join(wrong) or 'none'}. Name them with columns={{'src_lang': …, 'tgt_lang': …, 'score': [one "
            "column per annotator]}."
        )
    common = raw[list(names.values())].set_axis(list(names), axis=1)
    plain = {"system": "nllb-200", "doc": "all", "item_type": "system"}
    plain |= {"segment": common["source"] if "source" in common else raw.index.astype("str")}
    common = common.assign(**{name: value for name, value in plain.items() if name not in common})
    parts = [common.assign(score=raw[score]) for score in scores]
    if "annotator" not in common:
        parts = [part.assign(annotator=score) for part, score in zip(parts, scores)]
    frame = pd.concat(parts)
    unjudged = frame["score"].isna() & (len(scores) > 1)
    order = [name for name in schemas.RATINGS.columns if name in frame]
    frame = schemas.check(frame.loc[~unjudged, order], schemas.RATINGS, origin=XSTS, scale=(1, 5))
    frame.attrs["excluded"] = {"cells without a score": int(unjudged.sum())}
    return frame
