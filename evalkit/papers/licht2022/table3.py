"""Licht et al.'s Table 3: is it true to its own cells, and how sure can its kappas and their differences be?

The annotations were never published. What sampling does to a kappa is therefore computed from a model at the printed
values (``evalkit.data.simulate.categories``): that is arithmetic about the design, and no data.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.data import simulate
from evalkit.data.provenance import fact
from evalkit.stats import agreement, inference
from evalkit.stats.agreement import BANDS

DIRECTIONS = ("X-EN", "EN-X", "both")
#: Shares of the four categories, from worst to best; the paper prints none, so these are assumptions.
MARGINALS = {
    "even": [0.25, 0.25, 0.25, 0.25],
    "good": [0.10, 0.15, 0.25, 0.50],
    "very good": [0.02, 0.05, 0.13, 0.80],
}
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
        codes = simulate.categories(
            kappa,
            marginal=list(marginal),
            items=sentences,
            annotators=annotators,
            rng=rng,
            draws=replicates * translations,
        )
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
    return _holm(pd.DataFrame(rows, columns=columns))


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
    return pd.concat([_holm(group) for _, group in frame.groupby("about", sort=False)], ignore_index=True)


def _holm(frame: pd.DataFrame) -> pd.DataFrame:
    """Add Holm's corrected p, and whether a difference survives at 0.05."""
    corrected = inference.adjust(frame["p"], method="holm")
    return frame.assign(holm_p=corrected, survives=corrected < 0.05)


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


def reanalysed(study: pd.DataFrame, *, resamples: int, seed: int) -> pd.DataFrame:
    """Analyse an annotation file of the printed design from end to end, and see whether its truth is recovered.

    study: the result of ``simulate.protocol_study``. In each cell Fleiss' kappa of each translation is estimated with
    a bootstrap over sentences; estimates are averaged, and their errors combined as independent ones.
    Returns protocol, src_lang, tgt_lang, true, estimate, low, high, covered.
    """
    names = ["protocol", "src_lang", "tgt_lang"]
    truth = pd.DataFrame(fact(study, "truth", by="simulate.protocol_study")).set_index(names)["kappa"]
    rows, bare = [], study.copy(deep=False)
    bare.attrs = {}  # pandas would copy the whole truth for each part
    for (doc, source, target), cell in bare.groupby(["doc", "src_lang", "tgt_lang"], sort=False):
        found = pd.concat(
            agreement.coefficients(
                agreement.score_matrix(part), measures=[("fleiss_kappa", "none")], resamples=resamples, seed=seed
            )
            for _, part in cell.groupby("system")
        )
        estimate = found["estimate"].mean()
        low = estimate - np.sqrt(((found["estimate"] - found["low"]) ** 2).sum()) / len(found)
        high = estimate + np.sqrt(((found["high"] - found["estimate"]) ** 2).sum()) / len(found)
        key = (doc.removeprefix("sim-"), source, target)
        true = float(truth[key])
        rows.append((*key, true, estimate, low, high, low <= true <= high))
    return pd.DataFrame(rows, columns=[*names, "true", "estimate", "low", "high", "covered"])


def prose_tables(kappas: pd.DataFrame, table2: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables that claims of ``licht2022_prose`` on protocols name."""
    own = averages(kappas)
    here = own.groupby("direction")["rank"].transform("size")
    standing = "rank " + own["rank"].astype(str) + " of " + here.astype(str)
    return {
        "averages": own.assign(standing=standing.mask(own["rank"] <= here / 2, "well")),
        "overall": overall(own),
        "above": leads(own),
        "variety": variety(table2),
        "bands": pd.DataFrame(BANDS["landis-koch"].bands, columns=["limit", "name"]),
    }


def overall(averages: pd.DataFrame) -> pd.DataFrame:
    """Rank protocols by their average over all directions that they apply to: protocol, mean, rank."""
    widest = averages.sort_values("cells", ascending=False, kind="stable").drop_duplicates("protocol")
    return widest[["protocol", "mean"]].assign(rank=widest["mean"].rank(ascending=False, method="min").astype(int))


def leads(averages: pd.DataFrame) -> pd.DataFrame:
    """Say by how much XSTS leads RAW and PE, in each direction and in both: direction, other, lead."""
    mean = averages.set_index(["direction", "protocol"])["mean"]
    pairs = itertools.product(DIRECTIONS, ("RAW", "PE"))
    rows = [(direction, other, mean[direction, "XSTS"] - mean[direction, other]) for direction, other in pairs]
    return pd.DataFrame(rows, columns=["direction", "other", "lead"])


def variety(table2: pd.DataFrame) -> pd.DataFrame:
    """Say of each property of the languages whether it varies, and whether high and low are there: in print's words."""
    rows = []
    for name in table2.columns.drop(["language", "language_code"]):
        found = set(table2[name])
        both = "both" if {"High", "Low"} <= found else "not both"
        rows.append((name, "differ" if len(found) > 1 else "alike", both))
    return pd.DataFrame(rows, columns=["property", "varies", "covers"])
