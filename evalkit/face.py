"""The functions of the package for people with a table: one function, one table, as ``import evalkit as ek`` has them.

A table is a plain frame with the names of this package: ``system``, ``segment`` and ``score``; ``annotator`` where it
matters who judged; ``doc``, ``src_lang``, ``tgt_lang``, ``item_type`` (see ``ITEM_TYPES``), ``hit``, ``started`` where
there are such. What a function needs and a table lacks is told all at once. Without languages all rows are of one pair,
without ``doc`` of one document, without ``item_type`` outputs of systems. Higher scores are better. Nothing is changed
in the table that is handed over; results are new frames.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.agreement import MEASURES, kind_of
from evalkit.campaign.findings import Missing
from evalkit.campaign.opening import STEPS, from_ratings
from evalkit.campaign.ranking import Ranking, rank_systems
from evalkit.data import schemas
from evalkit.data.provenance import Scale
from evalkit.human import annotators, components, context, mqm, normalization, planning, preferences
from evalkit.human.calibration import calibrate as calibrate_ratings
from evalkit.human.ranking.lines import rule_clusters
from evalkit.metrics.scores import Scores, align
from evalkit.metrics.significance import perm_both
from evalkit.metrics.statistics import correlations
from evalkit.stats import agreement as agreements

#: What stands in columns that a table need not have.
_ASSUMED = {"src_lang": "und", "tgt_lang": "und", "doc": "1"}
_SOURCE = {"name": "table", "source": "real", "origin": "a table", "digest": ""}
_JUDGED = ("system", "segment", "annotator", "score")


def ratings(
    table: pd.DataFrame, *, needs: Sequence[str] = ("system", "segment", "score"), scale: Scale | None = None
) -> pd.DataFrame:
    """Check a table of judgements, a row each, and fill in what need not be said.

    needs: columns that it must have. scale: lowest and highest score that could be given; None takes what the table
    knows, or else the lowest and highest that were. Returns a new table as ``evalkit.data.schemas.RATINGS`` describes.
    Raises DataError with a line for each broken rule: columns that are missing, cells that are no numbers, judgements
    that are there twice, several criteria at once.

    >>> ratings(pd.DataFrame({"segment": [1], "mark": [80]}))
    Traceback (most recent call last):
    evalkit.DataError: The table lacks the columns system, score; it has segment, mark. Rename columns with...
    """
    _demand("The table", table, needs)
    if "criterion" in table and table["criterion"].nunique() > 1:
        named = ", ".join(map(str, table["criterion"].unique()))
        raise DataError(f"The table holds several criteria ({named}). Choose one: table[table['criterion'] == ...].")
    whole = _filled(table, **_ASSUMED, item_type="system", annotator=[str(n) for n in range(len(table))])
    checked = schemas.check(whole, schemas.RATINGS, origin="The table", first_line=0, scale=scale)
    checked.attrs = dict(table.attrs)
    checked.attrs.setdefault("source", _SOURCE)
    checked.attrs["scale"] = scale or checked.attrs.get("scale")
    if "annotator" not in table:
        checked.attrs["reading"] = {"unnamed": True}
    return checked


def agreement(
    table: pd.DataFrame | np.ndarray, *, measures: Sequence[tuple[str, str]] | None = None, **options: Any
) -> pd.DataFrame:
    r"""Estimate how far annotators agree beyond chance, by every coefficient that is in use, with 95 % intervals.

    table: items × annotators, NaN where somebody skipped, as an array or a frame; or judgements with system, segment,
    annotator and score, of one language pair or several, of which degraded items and references are left out. measures:
    (coefficient, level) such as ("fleiss_kappa", "none"), ("krippendorff_alpha", "interval"), ("gwet_ac2",
    "quadratic"), ("cohen_kappa", "quadratic"); None takes those in common use, and of judgements those that fit gaps
    and the kind of scale; of more than 11 different scores Krippendorff's alpha. options: categories, resamples,
    seed (see ``evalkit.stats.agreement.coefficients``).
    Each coefficient is :math:`(p_o - p_e) / (1 - p_e)`: observed agreement less what chance would give, by its own
    idea of chance.
    Returns coefficient, level, estimate, se, low, high, items, annotators, note; before them pair, for judgements.
    Source: Fleiss 1971; Cohen 1960; Scott 1955; Krippendorff 2011; Gwet 2014.  Caveat: a coefficient without its
    marginal frequencies says little; where nearly all answers are one category, kappa is low though people agree.

    >>> scores = pd.DataFrame({"a": [1, 2, 3, 3, 2, 1, 4, 1], "b": [1, 2, 3, 3, 2, 2, 4, 1]})
    >>> agreement(scores, measures=[("fleiss_kappa", "none")])[["coefficient", "estimate", "items"]].round(3)
        coefficient  estimate  items
    0  fleiss_kappa     0.828      8
    """
    if not isinstance(table, pd.DataFrame) or not {"annotator", "score"} & {*table.columns}:
        scores = pd.DataFrame(table)
        many = pd.Series(scores.to_numpy().ravel()).nunique() > STEPS
        return agreements.coefficients(
            scores, measures=measures or (_fitting("continuous") if many else None), **options
        )
    own = schemas.of_systems(ratings(table, needs=_JUDGED), ("system", "repeat", "calibration"))
    named = measures or _fitting(kind_of(own["score"]))
    parts = []
    for pair, part in schemas.with_pair(own).groupby("pair", sort=True):
        scores = agreements.score_matrix(part)
        several = scores[scores.notna().sum(axis=1) > 1].dropna(axis=1, how="all")
        if several.empty:
            raise DataError(f"{pair}: no item was scored by two annotators. Let two or more judge the same items.")
        found = agreements.coefficients(several, measures=named, **options)
        parts.append(found.assign(pair=pair)[["pair", *found.columns]])
    return _unpaired(pd.concat(parts, ignore_index=True), table)


def reliability(table: pd.DataFrame) -> pd.DataFrame:
    """Estimate which share of the scores' variance is the items': intraclass correlations ICC(A,1) and ICC(C,1).

    table: judgements with system, segment, annotator and score. Returns pair, items, annotators, agreement (a strict
    annotator's lower level counts as disagreement) and consistency (it does not), with 95 % intervals.
    Source: McGraw & Wong 1996.  Caveat: items that some annotator skipped are left out.

    >>> table = pd.DataFrame({"system": "A", "segment": [1, 2, 3] * 2, "annotator": list("aaabbb"),
    ...                       "score": [10, 20, 30, 20, 30, 40]})
    >>> reliability(table)[["items", "agreement", "consistency"]].round(3).values.tolist()
    [[3.0, 0.667, 1.0]]
    """
    return _unpaired(agreements.intraclass(ratings(table, needs=_JUDGED)), table)


def normalize(table: pd.DataFrame, *, method: str = "z", **options: Any) -> pd.DataFrame:
    """Add the column ``normalized``: scores made comparable between annotators, within each language pair.

    table: judgements with system, segment, annotator and score. method: z, robust, ... (see
    ``evalkit.human.normalization.methods()``: what each assumes and destroys). options: by, ddof, item_types, ... (see
    ``evalkit.human.normalization.normalize``). Source: z since WMT13 (Graham et al. 2013).
    Caveat: z-scores take out differences between systems, too, where annotators judged different systems; ``rank``
    looks whether they did.

    >>> table = pd.DataFrame({"system": "A", "segment": [1, 2, 3, 1, 2], "annotator": list("aaabb"),
    ...                       "score": [10, 20, 30, 50, 50]})
    >>> normalize(table)["normalized"].tolist()
    [-1.0, 0.0, 1.0, nan, nan]
    """
    own = ratings(table, needs=_JUDGED, scale=options.get("scale"))
    found = normalization.normalize(own, method=method, **options)
    return table.assign(normalized=found["normalized"].to_numpy())


def calibrate(
    table: pd.DataFrame, *, by: str = "annotator", within: str | None = None, scale: Scale | None = None, **options: Any
) -> pd.DataFrame:
    """Move each group's scores by how it scored a shared calibration set: every form of the shift, with intervals.

    table: judgements with system, segment, annotator and score; item_type is "calibration" for items of the shared
    set. by: who has a level of their own: "annotator", "pair". within: what the standard is agreed on within.
    Returns within, group, system, form, items, annotators, calibration_mean, raw, raw_se, adjusted, se, low, high, ...
    The shift is :math:`f(x) = x + (agreed mean - the group's mean)` on the calibration set.
    Source: Licht et al. 2022, section 4 (equation 2).  Caveat: groups that share calibration items have correlated
    errors, so differences between them are surer than two intervals suggest.

    >>> table = pd.DataFrame({"system": ["A", "shared"] * 2, "segment": [1, 9] * 2, "annotator": list("aabb"),
    ...                       "item_type": ["system", "calibration"] * 2, "score": [60, 50, 80, 70]})
    >>> found = calibrate(table, scale=(0, 100), resamples=10)
    >>> found[found["form"].eq("shift")][["group", "raw", "adjusted"]].values.tolist()
    [['a', 60.0, 70.0], ['b', 80.0, 70.0]]
    """
    own = ratings(table, needs=("system", "segment", "annotator", "score", "item_type"), scale=scale)
    return calibrate_ratings(own, by=by, within=within, scale=scale, **options)


def annotator_profiles(table: pd.DataFrame, *, scale: Scale | None = None) -> pd.DataFrame:
    """Describe each annotator in a row: scores used, ends of the scale, slider's marks, consistency, pace, controls.

    table: judgements with system, segment, annotator and score; hit, started and ended where there are such.
    Returns what ``evalkit.human.annotators.profiles`` says; ``missing`` tells why a cell is empty. The slider's marks
    are taken to be seven, evenly over the scale, as with DA+SQM.

    >>> table = pd.DataFrame({"system": "A", "segment": [1, 2, 1, 2], "annotator": list("aabb"), "score": [0, 5, 8, 9]})
    >>> annotator_profiles(table, scale=(0, 10))[["annotator", "mean"]].values.tolist()
    [['a', 2.5], ['b', 8.5]]
    """
    own = ratings(table, needs=_JUDGED, scale=scale)
    low, high = scale or (own["score"].min(), own["score"].max())
    marks = tuple(np.linspace(low, high, len(annotators.SQM_TICKS)))
    found = annotators.profiles(own, scale=(float(low), float(high)), tick_marks=marks, within=(high - low) / 100)
    return _unpaired(found, table)


def screen(table: pd.DataFrame, rules: Sequence[str] = annotators.RULES) -> pd.DataFrame:
    """Ask of each annotator whether a rule flags them, such as ``sd < 5`` or ``with_others < 0.1``.

    table: judgements with system, segment, annotator and score, from 0 to 100 for the rules' own thresholds. rules:
    a measure of ``evalkit.human.annotators.MEASURES``, a sign, and a number; or a name, such as ``wmt26-filter``.
    Returns pair, annotator, rule, measure, value, threshold, flagged, unknown (there is no value: that flags nobody).
    Caveat: a flag is a reason to look, and no proof; decide on rules before you see the ranking.

    >>> table = pd.DataFrame({"system": "A", "segment": [1, 2] * 2, "annotator": list("aabb"),
    ...                       "score": [0, 80, 50, 51]})
    >>> screen(table, ["sd < 5"])[["annotator", "flagged"]].values.tolist()
    [['a', False], ['b', True]]
    """
    own = ratings(table, needs=_JUDGED)
    return _unpaired(annotators.screen(own, rules), table)


def rank(
    table: pd.DataFrame,
    *,
    pair: str = "",
    score: str = "auto",
    unit: str = "auto",
    scale: Scale | None = None,
    resamples: int = 1000,
    seed: int = 7,
) -> pd.DataFrame:
    """Rank systems, with 95 % intervals of scores and places, by the scores that the design of the campaign allows.

    table: judgements with system, segment and score; annotator where it is known. pair: the language pair; "" takes
    the one with most judgements, with a warning where there are several. score: "raw", "adjusted" (each annotator's
    strictness taken out by a mixed model), "z", or "auto", which chooses by who judged what. unit: what another
    campaign might have drawn otherwise: "annotators", "documents", "segments", "annotators and documents", or "auto".
    Returns rank, cluster, mean, low, high, rank_low, rank_high, best (share of draws as the first), wins, losses,
    segments, best first. ``attrs["why"]`` says which scores were chosen and why, ``attrs["unit"]`` what was drawn.
    Raises DataError where no order can be had, as each annotator judged one system only.
    Source: intervals by crossed influences with Student's t (Cameron, Gelbach & Miller 2011); clusters at .05 after
    Holm.  Caveat: with few annotators the intervals hold for these annotators only, which ``attrs["unit"]`` tells; in a
    table without annotators each judgement counts as another person's, and intervals are too narrow where it is not so.

    >>> table = pd.DataFrame({"system": ["A"] * 4 + ["B"] * 4, "segment": [1, 2, 3, 4] * 2,
    ...                       "score": [60, 71, 80, 90, 10, 20, 32, 65]})
    >>> rank(table)[["system", "rank", "mean"]].values.tolist()
    [['A', 1, 75.25], ['B', 2, 31.75]]
    """
    found = _ranking(table, pair, scale, score=score, unit=unit, resamples=resamples, seed=seed)
    ranked = found.systems
    ranked.attrs = {"why": found.method.why, "unit": found.method.why_unit}
    return ranked


def compare_systems(
    table: pd.DataFrame, *, pair: str = "", score: str = "auto", unit: str = "auto", scale: Scale | None = None
) -> pd.DataFrame:
    """Test every two systems of one language pair: is the better one better beyond chance?

    table, pair, score, unit: as for ``rank``. Returns better, worse, difference, n_better, n_worse (segments), p
    (one-sided), adjusted_p (Holm over all tests), significant (adjusted_p below .05).
    Source: t-test over the units that could have been drawn otherwise; Holm 1979.  For WMT's own tests see
    ``evalkit.human.ranking.lines.pairwise_tests``.

    >>> table = pd.DataFrame({"system": ["A"] * 4 + ["B"] * 4, "segment": [1, 2, 3, 4] * 2,
    ...                       "score": [60, 71, 80, 90, 10, 20, 32, 65]})
    >>> compare_systems(table)[["better", "worse", "difference", "significant"]].values.tolist()
    [['A', 'B', 43.5, True]]
    """
    return _ranking(table, pair, scale, score=score, unit=unit, resamples=100, seed=7).pairwise


def cluster_lines(table: pd.DataFrame, *, rule: str = "wmt26", **options: Any) -> pd.DataFrame:
    """Rank systems and part them into clusters by the rule of a year of WMT.

    table: judgements with system, segment and score; annotator for rules on z-scores, domain for those that weigh
    domains. rule: a name of ``evalkit.human.ranking.rules.RULES``, such as wmt22 or wmt24. options: resamples,
    seed, unit. Returns rule, pair, system, score, rank, cluster (1 is best), rank_top, rank_bottom, ...
    Source: WMT's findings and scripts, named at each rule.  Caveat: how often a rule parts equal systems differs from
    1 % to more than half; see the study ranking_rules.

    >>> table = pd.DataFrame({"system": ["A"] * 9 + ["B"] * 9, "segment": [*range(9)] * 2,
    ...                       "score": [*range(60, 69), *range(50, 68, 2)]})
    >>> cluster_lines(table, rule="wmt26")[["system", "score", "cluster"]].values.tolist()
    [['A', 64.0, 1], ['B', 58.0, 2]]
    """
    return _unpaired(rule_clusters(ratings(table), rule=rule, **options), table)


def context_effect(table: pd.DataFrame) -> pd.DataFrame:
    """Ask whether people score an unchanged segment lower once its neighbours were degraded.

    table: judgements with system, doc, segment, annotator, score, item_type ("repeat" for unchanged segments of a
    copy, "degraded" for worsened ones), hit, ``copy`` (the row belongs to a copy) and ``position`` in the HIT.
    Returns pair, scale, group (before or after the first degraded segment of the copy), n, mean, median, mode, sd of
    original - copy, and p against no difference. Source: Knowles & Lo 2024, section 5.  Caveat: pairs of one annotator
    are no independent evidence; see the study degraded_context.

    >>> rows = [("A", s, 70 + s, "system", False, s) for s in (1, 2, 3)] + [
    ...     ("A", 1, 70, "repeat", True, 4), ("A", 2, 9, "degraded", True, 5), ("A", 3, 68, "repeat", True, 6)]
    >>> table = pd.DataFrame(rows, columns=["system", "segment", "score", "item_type", "copy", "position"])
    >>> found = context_effect(table.assign(doc="d", annotator="a", hit="h"))
    >>> found[["group", "n", "mean"]].values.tolist()
    [['before', 1, 1.0], ['after', 1, 5.0]]
    """
    needs = ("system", "doc", "segment", "annotator", "score", "item_type", "hit", "copy", "position")
    return _unpaired(context.contrasts(context.pairs(ratings(table, needs=needs))), table)


def mqm_score(table: pd.DataFrame, spans: pd.DataFrame, *, scheme: str) -> pd.DataFrame:
    """Score each judgement by its marked errors: errors, penalty, mqm.

    table: judgements with system, segment, annotator (those without errors, too). spans: a row an error, with the same
    columns, error_type ("category/subcategory") and severity. scheme: a name of ``evalkit.human.mqm.SCHEMES``, which
    say what an error of which severity weighs.
    Source: Freitag et al. 2021; Sai et al. 2023 for "indicmt".

    >>> table = pd.DataFrame({"system": ["A", "B"], "segment": 1, "annotator": "a"})
    >>> spans = table.iloc[:1].assign(error_type="accuracy/omission", severity="major")
    >>> mqm_score(table, spans, scheme="Freitag et al. 2021 (WMT)")[["system", "errors", "mqm"]].values.tolist()
    [['A', 1, -5.0], ['B', 0, 0.0]]
    """
    own = ratings(table.assign(score=0.0), needs=("system", "segment", "annotator"))
    number = spans.groupby([name for name in ("system", "segment", "annotator", "doc") if name in spans]).cumcount()
    whole = _filled(spans, **_ASSUMED, span=number.to_numpy())
    checked = schemas.check(whole, schemas.SPANS, origin="The table of errors", first_line=0)
    scored = mqm.segment_scores(own, checked, scheme)
    return table.assign(**{name: scored[name].to_numpy() for name in ("errors", "penalty", "mqm")})


def strengths(comparisons: pd.DataFrame, **options: Any) -> pd.DataFrame:
    """Rank systems by comparisons of two translations: strengths with 95 % intervals (Bradley-Terry; ties: Davidson).

    comparisons: system_a, system_b, segment, annotator and preference ("a", "b" or "tie"); doc where there is one.
    options: ties, place, resamples, seed. Strengths are natural logs of odds, with mean 0.
    Returns system, strength, low, high, won, won_low, won_high (the share of comparisons that it would win against all
    others, and its interval), best first. Raises DataError where systems were never compared, even through others.
    Source: Bradley & Terry 1952; Davidson 1970.

    >>> answers = [("A", "B", n, "a") for n in range(6)] + [("A", "B", 6, "b"), ("A", "B", 7, "tie")]
    >>> table = pd.DataFrame(answers, columns=["system_a", "system_b", "segment", "preference"]).assign(annotator="x")
    >>> strengths(table, resamples=50)["system"].tolist()
    ['A', 'B']
    """
    _demand("The table of comparisons", comparisons, ("system_a", "system_b", "segment", "annotator", "preference"))
    whole = _filled(comparisons, **_ASSUMED)
    checked = schemas.check(whole, schemas.COMPARISONS, origin="The table of comparisons", first_line=0)
    return preferences.standing(checked, **options).table


def meta_evaluate(metrics: pd.DataFrame, people: pd.DataFrame, **options: Any) -> pd.DataFrame:
    """Correlate metrics with people's scores, by every statistic and grouping of segments.

    metrics: metric, system and score, and segment unless whole systems are scored. people: system (and segment) and
    score; several judgements of a translation are averaged. options: statistics, groupings.
    Returns metric, level, statistic, grouping, value, ... Source: Deutsch, Foster & Freitag 2023 on ties and
    groupings; Perrella et al. 2024.  Caveat: compare metrics that scored the same cells.

    >>> people = pd.DataFrame({"system": list("ABC"), "score": [1, 2, 3]})
    >>> metrics = pd.DataFrame({"metric": "m", "system": list("ABC"), "score": [1, 2, 4]})
    >>> meta_evaluate(metrics, people, statistics=["pearson"])[["metric", "value"]].round(3).values.tolist()
    [['m', 0.982]]
    """
    return correlations(_aligned(metrics, people), **options)


def compare_metrics(
    metrics: pd.DataFrame, people: pd.DataFrame, *, statistic: str = "pearson", **options: Any
) -> pd.DataFrame:
    """Test every two metrics: is the one that agrees better with people better beyond chance (PERM-BOTH)?

    metrics, people: as for ``meta_evaluate``. statistic: pearson or accuracy_3way for scores of systems; pearson,
    acc_eq or spa for scores of segments. options: draws, seed, ... (``significance.How``)
    Returns metric_a (the better one), metric_b, difference, p (one-sided), exact.
    Source: Deutsch, Dror & Roth 2021.  Caveat: of two equal metrics one is better at .05 in a tenth of cases.

    >>> people = pd.DataFrame({"system": list("ABCDE"), "score": range(5)})
    >>> metrics = pd.concat([people.assign(metric="good"), people.assign(metric="fair", score=[0, 3, 2, 1, 4])])
    >>> compare_metrics(metrics, people)[["metric_a", "difference", "p"]].round(9).values.tolist()
    [['good', 0.4, 0.25]]
    """
    return perm_both(_aligned(metrics, people), statistic=statistic, **options)


def plan(variances: Mapping[str, float] | pd.DataFrame, *, delta: float, pair: str = "", **limits: Any) -> pd.DataFrame:
    """List the campaigns that find a difference of so many points, the cheapest first.

    variances: document, item, annotator, block and residual, in squared points; or the judgements of a pilot with
    system, doc, segment, annotator and score. delta: the true difference to be found. pair: of a pilot, the language
    pair; "" takes the first. limits: target, alpha, cost_judgement, capacity, ... (``evalkit.human.planning.Limits``).
    Returns arrangement, calibration, segments, judgements_each, annotators, judgements, cost, power.
    Source: power of the paired t-test over documents, closed form.  Caveat: the ends of the scale are not in the model.

    >>> known = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
    >>> plan(known, delta=5).head(1)[["arrangement", "segments", "annotators"]].values.tolist()
    [['same', 210, 3]]
    """
    if isinstance(variances, pd.DataFrame):
        own = ratings(variances, needs=("system", "doc", "segment", "annotator", "score"))
        found = components.estimate(own)
        variances = components.of_pair(found, pair or found["pair"].iloc[0])
    return planning.plan(variances, delta=delta, limits=planning.Limits(**limits))


def report(file: str | Path, *, out: str | Path = "reports", **parameters: Any) -> Path:
    """Write the report on a campaign's file: which system is better, can you trust it, what to do next.

    file: what ``import_campaign`` wrote, or an export that it can read. parameters: those of ``evalkit params
    campaign``. Returns the path of the page, one HTML file that needs no network. Raises DataError where it failed.
    """
    from evalkit.reports.execute import run
    from evalkit.reports.studies import Layout

    values = {"file": str(Path(file).resolve()), **parameters}
    [outcome] = run(["campaign"], Layout(reports=Path(out)), values=values, jobs=1)
    if outcome.status != "ok":
        raise DataError(f"The report on {Path(file).name} was not made: {outcome.reason}")
    return outcome.path


def _ranking(table: pd.DataFrame, pair: str, scale: Scale | None, **options: Any) -> Ranking:
    """Rank the systems of a table; DataError where that cannot be, a warning where it is of one of several pairs."""
    campaign = from_ratings(ratings(table, scale=scale), pair=pair)
    if not pair and (several := campaign.ratings["pair"].nunique()) > 1:
        said = f"{campaign.pair} is ranked, the most judged of {several} language pairs; pair= names another."
        warnings.warn(said, stacklevel=3)
    found = rank_systems(campaign, **options)
    if isinstance(found, Missing):
        raise DataError(found.reason, found.collect)
    return found


def _fitting(kind: str) -> list[tuple[str, str]]:
    """List the coefficients that fit a kind of scale."""
    return [(name, level) for name, level, _ in MEASURES[kind]]


def _unpaired(found: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Leave out the language pair where the table names none."""
    if {"src_lang", "tgt_lang"} <= {*table.columns}:
        return found
    return found[found["pair"].ne("all")].drop(columns="pair").reset_index(drop=True)


def _demand(called: str, table: pd.DataFrame, needs: Sequence[str]) -> None:
    """Tell all columns at once that a table lacks, or that it is none."""
    if not isinstance(table, pd.DataFrame):
        remedy = "open_campaign(file)[0] reads what an import wrote, pandas.read_csv(file) a file of your own."
        raise DataError(f"{called} is a {type(table).__name__}, no pandas table: {remedy}")
    schemas.demand(table, needs, origin=called)


def _filled(table: pd.DataFrame, **assumed: Any) -> pd.DataFrame:
    """Add the columns that need not be there, and number the rows anew."""
    return table.reset_index(drop=True).assign(**{name: assumed[name] for name in assumed if name not in table})


def _aligned(metrics: pd.DataFrame, people: pd.DataFrame) -> Scores:
    """Match metrics' scores with people's by names."""
    _demand("The table of metrics", metrics, ("metric", "system", "score"))
    _demand("The table of people", people, ("system", "score"))
    both = {*metrics} & {*people}
    key = ["src_lang", "tgt_lang", "system", *(["doc", "segment"] if "segment" in both else [])]
    assumed = {name: cell for name, cell in _ASSUMED.items() if name in key}

    def named(table: pd.DataFrame) -> pd.DataFrame:
        own = table if "doc" in both or "doc" not in key else table.drop(columns="doc", errors="ignore")
        return _filled(own, **assumed).astype(dict.fromkeys(key, "str"))

    human = named(people).groupby(key, as_index=False)["score"].mean().assign(metric="people")
    return align(named(metrics)[[*key, "metric", "score"]], human, data="table")
