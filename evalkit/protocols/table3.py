"""Licht et al.'s Table 3: is it true to its own cells, and how sure can its kappas and their differences be?

The annotations were never published. What sampling does to a kappa is therefore computed from a model at the printed
values (``evalkit.data.simulate.categories``): that is arithmetic about the design, and no data.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError, agreement, inference
from evalkit.data import simulate
from evalkit.provenance import fact

PAPER = "Licht et al. 2022"
DIRECTIONS = ("X-EN", "EN-X", "both")
#: Numbers in the prose of section 6.1: protocol, direction, as printed.
PROSE = (
    ("XSTS", "X-EN", "0.43"), ("XSTS", "EN-X", "0.67"), ("XSTS", "both", "0.55"), ("RAW", "X-EN", "0.34"),
    ("RAW", "EN-X", "0.52"), ("RAW", "both", "0.43"), ("PE", "X-EN", "0.31"), ("PE", "EN-X", "0.53"),
    ("PE", "both", "0.42"),
)  # fmt: skip
#: Shares of the four categories, from worst to best; the paper prints none, so these are assumptions.
MARGINALS = {
    "even": [0.25, 0.25, 0.25, 0.25],
    "good": [0.10, 0.15, 0.25, 0.50],
    "very good": [0.02, 0.05, 0.13, 0.80],
}


#: The codes of its languages, and their names.
LANGUAGES = {"AR": "Arabic", "ES": "Spanish", "ET": "Estonian", "ID": "Indonesian", "MN": "Mongolian", "TA": "Tamil"}
#: True kappas that are simulated; denser near 1, where what is reported scatters less and less.
_GRID = sorted([*np.linspace(0, 1, 21).tolist(), 0.97, 0.98, 0.99, 0.995])


def averages(table3: pd.DataFrame) -> pd.DataFrame:
    """Average each protocol's printed kappas per direction: protocol, direction, mean, rank, cells.

    "both" is the mean of the two directions, for the protocols that apply to both. Ranks are within a direction,
    1 the highest; they are taken from exact decimal sums, so that equal means share a rank.
    """
    cells = {key: [Decimal(k) for k in group["kappa"]] for key, group in table3.groupby(["protocol", "direction"])}
    means = {key: sum(values) / len(values) for key, values in cells.items()}
    rows = []
    for direction in DIRECTIONS:
        if direction == "both":
            both = [p for p in dict.fromkeys(table3["protocol"]) if all((p, d) in means for d in DIRECTIONS[:2])]
            here = {p: (means[p, "X-EN"] + means[p, "EN-X"]) / 2 for p in both}
        else:
            here = {p: mean for (p, d), mean in means.items() if d == direction}
        for protocol, mean in sorted(here.items(), key=lambda pair: -pair[1]):
            rank = 1 + sum(other > mean for other in here.values())
            count = sum(len(v) for (p, d), v in cells.items() if p == protocol and direction in (d, "both"))
            rows.append((protocol, direction, float(mean), rank, count))
    return pd.DataFrame(rows, columns=["protocol", "direction", "mean", "rank", "cells"])


def audit_rows(table3: pd.DataFrame) -> pd.DataFrame:
    """Hold each printed number of Table 3, and of the prose about it, against its own cells, for ``show.compare``.

    A cell is rounded to .005, so a mean of cells is known to .005; ``low`` and ``high`` say so.
    """
    mean = averages(table3).set_index(["protocol", "direction"])
    rows = []

    def add(item: str, cell: str, printed: str, computed: object, note: str = "", slack: float | None = None) -> None:
        low, high = (None, None) if slack is None else (computed - slack, computed + slack)
        rows.append((PAPER, item, cell, printed, computed, note, low, high))

    for row in table3.drop_duplicates(["direction", "protocol"]).itertuples():
        found = mean.loc[(row.protocol, row.direction)]
        place = f"{row.direction} {row.protocol}"
        add("Table 3", f"{place} AVG", row.avg, float(found["mean"]), "Not the mean of the row's cells.", 0.005)
        add("Table 3", f"{place} Rank", row.rank, int(found["rank"]), "Not the rank of the mean of the row's cells.")
    for protocol, direction, printed in PROSE:
        value = float(mean.loc[(protocol, direction), "mean"])
        add("6.1, prose", f"{protocol} {direction}", printed, value, "Not the mean of Table 3's cells.", 0.005)
    overall = mean.reset_index().sort_values("direction", key=lambda d: d.ne("both"), kind="stable")
    overall = overall.drop_duplicates("protocol").set_index("protocol")["mean"]  # both directions where there are two
    add(
        "6.1, prose", "protocol with the highest average over all its languages", "MSTS", overall.idxmax(),
        f"Over all directions that a protocol applies to, XSTS averages {overall['XSTS']:.3f} and MSTS "
        f"{overall['MSTS']:.3f}. MSTS is the highest into English only.",
    )  # fmt: skip
    add(
        "6.1, prose", "BT+MSTS also performs well", "well", _above(mean.loc[("BT+MSTS", "EN-X"), "rank"]),
        "The lowest average of the four protocols out of English.",
    )  # fmt: skip
    add("5.1, prose", "languages of the study", "6", table3["language"].nunique())
    for row in table3.itertuples():
        add(
            "Table 3", f"{row.direction} {row.protocol} {row.language}", row.kappa, None,
            "The annotations behind this kappa were not published.",
        )  # fmt: skip
    return pd.DataFrame(rows, columns=["paper", "item", "cell", "printed", "computed", "note", "low", "high"])


def _above(rank: int) -> str:
    """Say in the paper's word whether a rank of four is in the upper half."""
    return "well" if rank <= 2 else f"rank {rank} of 4"


