"""Load what WMT20's metrics task published: direct assessments, segment scores of metrics, official DARR results."""

import io
from pathlib import Path

import pandas as pd

from evalkit.data import delimited, languages, schemas
from evalkit.data.mtme import constant, stacked

_METRIC = ["metric", "pair", "testset", "reference", "system", "doc", "segment", "score"]
_DA = ["system", "place", "score", "z", "judgements", "line"]
#: How the official files spell what a file name cannot hold.
_SPELLINGS = {"_DASH_": "-", "_PLUS_": "+"}


def metrics(paths: list[Path]) -> pd.DataFrame:
    """Load metrics' segment scores: a compressed file each, all language pairs in it.

    ``reference`` is the set of references that a metric read; ``newstest2020`` is the official one. The out-of-domain
    part of English-Inuktitut, which the files name ``en-in``, is left out and counted in ``attrs["excluded"]``.
    """
    frames, elsewhere = [], 0
    for path in paths:
        raw = _read(path, header=_METRIC, separator="\t", packed=True)
        news = raw["pair"] != "en-in"
        elsewhere += int((~news).sum())
        frames.append(_languages(raw[news].drop(columns=["testset"]), origin=path.name))
    frame = schemas.check(stacked(frames), schemas.METRIC_SCORES, origin="the metric scores", first_line=1)
    frame.attrs["excluded"] = {"out-of-domain scores of English-Inuktitut": elsewhere}
    return frame


def direct_assessments(paths: list[Path]) -> pd.DataFrame:
    """Load segments' direct assessments: ``score`` is the mean raw score (0-100), ``z`` the mean standardised one.

    paths: ``metrics-ad-seg-scores-<pair>.csv``. ``judgements`` counts the judgements behind a mean.
    """
    frames = []
    for path in paths:
        raw = _read(path, header=_DA, separator=" ", skiprows=1)
        places = raw["place"].cat.categories.str.rpartition("::")
        codes = raw["place"].cat.codes.to_numpy()
        raw = raw.assign(
            pair=constant(path.stem.removeprefix("metrics-ad-seg-scores-"), len(raw)),
            metric=constant("DA", len(raw)),
            doc=places.get_level_values(0).take(codes).astype("category"),
            segment=places.get_level_values(2).take(codes).astype("category"),
        )
        frames.append(_languages(raw.drop(columns=["place", "line"]), origin=path.name))
    frame = stacked(frames).astype({"judgements": int})
    return schemas.check(frame, schemas.METRIC_SCORES, origin="the direct assessments", scale=(0, 100))


def official(paths: list[Path]) -> pd.DataFrame:
    """Load official DARR results: src_lang, tgt_lang, metric, tau (text, with its printed digits), pairs.

    paths: ``RR-newstest2020-<pair>-seg-nohy-cor.csv``, the results over all systems, human translations excepted.
    """
    frames = []
    for path in paths:
        pair = path.name.split("-")[2]
        source, target = languages.pair(f"{pair[:2]}-{pair[2:]}", origin=path.name)
        text = delimited.content(path).decode("utf-8")
        frame = pd.read_csv(io.StringIO(text), sep=" ", names=["metric", "tau", "pairs"], dtype="str", index_col=False)
        for spelling, sign in _SPELLINGS.items():
            frame["metric"] = frame["metric"].str.replace(spelling, sign)
        frames.append(frame.astype({"pairs": int}).assign(src_lang=source, tgt_lang=target))
    return pd.concat(frames, ignore_index=True)[["src_lang", "tgt_lang", "metric", "tau", "pairs"]]


def _read(path: Path, *, header: list[str], separator: str, packed: bool = False, **options) -> pd.DataFrame:
    """Read a table without a header: names as categories, measurements as numbers."""
    numbers = dict.fromkeys(["score", "z", "judgements", "line"], float)
    types = {name: numbers.get(name, "category") for name in header}
    options |= {"compression": "gzip" if packed else None, "quoting": 3, "index_col": False}
    return pd.read_csv(path, sep=separator, names=header, dtype=types, **options)


def _languages(frame: pd.DataFrame, *, origin: str) -> pd.DataFrame:
    """Put source and target language in the place of the column ``pair``."""
    pairs = frame["pair"].cat.remove_unused_categories()
    codes = [languages.pair(name, origin=origin) for name in pairs.cat.categories]
    ends = {
        column: pd.Index([ends[place] for ends in codes]).take(pairs.cat.codes).astype("category")
        for place, column in enumerate(["src_lang", "tgt_lang"])
    }
    return frame.drop(columns="pair").assign(**ends)
