"""Metrics as Sai et al. 2023 test them: on subsets of errors, with models of your own, and on challenge sets."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError, data
from evalkit.data.schemas import UNSTATED
from evalkit.human.mqm import KEY
from evalkit.metrics import alignment, correlation
from evalkit.neural import scorer
from evalkit.papers import claims
from evalkit.stats.inference import column_means, interval, resample

#: The families that are distinguished, and how the paper shortens them.
FAMILIES = {"fluency": "Flu", "accuracy": "Acc"}
_KINDS = (*FAMILIES, "terminology")
_GOLD = "gold"
_LANGUAGES = 5
_NOTE = (
    "Vectors, weights or scores were given in this run and need not be the paper's. The paper counts seven systems, "
    "the release has six; Hindi's references are corrected here."
)
#: The columns of ACES that are read here.
COLUMNS = ("source", "good-translation", "incorrect-translation", "reference", "phenomena", "langpair")


@dataclass(frozen=True)
class Rule:
    """One reading of "segments that contain only a single error type".

    error_free: whether segments without an error belong to both subsets. terminology: whether its errors count as
    errors of accuracy. own: whether metrics are compared with the annotator's own score, not the formula's. single:
    whether a segment may have one error only.
    """

    error_free: bool = True
    terminology: bool = True
    own: bool = True
    single: bool = False


#: "authors" is what their notebook does (cell 94 of ``legacy/code/evaluate.ipynb`` in AI4Bharat/IndicMT-Eval), and it
#: draws no equal numbers. The next three change one thing of it each. "literal" is what the paper's section 5.4 says.
RULES = {
    "authors": Rule(),
    "formula's score": Rule(own=False),
    "terminology apart": Rule(terminology=False),
    "without error-free": Rule(error_free=False),
    "literal": Rule(error_free=False, terminology=False, own=False),
    "one error": Rule(error_free=False, terminology=False, own=False, single=True),
}


def count_errors(scored: pd.DataFrame, spans: pd.DataFrame) -> pd.DataFrame:
    """Add how many errors each judgement has: ``errors`` in all, and columns fluency, accuracy and terminology.

    scored: a row per judgement; spans: a row per error with error_type "category/subcategory", as in ``schemas.SPANS``.
    What has a severity but no type is left aside: the authors count as errors what has a type.
    Errors of judgements that are not in the table are left aside. Raises DataError where that is so of all of them, or
    where two judgements have the same names.
    """
    keys = pd.MultiIndex.from_frame(scored[KEY].astype(str))
    if not keys.is_unique:
        twice = dict(zip(KEY, keys[keys.duplicated()][0]))
        raise DataError(f"Two judgements are both {twice}. Keep one of them, or their errors cannot be distinguished.")
    owner = keys.get_indexer(pd.MultiIndex.from_frame(spans[KEY].astype(str)))
    if len(spans) and (owner < 0).all():
        stray = dict(zip(KEY, spans[KEY].astype(str).iloc[0]))
        raise DataError(f"No error belongs to a judgement of the table; the first is of {stray}. Check the names.")
    family = spans["error_type"].astype(str).str.partition("/")[0].to_numpy()
    kinds = {"errors": family != UNSTATED} | {name: family == name for name in _KINDS}
    counts = {name: np.bincount(owner[(owner >= 0) & own], minlength=len(scored)) for name, own in kinds.items()}
    return scored.assign(**counts)


def correlations(judged: pd.DataFrame, *, formula: str, own: str, metrics: Sequence[str]) -> pd.DataFrame:
    """Correlate metrics with human scores within each family's subset, under each rule: the paper's Table 10.

    judged: the result of ``count_errors``. formula, own: columns of the formula's and the annotators' own scores.
    Returns language, metric, subset, rule, then as ``correlation.segments``.
    Caveat: an error-free segment belongs to both subsets where a rule counts it, so tau then mostly says whether a
    metric tells faultless translations from faulty ones.
    """
    parts = {}
    for rule, family in product(RULES, FAMILIES):
        gold = judged[own if RULES[rule].own else formula].where(member(judged, family, rule))
        parts[rule, family] = correlation.segments(judged.assign(gold=gold), gold="gold", metrics=metrics)
    found = pd.concat(parts, names=["rule", "subset"]).reset_index(["rule", "subset"]).reset_index(drop=True)
    return found[["language", "metric", "subset", "rule", *found.columns[4:]]]


def member(judged: pd.DataFrame, family: str, rule: str) -> pd.Series:
    """Tell which judgements belong to a family's subset under a rule.

    >>> judged = pd.DataFrame({"errors": [0, 1, 2, 2], "fluency": 0, "accuracy": [0, 1, 1, 1],
    ...     "terminology": [0, 0, 1, 0]})
    >>> {rule: member(judged, "accuracy", rule).tolist() for rule in ("literal", "authors")}
    {'literal': [False, True, False, False], 'authors': [True, True, True, False]}
    """
    how, of = RULES[rule], judged[family]
    if family == "accuracy" and how.terminology:
        of = of + judged["terminology"]
    only = of.eq(judged["errors"])
    return only & of.eq(1) if how.single else only & (of.gt(0) | how.error_free)


def fit(correlated: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Say how far printed values are from each rule's: rule, subset, cells, mean_gap, largest_gap.

    correlated: the result of ``correlations``; printed: language, metric, subset, printed (a number or its digits).
    Over languages and metrics, in the order of ``correlated``. gap: the absolute difference of tau-b.
    """
    printed = printed.assign(printed=pd.to_numeric(printed["printed"]))
    both = correlated.merge(printed[["language", "metric", "subset", "printed"]], on=["language", "metric", "subset"])
    both["gap"] = (both["kendall_b"] - both["printed"]).abs()
    found = both.groupby(["rule", "subset"], sort=False)["gap"].agg(["size", "mean", "max"]).reset_index()
    return found.rename(columns={"size": "cells", "mean": "mean_gap", "max": "largest_gap"})


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
    word vectors, for EA, VE and GM in that language. models: metric of ``scorer.MODELS`` -> its checkpoint, by name or
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
    scored = ratings.assign(**{_GOLD: ratings["score"].clip(lower=0)})
    scored = scorer.scores(scored, models=models or {}, vectors=files, python=python)
    metrics = [*(scorer.VECTORS if files else ()), *columns, *(models or {})]
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