def kappas(codes: np.ndarray, *, categories: int) -> np.ndarray:
    """Return Fleiss' kappa of each stack of complete items × annotators, (draws, items, annotators) to (draws,).

    The same coefficient as ``agreement.coefficients`` gives, for many simulated tables at once. Where all judgements
    of a table are the same there is no disagreement to explain: 1.
    """
    counts = np.stack([(codes == code).sum(-1) for code in range(categories)], axis=-1).astype(float)
    n = codes.shape[-1]
    observed = ((counts * (counts - 1)).sum(-1) / (n * (n - 1))).mean(-1)
    chance = (counts.mean(-2) ** 2).sum(-1) / n**2
    return np.divide(observed - chance, 1 - chance, out=np.ones_like(chance), where=chance < 1)


def belt(
    *,
    marginal: Sequence[float],
    sentences: int = 250,
    annotators: int = 3,
    translations: int = 4,
    replicates: int = 300,
    level: float = 0.95,
    seed: int = 7,
) -> pd.DataFrame:
    """Simulate what the printed design would report for each true kappa from 0 to 1: kappa, low, mean, high, se.

    A reported number is the mean of ``translations`` Fleiss kappas, each of ``sentences`` items. Between ``low`` and
    ``high`` lie the middle ``level`` of ``replicates`` reports. Caveats: translations and items are independent here;
    sentences that are hard in all translations would widen the intervals.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for kappa in _GRID:
        codes = simulate.categories(
            kappa, marginal=list(marginal), items=sentences, annotators=annotators, rng=rng,
            draws=replicates * translations,
        )  # fmt: skip
        drawn = kappas(codes, categories=len(marginal)).reshape(replicates, translations).mean(1)
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
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


def cell_differences(cells: pd.DataFrame, *, alpha: float = 0.05) -> pd.DataFrame:
    """Compare every two protocols within each direction and language, with Holm's correction over all comparisons.

    cells: the result of ``intervals``. Returns direction, language, protocol_a, protocol_b, difference, z, p, holm_p,
    survives. Caveat: the same people judged under all protocols; independence is assumed because nothing else is known.
    """
    rows = []
    for (direction, language), group in cells.groupby(["direction", "language"], sort=False):
        for a, b in itertools.combinations(group.itertuples(), 2):
            z = (a.printed - b.printed) / np.hypot(a.se, b.se)
            rows.append(
                (direction, language, a.protocol, b.protocol, a.printed - b.printed, z, 2 * stats.norm.sf(abs(z)))
            )
    columns = ["direction", "language", "protocol_a", "protocol_b", "difference", "z", "p"]
    return _holm(pd.DataFrame(rows, columns=columns), alpha)


def average_differences(cells: pd.DataFrame, *, alpha: float = 0.05) -> pd.DataFrame:
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
            p = 2 * stats.norm.sf(abs(d.mean()) / spread)
            margin = stats.norm.ppf(0.975) * spread
            rows.append(("these languages", direction, a, b, d.mean(), d.mean() - margin, d.mean() + margin, p))
            by_language = d.groupby("language").mean()  # both directions of a language share their annotators
            margin = stats.t.ppf(0.975, len(by_language) - 1) * by_language.sem()
            rows.append(
                (
                    "other languages",
                    direction,
                    a,
                    b,
                    d.mean(),
                    d.mean() - margin,
                    d.mean() + margin,
                    _sign_flip(by_language),
                )
            )
    columns = ["about", "direction", "protocol_a", "protocol_b", "difference", "low", "high", "p"]
    frame = pd.DataFrame(rows, columns=columns).sort_values("about", kind="stable", ascending=False)
    return pd.concat([_holm(group, alpha) for _, group in frame.groupby("about", sort=False)], ignore_index=True)


def _sign_flip(differences: pd.Series) -> float:
    """Return the exact two-sided p of a mean difference over all ways to flip the signs."""
    signs = np.array(list(itertools.product((1, -1), repeat=len(differences))))
    means = np.abs(signs @ differences.to_numpy()) / len(differences)
    return float((means >= abs(differences.mean()) - 1e-12).mean())


def _holm(frame: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Add Holm's corrected p, and whether a difference survives at ``alpha``."""
    corrected = inference.adjust(frame["p"], method="holm")
    return frame.assign(holm_p=corrected, survives=corrected < alpha)


