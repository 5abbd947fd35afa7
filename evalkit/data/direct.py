"""Load direct assessments and what goes with them: WMT17's, WMT20's, Sudoh et al.'s labels, and MLQE-PE."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit.data import files, schemas
from evalkit.data.languages import CODES
from evalkit.data.mtme import constant, lines, stacked

_SPLITS = {"train": "train", "dev": "dev", "test": "test20"}
_POINTS = 5  # different points that only one line goes through by no chance
_EXACT = 1e-9  # how far rounding moves a point off its line
_RATED = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "score", "item_type"]
#: Labels from worst to best, as Sudoh et al. 2021 list them in Tables 2 and 3 (the published table ``sudoh2021_labels``
#: says what each means). F means two different things, and the four worst adequacy labels are kinds of failure: their
#: order is the paper's, and no more than that.
LABELS = {"fluency": "FDBAS", "adequacy": "NOCFBAS"}
#: What stands in the place of an annotator in labels that were agreed upon.
AGREED = "agreed"
_LABELS = re.compile(r".*\.newstest(\d*)\.(fluency|adequacy)(?:_([A-Z]))?\.([a-z]{2})-([a-z]{2})")
_SINGLE = re.compile(r"DAseg\.(newstest\d+)\.(human|mt-system|reference)\.(\w\w-\w\w)")
_OUTPUT = re.compile(r"newstest2017\.(.+)\.(\w\w-\w\w)")
_REFERENCE = re.compile(r"newstest2017-(\w\w)(\w\w)-ref\.\w\w")


def wmt17(paths: list[Path]) -> pd.DataFrame:
    """Load WMT17's translations with their mean standardised assessment: METRIC_SCORES whose ``metric`` is DA.

    paths: ``DA-seglevel.csv`` and system outputs. Translations that several systems shared were assessed
    once and are named with all of them, joined by ``+``; here each system has its row, and ``together`` holds the
    joined name. ``hypothesis`` is empty for language pairs without outputs, as those from English.
    """
    frame = _with_languages(_wmt17(paths)).assign(metric="DA")
    order = ["src_lang", "tgt_lang", "system", "doc", "segment", "metric", "score", "together", "hypothesis"]
    return schemas.check(frame[order], schemas.METRIC_SCORES, origin="DA-seglevel.csv")


def _wmt17(paths: list[Path]) -> pd.DataFrame:
    """Read a row per assessed translation and system: pair, doc, together, segment, score, system, hypothesis."""
    [scores] = [path for path in paths if path.name == "DA-seglevel.csv"]
    header = ["pair", "doc", "together", "segment", "score"]
    raw = pd.read_csv(scores, sep=" ", names=header, header=0, dtype=dict.fromkeys(header[:-1], "str"))
    raw = raw.assign(system=raw["together"].str.split("+")).explode("system", ignore_index=True)
    texts = _lines(_OUTPUT, paths)
    places = zip(raw["system"], raw["pair"], raw["segment"].astype(int) - 1)
    return raw.assign(hypothesis=[texts[name, pair][k] if (name, pair) in texts else "" for name, pair, k in places])


def _lines(named: re.Pattern[str], paths: list[Path]) -> dict[tuple[str, ...], list[str]]:
    """Read the lines of the files whose names fit, by the parts of these names."""
    return {found.groups(): lines(path) for path in paths if (found := named.fullmatch(path.name))}


def labels(paths: list[Path]) -> pd.DataFrame:
    """Load labels as ratings: ``label`` keeps the letter, ``score`` is its place from worst (1) to best.

    paths: files called ``….<test set>.<dimension>_<annotator>.<source>-<target>``, a label a line; ``doc`` is the test
    set (from the folder's name where the file's has no year), ``segment`` the line, counted from 1 as the authors'
    lists of rows do. Labels in files without an annotator were agreed upon: ``AGREED``. Which system made a translation
    is not in these files: ``system`` is "various".
    """
    parts = {}
    for path in paths:
        if name := _LABELS.fullmatch(path.name):
            year, dimension, annotator, source, target = name.groups()
            test_set = f"newstest{year or path.parent.name.rpartition('newstest')[2]}"
            named = CODES[source], CODES[target], test_set, annotator or AGREED, dimension
            parts[named] = pd.DataFrame({"label": lines(path)}).rename_axis("segment")
    frame = pd.concat(parts, names=["src_lang", "tgt_lang", "doc", "annotator", "dimension"]).reset_index()
    frame["score"] = [LABELS[kind].index(letter) + 1.0 for kind, letter in zip(frame["dimension"], frame["label"])]
    frame["segment"] = (frame["segment"] + 1).astype("str")
    return frame.assign(system="various", item_type="system")[[*_RATED, "dimension", "label"]]


def translations(paths: list[Path]) -> pd.DataFrame:
    """Load assessed translations of WMT15-17 into English, in the row order of the files that assess them.

    paths: for WMT15 and WMT16 ``DAseg.<test set>.human|mt-system|reference.<pair>``, a line per translation; for WMT17
    ``DA-seglevel.csv`` with system outputs and references of whole test sets; and ``dev.ids``, which lists the rows of
    the development set. Columns src_lang, tgt_lang, doc (the test set), segment (the row within test set and pair,
    from 1), system ("various" where the files do not tell, names joined by ``+`` where systems wrote the same),
    hypothesis, reference, z, split: "test" for newstest2017, "dev" for rows in the list, "train" for others.
    """
    frames, single = [], _lines(_SINGLE, paths)
    for test_set, pair in sorted({(test_set, pair) for test_set, _, pair in single}):
        z, hypothesis, reference = (single[test_set, kind, pair] for kind in ("human", "mt-system", "reference"))
        texts = {"hypothesis": hypothesis, "reference": reference, "z": np.array(z, dtype=float)}
        frames.append(pd.DataFrame({"pair": pair, "doc": test_set, "system": "various", **texts}))
    if references := {"-".join(name): texts for name, texts in _lines(_REFERENCE, paths).items()}:
        own = _wmt17(paths).drop_duplicates(["pair", "together", "segment"])  # those joined are the same
        own = own[own["pair"].isin(references)].sort_values("pair", kind="stable")
        places = zip(own["pair"], own["segment"].astype(int) - 1)
        beside = [references[pair][place] for pair, place in places]
        frames.append(own.assign(system=own["together"], reference=beside, z=own["score"]))
    frame = pd.concat(frames, ignore_index=True)
    frame["segment"] = (frame.groupby(["doc", "pair"]).cumcount() + 1).astype("str")
    frame["split"] = np.where(frame["doc"] == "newstest2017", "test", "train")
    rows = pd.Series(frame.index, index=frame["doc"] + "." + frame["pair"] + ":" + frame["segment"])
    for path in (path for path in paths if path.name == "dev.ids"):  # lines like DAseg.newstest2015.cs-en:15
        frame.loc[rows.loc[[line.partition(".")[2] for line in lines(path)]], "split"] = "dev"
    order = ["src_lang", "tgt_lang", "doc", "segment", "system", "hypothesis", "reference", "z", "split"]
    return _with_languages(frame)[order].astype(dict.fromkeys(order[:2], "str"))


def wmt20(paths: list[Path]) -> pd.DataFrame:
    """Load WMT20's segments: ``score`` is the mean raw score (0-100), ``z`` the mean standardised one.

    paths: ``metrics-ad-seg-scores-<pair>.csv``. ``judgements`` counts the judgements behind a mean.
    """
    frames = []
    for path in paths:
        raw = _wmt20(path, ["system", "place", "score", "z", "judgements", "line"], " ", skiprows=1)
        place = raw.pop("place").astype("str").str.rpartition("::")
        raw = raw.drop(columns="line").assign(
            pair=path.stem.removeprefix("metrics-ad-seg-scores-"),
            metric=constant("DA", len(raw)),
            doc=place[0].astype("category"),
            segment=place[2].astype("category"),
        )
        frames.append(_with_languages(raw))
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
        frames.append(_with_languages(raw[news].drop(columns=["testset"])))
    frame = schemas.check(stacked(frames), schemas.METRIC_SCORES, origin="the metric scores", first_line=1)
    frame.attrs["excluded"] = {"out-of-domain scores of English-Inuktitut": elsewhere}
    return frame


def _wmt20(path: Path, header: list[str], separator: str, **options) -> pd.DataFrame:
    """Read a table without a header: names as categories, measurements as numbers."""
    numbers = dict.fromkeys(["score", "z", "judgements", "line"], float)
    types = {name: numbers.get(name, "category") for name in header}
    return pd.read_csv(path, sep=separator, names=header, dtype=types, quoting=3, index_col=False, **options)


def _with_languages(frame: pd.DataFrame) -> pd.DataFrame:
    """Put source and target language in the place of the column ``pair``, such as cs-en."""
    pair = frame["pair"].astype("str")
    sides = {"src_lang": pair.str[:2], "tgt_lang": pair.str[3:]}
    ends = {name: side.map(CODES).astype("category") for name, side in sides.items()}
    return frame.drop(columns="pair").assign(**ends)


def mlqe(paths: list[Path]) -> pd.DataFrame:
    """Load all scores of MLQE-PE, one row each; ``doc`` is the split, ``segment`` the row's own number in it.

    paths: archives called ``<source>-<target>-<split>.tar.gz``, with a table in which each row lists the scores of one
    translation. ``annotator`` is the score's *place* in the row's list (``place-1`` …): the files do not say who gave a
    score, and nothing shows that a place is one person throughout, so nothing may be computed that follows a place over
    segments. The translations' texts stay in the archive.
    """
    frame = _mlqe(paths, ["scores"])
    place = frame.groupby(["src_lang", "tgt_lang", "doc", "segment"], sort=False).cumcount() + 1
    frame["annotator"] = "place-" + place.astype("str")
    return frame[_RATED]


def mlqe_people(paths: list[Path]) -> pd.DataFrame:
    """Load scores of MLQE-PE with who gave them, as far as the release's own z-scores tell, and what the model said.

    paths: as for ``mlqe``. A z-score is a line in the score, with a slope and an intercept of the annotator's own,
    so that points on one line are one annotator's (see ``on_lines``), whatever their place in a row. Names are
    ``person-1`` …, numbered in each language pair by how much they judged. Scores on no line are left out, and those of
    a translation that one line scores twice. Besides the columns of ratings: ``z``, the score as the release
    standardises it; ``model_score``, what the NMT system gave its own translation, the mean log probability of a token.
    Caveat: an annotator who was standardised twice would count as two.
    """
    frame = _mlqe(paths, ["scores", "z_scores"]).assign(annotator=None)
    for _, rows in frame.groupby(["src_lang", "tgt_lang"]):
        line = on_lines(rows["score"].to_numpy(float), rows["z"].to_numpy(float))
        frame.loc[rows.index[line >= 0], "annotator"] = [f"person-{n + 1}" for n in line[line >= 0]]
    twice = frame.duplicated(["src_lang", "tgt_lang", "doc", "segment", "annotator"], keep=False)
    sure = frame["annotator"].notna() & ~twice
    found = frame[sure].astype({"annotator": "str", "model_score": float}).reset_index(drop=True)
    found = found[[*_RATED, "z", "model_score"]]
    found.attrs["excluded"] = {"scores on nobody's line, or on one that scores a translation twice": int((~sure).sum())}
    return found


def _mlqe(paths: list[Path], lists: list[str]) -> pd.DataFrame:
    """Read the tables in the archives, cut by tabs, quotes being characters: a row for each entry of their lists."""
    frames = []
    for path in paths:
        source, target, split = path.name.removesuffix(".tar.gz").split("-")
        content = files.member(path, f"{_SPLITS[split]}.{source}{target}.df.short.tsv")
        raw = pd.read_csv(io.BytesIO(content), sep="\t", quoting=3, dtype="str", keep_default_na=False, index_col=False)
        raw = raw.rename(columns={raw.columns[0]: "segment"})
        raw = raw.assign(src_lang=CODES[source], tgt_lang=CODES[target], doc=split)
        raw[lists] = raw[lists].map(json.loads)
        frames.append(raw.explode(lists, ignore_index=True))
    frame = pd.concat(frames, ignore_index=True).astype(dict.fromkeys(lists, float))
    frame = frame.rename(columns={"scores": "score", "z_scores": "z", "model_scores": "model_score"})
    return frame.assign(system="mlqe-pe", item_type="system")


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
    pairs = pd.DataFrame({"slope": (y[j] - y[i]) / (x[j] - x[i])})
    pairs["base"] = y[i] - pairs["slope"] * x[i]
    pairs = pairs[pairs["slope"] > 0]
    alike = pairs.groupby([pairs["base"].round(6), pairs["slope"].round(8)])
    longest = alike.size().sort_values(ascending=False, kind="stable")
    known = alike.first().loc[longest.index[longest >= _POINTS * (_POINTS - 1) / 2]]
    line = np.full(len(x), -1)
    for number, (slope, base) in enumerate(known.to_numpy()):
        on = (np.abs(y - base - slope * x) < _EXACT) & (line < 0)
        line[on] = number if on.sum() >= _POINTS else -1
    line = line[at.ravel()]
    order = np.argsort(-np.bincount(line[line >= 0], minlength=len(known) + 1), kind="stable")
    return np.where(line >= 0, np.argsort(order)[line], -1)
