"""Fill rows of Table 1 of Sai et al. 2023 that need word vectors or a model, from those that you give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from evalkit import DataError, data
from evalkit.metrics import alignment, correlation
from evalkit.neural import pretrained, vectors
from evalkit.papers import claims

_GOLD = "gold"
_LANGUAGES = 5
_NOTE = (
    "Vectors, weights or scores were given in this run and need not be the paper's. The paper counts seven systems, "
    "the release has six; Hindi's references are corrected here."
)


def table1(
    ratings: pd.DataFrame | None = None,
    *,
    files: Mapping[str, str | Path] | None = None,
    models: Mapping[str, str] | None = None,
    columns: Sequence[str] = (),
    python: str | None = None,
) -> pd.DataFrame:
    """Compare metrics whose word vectors, models or scores you give with Table 1: rows for ``show.compare``.

    ratings: judged translations, by default IndicMT-Eval with Hindi's references corrected. files: tgt_lang -> file of
    word vectors, for EA, VE and GM in that language. models: metric of ``neural.MODELS`` -> its checkpoint, by name or
    path. columns: metrics, by the names in ``sai2023.toml``, whose scores ratings already hold, such as PRISM. python:
    that of the environment with PyTorch. For instance
    ``table1(files={"tam": "cc.ta.300.vec.gz"}, models={"LaBSE": "LaBSE"}, python=".venv-neural/bin/python")``.
    A printed average is filled where each of the five languages is. Raises DataError where nothing is given.
    """
    if not (files or models or columns):
        raise DataError("No word vectors, model or scores were given. Give files, models or columns.")
    known = data.published("sai2023_table1")["metric"].replace(claims.names("sai2023")).unique()
    if strange := [name for name in columns if name not in known]:
        raise DataError(f"No metric is called {strange[0]!r} here. Choose among {', '.join(known)}.")
    if ratings is None:
        ratings = alignment.corrected(data.load("indicmt-mqm"))
    scored, metrics = ratings.assign(**{_GOLD: ratings["score"].clip(lower=0)}), [*columns, *(models or {})]
    if files:
        scored, metrics = vectors.scores(scored, vectors=files), [*vectors.METRICS, *metrics]
    if models:
        scored = pretrained.scores(scored, metrics=[*models], models=models, python=python)
    correlated = correlation.segments(scored, gold=_GOLD, metrics=metrics)
    return _compared(correlated[correlated["n"] > 0])


def _compared(correlated: pd.DataFrame) -> pd.DataFrame:
    """Lay correlations beside Table 1, and leave out what was not computed."""
    columns = ["pearson", "kendall_b"]
    groups = correlated.groupby("metric", sort=False)
    whole = groups[columns].mean()[groups.size() == _LANGUAGES].reset_index().assign(language="average")
    segments = pd.concat([correlated, whole])[["metric", "language", *columns]]
    tables = {"segments": segments, "means of table1": segments.rename(columns={"kendall_b": "kendall"})}
    made = claims.compare("sai2023", tables, items="Table 1").drop(columns=["low", "high"])
    return made[made["computed"].notna()].assign(basis="recomputed from data", note=_NOTE).reset_index(drop=True)