def sensitivity(table3: pd.DataFrame, marginals: Mapping[str, Sequence[float]], **options) -> pd.DataFrame:
    """Repeat the intervals and comparisons under different assumptions on how often each category is used.

    options go to ``belt``. Returns categories, shares, mean_width (of the cells' intervals), cells_apart (of ``cells``
    comparisons, how many survive Holm), averages_apart (of ``averages``, for these languages).
    """
    rows = []
    for name, marginal in marginals.items():
        cells = intervals(table3, belt(marginal=marginal, **options))
        apart, means = cell_differences(cells), average_differences(cells).query("about == 'these languages'")
        shares = " ".join(f"{share:g}" for share in marginal)
        width = (cells["high"] - cells["low"]).mean()
        rows.append(
            (name, shares, width, int(apart["survives"].sum()), len(apart), int(means["survives"].sum()), len(means))
        )
    columns = ["categories", "shares", "mean_width", "cells_apart", "cells", "averages_apart", "averages"]
    return pd.DataFrame(rows, columns=columns)


def true_kappas(table3: pd.DataFrame) -> pd.DataFrame:
    """List the printed cells as true kappas for ``simulate.protocol_study``: protocol, src_lang, tgt_lang, kappa."""
    into = table3["direction"].eq("X-EN")
    code = table3["language_code"]
    return pd.DataFrame(
        {
            "protocol": table3["protocol"],
            "src_lang": code.where(into, "eng"),
            "tgt_lang": code.where(~into, "eng"),
            "kappa": pd.to_numeric(table3["kappa"]),
        }
    )


def reanalysed(study: pd.DataFrame, *, resamples: int, seed: int) -> pd.DataFrame:
    """Analyse an annotation file of the printed design from end to end, and see whether its truth is recovered.

    study: the result of ``simulate.protocol_study``. In each cell Fleiss' kappa of each translation is estimated with
    a bootstrap over sentences; estimates are averaged, and their errors combined as independent ones.
    Returns protocol, src_lang, tgt_lang, true, estimate, low, high, covered.
    """
    truth = pd.DataFrame(fact(study, "truth", by="simulate.protocol_study")).set_index(
        ["protocol", "src_lang", "tgt_lang"]
    )["kappa"]
    rows = []
    for (doc, source, target), cell in study.groupby(["doc", "src_lang", "tgt_lang"], sort=False):
        found = [
            agreement.coefficients(
                agreement.score_matrix(part), measures=[("fleiss_kappa", "none")], resamples=resamples, seed=seed
            ).iloc[0]
            for _, part in cell.groupby("system")
        ]
        estimate = np.mean([f["estimate"] for f in found])
        below = np.sqrt(sum((f["estimate"] - f["low"]) ** 2 for f in found)) / len(found)
        above = np.sqrt(sum((f["high"] - f["estimate"]) ** 2 for f in found)) / len(found)
        key = (doc.removeprefix("sim-"), source, target)
        true = float(truth[key])
        rows.append(
            (*key, true, estimate, estimate - below, estimate + above, estimate - below <= true <= estimate + above)
        )
    return pd.DataFrame(
        rows, columns=["protocol", "src_lang", "tgt_lang", "true", "estimate", "low", "high", "covered"]
    )
