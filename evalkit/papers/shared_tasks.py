"""Official results of shared tasks beside recomputed ones: a row for ``show.compare`` each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalkit.data.schemas import with_pair
from evalkit.human.ranking.official import DIGITS, compare_with_official, explain_missing, flat_annotators
from evalkit.metrics.metaeval.darr import OFFICIAL
from evalkit.papers import claims


def compare_scores(
    ratings: pd.DataFrame, official: pd.DataFrame, *, scale: str, paper: str, workers: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Compare the official scores of one scale, raw or z, with recomputed ones: rows for ``show.compare``.

    official: text digits as in the ranking files. paper: who published them. workers: the organisers' list of
    annotators with their means and standard deviations, such as ``wmt22-mturk-annotators``. Where the files lack
    judgements that the official counts include, the note says which, and what the score would be if those were 0 (see
    ``explain_missing``). Language pairs of which no ratings are here have no computed value.
    Returns ``claims.COLUMNS``; ``place`` is empty, because the rankings stand in data files.
    """
    held = compare_with_official(ratings, official, scale=scale)
    why = _reasons(ratings, held, scale, {} if workers is None else _without_spread(workers))
    printed = with_pair(official)
    keys = list(zip(printed["pair"], printed["system"], strict=True))
    values = held.set_index(["pair", "system"])["recomputed"].to_dict()
    found = pd.DataFrame(
        {
            "paper": paper,
            "item": printed["pair"] + f", {scale}",
            "cell": printed["system"],
            "printed": printed[scale],
            "computed": pd.Series([values.get(key) for key in keys], index=printed.index, dtype=object),
            "note": [why[key] if key in values else "Scores of this language pair are not here." for key in keys],
            "basis": "official result",
            "place": "",
            "lacking": ["" if key in values else f"scores not here: {paper.split(',')[0]} {key[0]}" for key in keys],
        }
    )
    return found[claims.COLUMNS].reset_index(drop=True)


def compare_darr(computed: pd.DataFrame, official: pd.DataFrame) -> pd.DataFrame:
    """Compare official DARR results of a metrics task with recomputed ones: rows for ``show.compare``, two for each.

    computed: the result of ``darr.results``. official: pair, metric, pairs, tau as printed, from ``data.published``. A
    metric or language pair that was not computed has no computed value.
    """
    rows = computed[(computed["variant"] == "hard") & (computed["threshold"] == OFFICIAL)]
    return claims.compare_with_print(
        official,
        rows,
        item="official DARR",
        on=["pair", "metric"],
        values={"pairs": "pairs", "tau": "tau"},
        basis="official result",
        absent="This run has no scores of the metric in this language pair.",
        lacking="scores not in this run",
    )


def compare_correlations(computed: pd.DataFrame, printed: pd.DataFrame, *, gold: str) -> pd.DataFrame:
    """Compare statistics of WMT23's metrics that Perrella et al. 2024 publish: rows for ``show.compare``.

    computed: pair, level, statistic, grouping, metric, value. printed: ``perrella2024_wmt23``, made by a fork of
    mt-metrics-eval from the same scores. gold: the human scores of this run; theirs are MQM. Their sentinels are
    trained models whose scores are not here, so that these have no computed value.
    """
    on = ["pair", "level", "statistic", "grouping", "metric"]
    mine = computed[computed["pair"].isin(printed["pair"].unique()) if gold == "mqm" else [False] * len(computed)]
    sentinel = "Theirs is a large model trained on other years, and its scores are not among WMT's."
    lost = "They hold metrics against MQM, this run against other scores."
    left = printed[on].merge(mine[[*on, "value"]], on=on, how="left")
    trained = left["metric"].str.startswith("SENTINEL")
    left["absent"] = np.where(trained, sentinel, lost)
    left["lacking"] = np.where(trained, "scores of trained sentinels", "scores not in this run")
    return claims.compare_with_print(
        printed, left, item="correlations of WMT23", on=on, values={"printed": "value"}, basis="recomputed from data"
    )


def compare_tests(
    clusters: pd.DataFrame, lines: pd.DataFrame, p_values: pd.DataFrame, tested: pd.DataFrame
) -> pd.DataFrame:
    """Compare WMT's published wins, cluster lines and p-values with recomputed ones: rows for ``show.compare``.

    clusters, p_values: ``wmt_clusters`` and ``wmt22_pvalues`` from ``data.published``. lines, tested: the results of
    ``ranking.compare_clusters`` and ``ranking.compare_p_values``.
    """
    lost: dict[str, Any] = {
        "absent": "WMT21's scores of Chinese-English are not here.",
        "lacking": "scores not here: WMT21 zho-eng",
    }
    systems = claims.compare_with_print(
        clusters,
        lines,
        item="wins and cluster lines",
        on=["data", "pair", "system"],
        values={"wins": "wins", "line": "line"},
        basis="official result",
        **lost,
    )
    tests = claims.compare_with_print(
        p_values,
        tested,
        item="p of one-sided Mann-Whitney tests",
        on=["pair", "better", "worse"],
        values={"p": "p"},
        basis="official result",
        **lost,
    )
    return pd.concat([systems, tests], ignore_index=True)


def _reasons(ratings: pd.DataFrame, held: pd.DataFrame, scale: str, flat: dict[str, str]) -> dict:
    """Say of each pair and system what the official number counts beyond the ratings; "" where it equals ours."""
    short = {
        (row.pair, row.system): _missing(row, scale, flat.get(row.pair, ""))
        for row in explain_missing(ratings, held, scale=scale).itertuples()
    }
    return {
        (row.pair, row.system): short.get((row.pair, row.system), "" if row.equal else _unknown(row))
        for row in held.itertuples()
    }


def _missing(row, scale: str, flat: str) -> str:
    """Explain one score by judgements that the ratings lack; ``row`` is one of ``explain_missing``."""
    low, high = (f"{end:.{DIGITS[scale] + 2}f}" for end in (row.lowest, row.highest))
    becomes, rounds = low, "which rounds to the printed number"
    if low != high:
        becomes = f"{low} to {high}, depending on the segments that they belong to"
        rounds = "in which values round to the printed number"
    more = "a judgement" if row.missing_judgements == 1 else f"{row.missing_judgements} judgements"
    new = {0: "no segment", 1: "a segment"}.get(row.missing_segments, f"{row.missing_segments} segments")
    return (
        f"The official number counts {more} and {new} more. That fits annotators without spread, who have no z-score "
        f"and therefore no row in the released ratings{flat}: with 0 for these the score becomes {becomes}, "
        + (f"{rounds}." if row.explained else "which is not the printed number: something else differs, too.")
    )


def _unknown(row) -> str:
    """Say what is known of a score that lacks no judgement and differs all the same."""
    if row.judgements == row.official_judgements:
        return "The counts of judgements agree; the cause is not known."
    return (
        f"The files hold {row.judgements:,} judgements of it; the official ranking counts "
        f"{row.official_judgements:,}. Which of them it leaves out is not known."
    )


def _without_spread(workers: pd.DataFrame) -> dict[str, str]:
    """Say per language pair how many annotators gave one score throughout, and which."""
    found = flat_annotators(workers)
    return {
        row.pair: f" ({row.without_spread} of {row.pair} gave nothing but {row.scores}, by the organisers' list)"
        for row in found[found["without_spread"] > 0].itertuples()
    }
