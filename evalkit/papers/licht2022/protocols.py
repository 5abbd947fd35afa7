"""The protocols of Licht et al. 2022: is Table 3 true to its cells, how sure are its kappas, what can a protocol see?

The annotations were never published. What sampling does to a kappa is therefore computed from a model at the printed
values (``evalkit.data.simulate.categories``): that is arithmetic about the design, and no data. A meaningful protocol
sees that HT0 > MT1 > MT2: ``progression`` tests it, also by the scores of post-edits, and ``power`` says what that
would need.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics import CHRF
from scipy import stats

from evalkit import DataError, data
from evalkit.data import simulate
from evalkit.stats import inference
from evalkit.stats.agreement import BANDS

#: The translations in the order that section 6.1 expects of any meaningful protocol.
PROGRESSION = ("HT0", "MT1", "MT2")
#: The share of campaigns that shall see a difference.
WANTED_POWER = 0.8
#: What the scores are called in tables.
WORDS = {
    "critical_errors": "critical errors",
    "characters": "edits in characters",
    "words": "edits in words",
    "chrf": "chrF",
}
SCORES = tuple(WORDS)
DIRECTIONS = ("X-EN", "EN-X", "both")
#: Shares of the four categories, from worst to best; the paper prints none, so these are assumptions.
MARGINALS = {"even": [0.25, 0.25, 0.25, 0.25], "good": [0.10, 0.15, 0.25, 0.50], "very good": [0.02, 0.05, 0.13, 0.80]}
#: What the four translations of a sentence are worth, as they may hang together; the paper does not say.
WORTH = {"together": 1, "independent": 4}
#: The codes of its languages, and their names.
LANGUAGES = {"AR": "Arabic", "ES": "Spanish", "ET": "Estonian", "ID": "Indonesian", "MN": "Mongolian", "TA": "Tamil"}
#: True kappas that are simulated; denser near 1, where what is reported scatters less and less.
_GRID = sorted([*np.linspace(0, 1, 21).tolist(), 0.97, 0.98, 0.99, 0.995])


def averages(table3: pd.DataFrame) -> pd.DataFrame:
    """Average each protocol's printed kappas per direction: protocol, direction, mean, rank, cells.

    "both" is the mean of the two directions, for the protocols that apply to both. Ranks are within a direction,
    1 the highest; they are taken from exact sums, so that equal means share a rank.
    """
    exact = table3.assign(mean=table3["kappa"].map(Fraction), cells=1)
    average = {"mean": lambda values: sum(values, Fraction()) / len(values), "cells": "sum"}
    each = exact.groupby(["protocol", "direction"], sort=False).agg(average).reset_index()
    twice = each[each.duplicated("protocol", keep=False)]
    both = twice.groupby("protocol", sort=False).agg(average).reset_index().assign(direction="both")
    found = pd.concat([each, both], ignore_index=True).astype({"mean": float})
    found["rank"] = found.groupby("direction")["mean"].rank(method="min", ascending=False).astype(int)
    order = found["direction"].map(DIRECTIONS.index)
    found = found.assign(order=order).sort_values(["order", "rank"], kind="stable", ignore_index=True)
    return found[["protocol", "direction", "mean", "rank", "cells"]]


def kappas(codes: np.ndarray, *, categories: int) -> np.ndarray:
    """Return Fleiss' kappa of each stack of complete items × annotators, (draws, items, annotators) to (draws,).

    The same coefficient as ``agreement.coefficients`` gives, for many simulated tables at once. Where all judgements
    of a table are the same there is no disagreement to explain: 1.
    """
    n = codes.shape[-1]
    alike, used = np.zeros(codes.shape[:-1], int), []
    for code in range(categories):
        count = sum((codes[..., rater] == code for rater in range(n)), start=np.zeros(codes.shape[:-1], int))
        alike += count * (count - 1)
        used.append(count.mean(-1))
    observed = (alike / (n * (n - 1))).mean(-1)
    chance = (np.stack(used, axis=-1) ** 2).sum(-1) / n**2
    return np.divide(observed - chance, 1 - chance, out=np.ones_like(chance), where=chance < 1)


def belt(
    *,
    marginal: Sequence[float],
    sentences: int = 250,
    annotators: int = 3,
    translations: int = 1,
    replicates: int = 800,
    seed: int = 7,
) -> pd.DataFrame:
    """Simulate what the printed design would report for each true kappa from 0 to 1: kappa, low, mean, high, se.

    A reported number is the mean of Fleiss' kappas of four translations, each of ``sentences`` items.
    translations: what these four are worth, 4 if they are independent, 1 if sentences that are hard in one are hard in
    all. Between ``low`` and ``high`` lie the middle 95 % of ``replicates`` reports. Caveat: items are independent
    and annotators alike here; where they are not, intervals are wider.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for kappa in _GRID:
        shape = {"items": sentences, "annotators": annotators, "draws": replicates * translations}
        codes = simulate.categories(kappa, marginal=list(marginal), rng=rng, **shape)
        drawn = kappas(codes, categories=len(marginal)).reshape(replicates, translations).mean(1)
        low, high = np.quantile(drawn, [0.025, 0.975])
        rows.append((kappa, low, drawn.mean(), high, drawn.std(ddof=1)))
    frame = pd.DataFrame(rows, columns=["kappa", "low", "mean", "high", "se"])
    frame[["low", "high"]] = frame[["low", "high"]].cummax()  # monotone but for simulation error
    return frame