def read_aces(path: str | Path) -> pd.DataFrame:
    """Read a challenge set in ACES' format: TSV with a header, or one JSON object a line (``.jsonl``).

    Returns ``COLUMNS`` and language, the target of the langpair. Quotes are letters. Raises DataError for a missing
    column, an empty cell, a langpair that is not two codes, or two translations that are the same.
    """
    path = Path(path)
    try:
        as_text = {"sep": "\t", "dtype": str, "keep_default_na": False, "quoting": csv.QUOTE_NONE}
        json = path.suffix == ".jsonl"
        table = pd.read_json(path, lines=True, dtype=False) if json else pd.read_csv(path, **as_text)
    except FileNotFoundError:
        raise DataError(f"There is no file {path.name}. Give the path of a challenge set in ACES' format.") from None
    except ValueError as problem:
        raise DataError(f"{path.name} is no challenge set: {problem}. Give a TSV, or JSON lines.") from None
    if missing := [name for name in COLUMNS if name not in table]:
        raise DataError(f"{path.name} has no column {missing[0]}. A challenge set has {', '.join(COLUMNS)}.")
    if table.empty:
        raise DataError(f"{path.name} has no challenges. Give a set with at least one row.")
    table = table[list(COLUMNS)].fillna("").astype(str)
    blank = {f"{column} is empty": table[column].str.strip().eq("") for column in COLUMNS}
    rules = blank | {
        "the langpair is not like en-hi": ~table["langpair"].str.fullmatch(r"\w+-\w+"),
        "both translations are the same": table["good-translation"].eq(table["incorrect-translation"]),
    }
    for rule, broken in rules.items():
        if broken.any():
            raise DataError(f"{path.name}, challenge {broken.argmax() + 1}: {rule}. Correct it or drop the row.")
    return table.assign(language=table["langpair"].str.split("-").str[1])


def two_sided(challenges: pd.DataFrame) -> pd.DataFrame:
    """Lay a challenge set out as translations to score: two rows a challenge.

    Returns challenge (its number), side (good | incorrect), language, phenomena, source, hypothesis, reference.
    """
    numbered = challenges.assign(challenge=np.arange(len(challenges)))
    sides = [numbered.assign(side=side, hypothesis=challenges[f"{side}-translation"]) for side in ("good", "incorrect")]
    columns = ["challenge", "side", "language", "phenomena", "source", "hypothesis", "reference"]
    return pd.concat(sides, ignore_index=True)[columns]


def kendall_like(
    scored: pd.DataFrame,
    metrics: Sequence[str],
    *,
    lower_is_better: Collection[str] = (),
    resamples: int = 1000,
    seed: int = 7,
) -> pd.DataFrame:
    """Return each metric's Kendall-like τ per phenomenon: (right - wrong) / (right + wrong) preferences.

    scored: as ``two_sided`` lays it out, with a column per metric. A preference is right where the good translation
    scores higher; a tie is wrong. Returns phenomena, metric, tau, low, high (95 %, percentile interval, drawing English
    sentences), n (challenges), ties. -1 to 1; guessing gives 0, never distinguishing them -1.
    Source: Amrhein et al. 2022, section 4.3 (the WMT tasks' formula, with ties as discordant).

    >>> two = pd.DataFrame({"challenge": [0, 1, 2, 0, 1, 2], "side": ["good"] * 3 + ["incorrect"] * 3,
    ...     "phenomena": "number", "source": ["a", "b", "c"] * 2, "m": [0.9, 0.8, 0.5, 0.1, 0.8, 0.2]})
    >>> kendall_like(two, ["m"])[["tau", "n", "ties"]].round(3).values.tolist()
    [[0.333, 3.0, 1.0]]
    """
    if missing := [name for name in ("challenge", "side", "source", "phenomena", *metrics) if name not in scored]:
        raise DataError(f"The scored challenges have no column {missing[0]}. Score what two_sided gives.")
    good, incorrect = (scored[scored["side"] == side].set_index("challenge") for side in ("good", "incorrect"))
    if not good.index.is_unique or not incorrect.index.is_unique or set(good.index) != set(incorrect.index):
        raise DataError("Each challenge needs one good and one incorrect translation. Score what two_sided gives.")
    apart = good[list(metrics)] - incorrect[list(metrics)]
    if not np.isfinite(apart).all(axis=None):
        raise DataError("Some translation of the challenges has no score. Score all of them, or drop their challenges.")
    apart = apart * [-1 if name in lower_is_better else 1 for name in metrics]
    tables = []
    for phenomenon, part in apart.groupby(good["phenomena"], sort=False):
        preferred = np.where(part > 0, 1.0, -1.0)
        sentences = good.loc[part.index, "source"].to_numpy()
        low, high = interval(resample(column_means(preferred), sentences, resamples=resamples, seed=seed))
        table = {"phenomena": phenomenon, "metric": list(metrics), "tau": preferred.mean(0), "low": low, "high": high}
        tables.append(pd.DataFrame(table | {"n": len(part), "ties": part.eq(0).sum().to_numpy()}))
    return pd.concat(tables, ignore_index=True)