def intervals(table3: pd.DataFrame, belted: pd.DataFrame) -> pd.DataFrame:
    """Invert the belt: which true kappas are compatible with each printed one at the printed sample size?

    Returns protocol, direction, language, printed, low, high, se. The interval holds every true kappa whose middle
    reports include the printed number (Neyman 1937), ends at 0 and 1, and is lopsided near these.
    Raises DataError for a printed kappa below all that a model without negative kappas reports.
    """
    printed = pd.to_numeric(table3["kappa"])
    if (printed < belted["low"].iloc[0]).any() or (printed > 1).any():
        raise DataError(
            f"A printed kappa of {printed.min():g} or {printed.max():g} lies outside what true kappas from 0 to 1 "
            "give. Check the transcription; disagreement beyond chance needs another model."
        )
    frame = table3[["protocol", "direction", "language"]].assign(printed=printed)
    frame["low"] = np.interp(printed, belted["high"], belted["kappa"])
    frame["high"] = np.interp(printed, belted["low"], belted["kappa"])
    frame["se"] = np.interp(printed, belted["kappa"], belted["se"])
    return frame.reset_index(drop=True)


def cell_differences(cells: pd.DataFrame) -> pd.DataFrame:
    """Compare every two protocols within each direction and language, with Holm's correction over all comparisons.

    cells: the result of ``intervals``. Returns direction, language, protocol_a, protocol_b, difference, z, p, holm_p,
    survives. Caveat: the same people judged under all protocols; independence is assumed because nothing else is known.
    """
    rows = []
    for (direction, language), group in cells.groupby(["direction", "language"], sort=False):
        for a, b in itertools.combinations(group.itertuples(), 2):
            difference = a.printed - b.printed
            z = difference / np.hypot(a.se, b.se)
            rows.append((direction, language, a.protocol, b.protocol, difference, z, 2 * stats.norm.sf(abs(z))))
    columns = ["direction", "language", "protocol_a", "protocol_b", "difference", "z", "p"]
    return _holm(pd.DataFrame(rows, columns=columns), "survives")


def average_differences(cells: pd.DataFrame) -> pd.DataFrame:
    """Compare every two protocols' averages, once for these six languages and once for languages like them.

    cells: the result of ``intervals``. ``about`` is "these languages" (only sentences are a sample: z from the cells'
    standard errors) or "other languages" (languages are the sample: exact sign-flip test of the paired differences,
    two-sided). Per ``about``, Holm's correction over all comparisons. Returns about, direction, protocol_a, protocol_b,
    difference, low, high (95 %, z or paired t), p, holm_p, survives.
    Caveat: with six pairs of languages no sign-flip p is below 2/64, so that none can survive this correction.
    """
    rows = []
    wide = cells.pivot(index=["direction", "language"], columns="protocol", values="printed")
    errors = cells.pivot(index=["direction", "language"], columns="protocol", values="se")
    for direction in DIRECTIONS:
        chosen = list(DIRECTIONS[:2]) if direction == "both" else [direction]
        here, se = wide.loc[chosen].dropna(axis=1), errors.loc[chosen].dropna(axis=1)
        for a, b in itertools.combinations(here.columns, 2):
            d = here[a] - here[b]
            spread = np.sqrt((se[a] ** 2 + se[b] ** 2).sum()) / len(d)
            by_language = d.groupby("language").mean()  # both directions of a language share their annotators
            flipped = stats.permutation_test((by_language,), np.mean, permutation_type="samples", n_resamples=np.inf)
            sampled = {
                "these languages": (stats.norm.ppf(0.975) * spread, 2 * stats.norm.sf(abs(d.mean()) / spread)),
                "other languages": (stats.t.ppf(0.975, len(by_language) - 1) * by_language.sem(), flipped.pvalue),
            }
            for about, (margin, p) in sampled.items():
                rows.append((about, direction, a, b, d.mean(), d.mean() - margin, d.mean() + margin, p))
    columns = ["about", "direction", "protocol_a", "protocol_b", "difference", "low", "high", "p"]
    frame = pd.DataFrame(rows, columns=columns).sort_values("about", kind="stable", ascending=False)
    return pd.concat([_holm(group, "survives") for _, group in frame.groupby("about", sort=False)], ignore_index=True)


def _holm(frame: pd.DataFrame, survives: str) -> pd.DataFrame:
    """Add Holm's corrected p, and whether a difference survives at 0.05."""
    corrected = inference.adjust(frame["p"], method="holm")
    return frame.assign(holm_p=corrected, **{survives: corrected < 0.05})


def sensitivity(
    table3: pd.DataFrame, marginals: Mapping[str, Sequence[float]], *, replicates: int = 800, **options
) -> pd.DataFrame:
    """Repeat the intervals and comparisons under different assumptions on the categories' use and on translations.

    options go to ``belt``; each assumption simulates as many kappas.
    Returns translations (together | independent), categories, shares, mean_width (of the cells' intervals),
    cells_apart (of ``cells`` comparisons, how many survive Holm), averages_apart (of ``averages``, these languages).
    """
    rows = []
    for (dependence, worth), (name, marginal) in itertools.product(WORTH.items(), marginals.items()):
        belted = belt(marginal=marginal, translations=worth, replicates=replicates // worth, **options)
        cells = intervals(table3, belted)
        apart, means = cell_differences(cells), average_differences(cells).query("about == 'these languages'")
        counts = (int(apart["survives"].sum()), len(apart), int(means["survives"].sum()), len(means))
        width = (cells["high"] - cells["low"]).mean()
        rows.append((dependence, name, " ".join(f"{share:g}" for share in marginal), width, *counts))
    columns = ["translations", "categories", "shares", "mean_width", "cells_apart", "cells", "averages_apart"]
    return pd.DataFrame(rows, columns=[*columns, "averages"])


def true_kappas(table3: pd.DataFrame) -> pd.DataFrame:
    """List the printed cells as true kappas for ``simulate.protocol_study``: protocol, src_lang, tgt_lang, kappa."""
    into, code = table3["direction"].eq("X-EN"), table3["language_code"]
    named = table3.assign(src_lang=code.where(into, "eng"), tgt_lang=code.where(~into, "eng"))
    return named[["protocol", "src_lang", "tgt_lang"]].assign(kappa=pd.to_numeric(table3["kappa"]))


def prose_tables(kappas: pd.DataFrame, table2: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables that claims of ``licht2022_prose`` on protocols name.

    "averages" and their standing; "overall": ranks by the average over all directions that a protocol applies to;
    "above": by how much XSTS leads others; "variety": whether properties of the languages vary, and have high and low.
    """
    own = averages(kappas)
    here = own.groupby("direction")["rank"].transform("size")
    standing = "rank " + own["rank"].astype(str) + " of " + here.astype(str)
    widest = own.sort_values("cells", ascending=False, kind="stable").drop_duplicates("protocol")
    means = own.pivot(index="direction", columns="protocol", values="mean").loc[list(DIRECTIONS)]
    leads = (
        means[["RAW", "PE"]].rsub(means["XSTS"], axis=0).melt(var_name="other", value_name="lead", ignore_index=False)
    )
    kinds = {name: set(table2[name]) for name in table2.columns.drop(["language", "language_code"])}
    variety = [
        (n, "differ" if len(k) > 1 else "alike", "both" if {"High", "Low"} <= k else "not both")
        for n, k in kinds.items()
    ]
    return {
        "averages": own.assign(standing=standing.mask(own["rank"] <= here / 2, "well")),
        "overall": widest.assign(rank=widest["mean"].rank(ascending=False, method="min").astype(int)),
        "above": leads.reset_index(),
        "variety": pd.DataFrame(variety, columns=["property", "varies", "covers"]),
        "bands": pd.DataFrame(BANDS["landis-koch"]["bands"], columns=["limit", "name"]),
    }


# What a protocol sees


def campaign(path: str, *, seed: int) -> pd.DataFrame:
    """Load a post-editing campaign of one's own, or draw a simulated one where no file is named.

    path: a file of judgements as ``data.open_campaign`` takes it, with the columns ``hypothesis`` and ``post_edit``
    besides, and the number of critical errors in ``score``.
    """
    if not path:
        return simulate.post_edited(seed=seed)
    return data.open_campaign(path, scale=(0, 1000), lower_is_better=False)[0]


def edit_scores(edited: pd.DataFrame) -> pd.DataFrame:
    """Add the three scores of Licht et al.'s PE protocol to each judgement; distances in characters and in words.

    edited: ratings with ``hypothesis``, ``post_edit`` and, in ``score``, the number of critical errors.
    Adds critical_errors; characters and words, Levenshtein distances from output to post-edit (0: nothing to mend);
    and chrf of the output against its post-edit (0-100, 100: nothing to mend; sacrebleu's defaults).
    Source: Licht et al. 2022, section 5.1; Levenshtein 1966; Popović 2015. Words are what blanks separate, so ``words``
    says nothing for languages written without blanks. Raises DataError where a text is missing.

    >>> frame = pd.DataFrame({"hypothesis": ["a cat sat"], "post_edit": ["the cat sat"], "score": [1.0]})
    >>> edit_scores(frame)[["critical_errors", "characters", "words"]].iloc[0].tolist()
    [1.0, 3.0, 1.0]
    """
    if needed := [name for name in ("hypothesis", "post_edit", "score") if name not in edited]:
        raise DataError(f"Post-edit scores need the column{'s' * (len(needed) > 1)} {', '.join(needed)}. Add them.")
    empty = edited[["hypothesis", "post_edit"]].isna().any(axis=1)
    if empty.any():
        raise DataError(
            f"Row {int(empty.to_numpy().argmax()) + 1} lacks its output or post-edit. Fill it in or drop it."
        )
    pairs = list(zip(edited["hypothesis"], edited["post_edit"], strict=True))
    measure = CHRF()
    return edited.assign(
        critical_errors=edited["score"].astype(float),
        characters=[float(Levenshtein.distance(before, after)) for before, after in pairs],
        words=[float(Levenshtein.distance(before.split(), after.split())) for before, after in pairs],
        chrf=[measure.sentence_score(before, [after]).score for before, after in pairs],
    )


def summary(scored: pd.DataFrame) -> pd.DataFrame:
    """Average each score per translation: system, judgements, then the four scores."""
    grouped = scored.groupby("system")
    return grouped.agg(judgements=("score", "size"), **{name: (name, "mean") for name in SCORES}).reset_index()


def progression(
    ratings: pd.DataFrame, *, column: str = "score", steps: Sequence[str] = PROGRESSION, falls: bool = True
) -> pd.DataFrame:
    """Test each step of the progression on the same sentences, per protocol and language pair.

    ratings: ``doc`` is the protocol, ``system`` ends in the translation's name; annotators are averaged within an item.
    falls: whether worse translations should have lower values (scores, chrF) or higher ones (errors, edits).
    Returns protocol, pair, step, n (sentences), difference (better minus worse, signed so that positive is as
    expected), low (95 %, one-sided), d (Cohen's d of paired differences), p (paired t, one-sided), wilcoxon_p
    (signed ranks, zeros split), holm_p (of p, over all rows), seen (holm_p < 0.05).
    Source: Licht et al. 2022, section 6.1, who describe but do not print such a test.
    Raises DataError where two translations share fewer than 5 sentences.
    """
    keys = ["doc", "src_lang", "tgt_lang"]
    means = ratings.assign(system=ratings["system"].str.removeprefix("sim-")).groupby([*keys, "system", "segment"])[
        column
    ]
    rows = []
    for (doc, source, target), group in means.mean().reset_index().groupby(keys, sort=False):
        wide = group.pivot(index="segment", columns="system", values=column)
        named = {"protocol": doc.removeprefix("sim-"), "pair": f"{source}-{target}"}
        for better, worse in itertools.pairwise(steps):
            if not {better, worse} <= set(wide) or len(both := wide[[better, worse]].dropna()) < 5:
                raise DataError(
                    f"{doc}, {source}-{target}: {better} and {worse} share fewer than 5 sentences. Add some."
                )
            differences = (both[better] - both[worse]).to_numpy() * (1 if falls else -1)
            rows.append(named | {"step": f"{better} > {worse}"} | _test(differences))
    return _holm(pd.DataFrame(rows), "seen")


def _test(differences: np.ndarray) -> dict[str, float]:
    """Test whether paired differences are above 0, by their mean and by their ranks."""
    mean, spread = differences.mean(), differences.std(ddof=1)
    if spread == 0:
        p = 0.5 if mean == 0 else float(mean < 0)
        found = {"low": mean, "d": np.nan, "p": p}
    else:
        t = stats.ttest_1samp(differences, 0, alternative="greater")
        found = {"low": t.confidence_interval(0.95).low, "d": mean / spread, "p": float(t.pvalue)}
    ranks = stats.wilcoxon(differences, alternative="greater", zero_method="zsplit").pvalue if differences.any() else 1
    return {"n": len(differences), "difference": mean} | found | {"wilcoxon_p": float(ranks)}


def post_edit_scores(scored: pd.DataFrame, *, steps: Sequence[str] = PROGRESSION) -> pd.DataFrame:
    """Test the progression by each score of a post-editing campaign, corrected over all of them.

    scored: the result of ``edit_scores``. steps: its translations, best first.
    Returns the columns of ``progression`` with ``score`` in front. Only chrF falls where a translation is worse; the
    others rise.
    """
    whole = scored.assign(doc="post-edits", segment=scored["doc"] + " " + scored["segment"])
    parts = [progression(whole, column=name, steps=steps, falls=name == "chrf").assign(score=name) for name in SCORES]
    frame = _holm(pd.concat(parts, ignore_index=True), "seen")
    return frame[["score", *(name for name in frame if name != "score")]]


def worse(marginal: Sequence[float], points: float) -> list[float]:
    """Lower a distribution over categories by ``points`` on average: each category gives a share to the next lower one.

    Raises DataError where the distribution does not have so much to give.

    >>> worse([0.5, 0.5], 0.25)
    [0.75, 0.25]
    """
    share = np.asarray(marginal, float)
    moved = points / (1 - share[0]) * share * (np.arange(len(share)) > 0)
    if points < 0 or (moved > share + 1e-12).any():
        raise DataError(f"Scores distributed as {list(marginal)} cannot fall by {points:g} points. Take fewer points.")
    return (share - moved + np.append(moved[1:], 0)).tolist()


def power(
    reliability: Mapping[str, float],
    *,
    points: Sequence[float],
    marginal: Sequence[float],
    sentences: int = 250,
    annotators: int = 3,
    replicates: int = 1000,
    seed: int = 7,
) -> pd.DataFrame:
    """Simulate how often a protocol of a given kappa sees that one translation is worse than another by some points.

    reliability: protocol -> true kappa. Both translations' categories come from ``simulate.categories`` with this
    kappa, the better one's from ``marginal``, the worse one's from ``worse(marginal, points)``; the test is the
    paired t of ``progression``, one-sided, at 5 %.
    Returns protocol, kappa, points, power, and se, the simulation's own error.
    Caveat: the two translations' qualities are independent, sentence by sentence; where hard sentences are hard for
    all, pairing helps and power is higher.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for protocol, kappa in reliability.items():
        for size in points:
            shape: dict[str, Any] = {"items": sentences, "annotators": annotators, "draws": replicates, "rng": rng}
            high = simulate.categories(kappa, marginal=list(marginal), **shape).mean(-1)
            low = simulate.categories(kappa, marginal=worse(marginal, size), **shape).mean(-1)
            d = high - low
            t = d.mean(1) / (d.std(1, ddof=1) / np.sqrt(sentences))
            share = float((stats.t.sf(t, sentences - 1) < 0.05).mean())
            rows.append((protocol, kappa, size, share, np.sqrt(share * (1 - share) / replicates)))
    return pd.DataFrame(rows, columns=["protocol", "kappa", "points", "power", "se"])


def detectable(powers: pd.DataFrame, *, wanted: float = WANTED_POWER) -> pd.DataFrame:
    """Read off the difference that each protocol detects with a wanted power: protocol, kappa, points."""
    rows = []
    for (protocol, kappa), group in powers.groupby(["protocol", "kappa"], sort=False):
        curve = group.sort_values("points")
        reached = curve["power"].cummax()
        found = np.interp(wanted, reached, curve["points"]) if reached.max() >= wanted else np.nan
        rows.append((protocol, kappa, float(found)))
    return pd.DataFrame(rows, columns=["protocol", "kappa", "points"])
