"""What judging two translations side by side changes, and what preferences follow: the study of preferences.

Pairs are those that stood on one screen. Judged one by one, the same two translations make the pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from evalkit.data import compared
from evalkit.data.provenance import fact, like
from evalkit.data.schemas import ITEM, SEGMENT
from evalkit.human import preferences
from evalkit.stats.inference import column_ratios, jackknife_interval
from evalkit.stats.widths import Part, combine, redraw

_KEY = [*SEGMENT, "annotator"]
#: The measures of pairs, of what each is told.
PAIRED = (
    "penalty of a translation",
    "errors marked in a translation",
    "pairs with equal scores, %",
    "distance of the two scores",
    "distance of systems' means",
    "the same, % of the spread",
)
#: The measures of marks that could have been made in two translations.
MARKED = ("marks found again, same screen, %", "marks found again, other screens, %")
#: Fewest people, or documents, to be drawn: of fewer nothing can be said of others.
FEWEST = 5
_SHORTEST = 3  # letters of a stretch that is looked for in the other text


def pairs(ratings: pd.DataFrame, screens: pd.DataFrame) -> pd.DataFrame:
    """Return a row per pair of judgements of one person: doc, segment, annotator, pair, a, b (scores), errors of both.

    ratings: with ``errors``, the number of marks. screens: system, against of what stood on one screen, each pair in
    both orders. Where ratings have ``against``, the judgements of one screen make the pair.
    """
    if "against" not in ratings:
        ratings = ratings.merge(screens[["system", "against"]].drop_duplicates(), on="system")
    own = ratings[[*_KEY, "system", "against", "score", "errors"]]
    turned = own.rename(columns={"system": "against", "against": "system", "score": "b", "errors": "theirs"})
    found = own[own["system"] < own["against"]].merge(turned, on=[*_KEY, "system", "against"])
    found = found.assign(pair=found["system"] + " | " + found["against"], errors=found["errors"] + found["theirs"])
    return found.rename(columns={"score": "a"})[[*_KEY, "pair", "a", "b", "errors"]]


def found_again(
    spans: pd.DataFrame, texts: Mapping[tuple[str, str, str], str], ratings: pd.DataFrame, screens: pd.DataFrame
) -> pd.DataFrame:
    """Return a row per mark whose words stand in another translation that the same person judged: was it marked there?

    spans: marks with ``start`` and ``end`` in the translation. texts: (system, doc, segment) -> translation. ratings:
    who judged what. screens: system, against. Columns doc, segment, annotator, system, ``same`` (did the two stand, or
    could they stand, on one screen), ``again`` (1 where a mark of the other touches the same words).
    Of Song et al. 2025 only the idea is known here, the consistency of marks between translations: their definition may
    differ. Marks of fewer than three letters, such as punctuation, are left out, as are marks in the source.
    """
    screen = ["hit"] if "hit" in ratings else []
    whose = [*_KEY, "system", *screen]
    spans = spans[spans["side"].astype(str).eq("target") & spans["start"].notna() & (spans["end"] > spans["start"])]
    marks = spans[[*whose, "start", "end"]].astype({**dict.fromkeys(whose, "str"), "start": int, "end": int})
    judged = ratings[whose].astype("str").drop_duplicates()
    both = marks.merge(judged, on=whose).merge(judged, on=_KEY, suffixes=("", "_other"))
    both = both[both["system"].ne(both["system_other"])]
    words, place = [], []
    for row in both.itertuples():
        words.append(texts[row.system, row.doc, row.segment][row.start : row.end].strip())
        place.append(texts[row.system_other, row.doc, row.segment].find(words[-1]))
    both = both.assign(words=words, place=place)
    letters = both["words"].map(lambda stretch: sum(map(str.isalpha, stretch)))
    both = both[(letters >= _SHORTEST) & (both["place"] >= 0)].reset_index(drop=True)
    others = marks.rename(columns={"start": "begin", "end": "stop"} | {one: f"{one}_other" for one in whose[3:]})
    met = both.reset_index(names="mark").merge(others, on=[name for name in others if name in both])
    met = met[(met["begin"] < met["place"] + met["words"].str.len()) & (met["stop"] > met["place"])]
    beside = pd.MultiIndex.from_frame(screens[["system", "against"]])
    shown = pd.MultiIndex.from_frame(both[["system", "system_other"]]).isin(beside)
    same = both["hit"].eq(both["hit_other"]) if screen else shown
    return both.assign(same=same, again=both.index.isin(met["mark"]).astype(float))[[*whose, "same", "again"]]


def _of_pairs(paired: pd.DataFrame) -> Callable[[np.ndarray], np.ndarray]:
    """Compute ``PAIRED`` where rows count several times: (batch, rows) -> (batch, 6)."""
    a, b = paired["a"].to_numpy(float), paired["b"].to_numpy(float)
    gap = a - b
    plain = np.stack([-(a + b) / 2, paired["errors"] / 2, 100.0 * (np.abs(gap) < 1e-9), np.abs(gap)], axis=1)
    which = pd.get_dummies(paired["pair"]).to_numpy(float)

    def statistic(times: np.ndarray) -> np.ndarray:
        means = times @ plain / times.sum(axis=1, keepdims=True)
        size = np.maximum(times @ which, 1e-12)
        mean = times @ (which * gap[:, None]) / size
        spread = np.sqrt(np.maximum(times @ (which * gap[:, None] ** 2) / size - mean**2, 1e-12))
        apart = np.abs(mean)
        return np.column_stack([means, apart.mean(axis=1), 100 * (apart / spread).mean(axis=1)])

    return statistic


def _of_marks(again: pd.DataFrame) -> Callable[[np.ndarray], np.ndarray]:
    """Compute ``MARKED``: (batch, rows) -> (batch, 2)."""
    which = np.stack([again["same"], ~again["same"]], axis=1).astype(float)
    return column_ratios(100 * which * again[["again"]].to_numpy(float), which)


def changed(
    side: pd.DataFrame,
    side_spans: pd.DataFrame,
    single: pd.DataFrame,
    single_spans: pd.DataFrame,
    outputs: pd.DataFrame,
    *,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Return measure, pointwise, side_by_side, low, high (the 95 % interval of the difference) and ``drawn``.

    side, side_spans: ``wmt23-side-by-side`` and its spans. single, single_spans: ``wmt23-mqm`` and its spans, of which
    the same texts are taken. outputs: ``wmt23-outputs``. Documents are drawn for both ways to judge at once, people of
    either by themselves, where there are several; drawn names the ways whose people were, for the interval says nothing
    of how others differ.
    """
    single, marks, shown = (table[table["tgt_lang"].eq("deu")] for table in (single, single_spans, outputs))
    single = single[pd.MultiIndex.from_frame(single[ITEM]).isin(pd.MultiIndex.from_frame(side[ITEM]))]
    number = marks.groupby(ITEM, observed=True).size()
    single = single.assign(errors=number.reindex(pd.MultiIndex.from_frame(single[ITEM]), fill_value=0).to_numpy())
    screens, parts, people = side[["system", "against"]].drop_duplicates(), [], []
    ways = {"one by one": (single, marks, shown), "side by side": (side, side_spans, side)}
    for name, (rated, spans, written) in ways.items():
        texts = {(row.system, row.doc, row.segment): row.hypothesis for row in written.itertuples()}
        paired, again = pairs(rated, screens), found_again(spans, texts, rated, screens)
        parts += [_part(paired, _of_pairs(paired), name), _part(again, _of_marks(again), name)]
        people += [name] * (paired["annotator"].nunique() > 1)
    drawn = redraw(parts, resamples=resamples, seed=seed)
    rows: list[tuple[object, ...]] = []
    for names, one, two in ((PAIRED, drawn[0], drawn[2]), (MARKED, drawn[1], drawn[3])):
        rows += zip(names, one.estimate, two.estimate, *combine([two, one], [1, -1]).interval())
    table = pd.DataFrame(rows, columns=["measure", "pointwise", "side_by_side", "low", "high"])
    return table.assign(drawn=" and ".join(people))


def _part(rows: pd.DataFrame, statistic: Callable[[np.ndarray], np.ndarray], people: str) -> Part:
    units = {kind: rows[name].astype("str").to_numpy() for kind, name in (("documents", "doc"), (people, "annotator"))}
    return Part(statistic, units, len(rows))


def follow(comparisons: pd.DataFrame, *, resamples: int = 1000, seed: int = 7) -> pd.DataFrame:
    """Return how often the translation with fewer marks was preferred: choices, share, low, high, n, equal.

    comparisons: with ``marks_a`` and ``marks_b`` and ``close`` (a difficult choice). Rows: all, clear and difficult
    choices. Comparisons with as many marks on either side say nothing and are counted as ``equal``; ties are left out.
    """
    close, rows = comparisons["close"], []
    for name, own in (("all", comparisons), ("clear", comparisons[~close]), ("difficult", comparisons[close])):
        lead = own["marks_b"] - own["marks_a"]
        told = lead.ne(0) & own["preference"].ne("tie")
        fits = (own["preference"].eq("a") == (lead > 0))[told].to_numpy(float)[:, None]
        [share], [low], [high] = preferences.share_intervals(own[told], fits, resamples=resamples, seed=seed)
        rows.append((name, share, low, high, int(told.sum()), int(lead.eq(0).sum())))
    return pd.DataFrame(rows, columns=["choices", "share", "low", "high", "n", "equal"])


def tables(
    laeubli: pd.DataFrame, literary: pd.DataFrame, side: pd.DataFrame, contrastive: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the tables of comparisons that can be ranked, by a name that says whose they are."""
    found = {
        f"laeubli {criterion}, {unit}s": like(own, laeubli)
        for (criterion, unit), own in laeubli.groupby(["criterion", "unit"], sort=True)
    }
    found["literary"] = literary
    both = compared.of_screens(side)
    for names in preferences.groups(preferences.count(both)):
        found["side by side " + " ".join(names)] = both[both["system_a"].isin(names)]
    found["contrastive ESA"] = compared.of_screens(contrastive)
    return found


def ranked(
    tables: Mapping[str, pd.DataFrame], *, ties: str, resamples: int, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return strengths in all tables, and how well one scale of strengths, and one rate of ties, hold in each.

    Strengths: data, system, strength, low, high, ``drawn`` (what was drawn anew). Fits: data, how much was compared,
    freedom, p and effect of units (``preferences.Departure``) of strengths and of ties, circles, and those
    that chance makes.
    """
    rows, fits = [], []
    for name, own in tables.items():
        units = preferences.labels(own, ["annotators", "documents"])
        units = {kind: codes for kind, codes in units.items() if len(np.unique(codes)) >= FEWEST}
        found = preferences.standing(own, ties=ties, resamples=resamples, seed=seed, units=[*units])
        rows.append(found.table.assign(data=name, drawn=" and ".join(units) or "nothing"))
        fits.append({"data": name} | _fit(found.fitted, units, seed))
    strengths = pd.concat(rows, ignore_index=True)[["data", "system", "strength", "low", "high", "drawn"]]
    return strengths, pd.DataFrame(fits)


def _fit(fitted: preferences.Fitted, units: Mapping[str, np.ndarray], seed: int) -> dict[str, float]:
    """Return the columns of one fit."""
    cells, circles = fitted.cells, preferences.circles(fitted, seed=seed)
    good, parts = preferences.goodness(fitted, units=units), ("freedom", "p", "effect")
    return {
        "systems": len(cells.systems),
        "pairs": len({*zip(cells.one, cells.other)}),
        "comparisons": int(cells.counts.sum()),
        **{name: getattr(good.strengths, name) for name in parts},
        **{f"ties_{name}": getattr(good.ties, name) for name in parts},
        "triples": circles.triples,
        "circles": len(circles.found),
        "by_chance": circles.expected,
    }


# Scores as comparisons, and what a comparison is worth


def worths(campaigns: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return what scores of campaigns say as comparisons, and what a comparison is worth beside two scores.

    One person's scores of several systems' translations of a segment make comparisons. Columns data, judgements, alone
    (judgements with none beside them), groups (of systems that were compared), systems, comparisons, ties (share),
    agree (share of pairs of systems whose order is the same), efficiency, low, high (see ``efficiency``), and ``why``
    where the efficiency cannot be told.
    """
    rows = []
    for name, own in campaigns.items():
        found = compared.of_scores(own, together=())
        table = z_statistics(found)
        worth, low, high = efficiency(table)
        row = {"data": name, "judgements": len(own), "alone": fact(found, "alone", by="compared.of_scores")}
        row |= {"groups": len(preferences.groups(preferences.count(found))), "efficiency": worth, "low": low}
        row |= {"high": high, "ties": found["preference"].eq("tie").mean()}
        row |= {"agree": (np.sign(table["scores"]) == np.sign(table["wins"])).mean()}
        row |= {"systems": len({*table["system_a"], *table["system_b"]}), "comparisons": len(found)}
        rows.append(row | {"why": "" if np.isfinite(worth) else "no two systems differ by more than chance"})
    return pd.DataFrame(rows)


def z_statistics(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return of each pair of systems two z statistics: of the mean difference of scores, and of wins minus losses.

    comparisons: with ``score_a`` and ``score_b``. Both errors are those of sums over documents, which are independent
    (Liang & Zeger 1986). Pairs that fewer than five documents compare are left out. Columns system_a, system_b, scores,
    wins.
    """
    table = preferences.in_order(comparisons)
    won = table["preference"].map({"a": 1.0, "b": -1.0, "tie": 0.0})
    table = table.assign(scores=table["score_a"] - table["score_b"], wins=won, n=1)
    sums = table.groupby(["system_a", "system_b", "doc"], observed=True)[["scores", "wins", "n"]].sum()
    pairs = sums.groupby(level=[0, 1])
    whole, documents = pairs.transform("sum"), pairs.size()
    apart = sums - whole.mul(sums["n"] / whole["n"], axis=0)  # of a document's sums from what its size makes likely
    error = np.sqrt((apart**2).groupby(level=[0, 1]).sum().mul(documents / (documents - 1), axis=0))
    z = (pairs.sum() / error).where(error > 0, 0.0)
    return z.loc[documents >= 5, ["scores", "wins"]].reset_index()


def efficiency(table: pd.DataFrame) -> tuple[float, float, float]:
    """Estimate the share of a score's certainty that a comparison has, with its 95 % interval.

    table: the result of ``z_statistics``. .5 means that twice as many pairs of translations have to be compared as
    scored for the same certainty, which grows with the number of judgements: the efficiency is the ratio, over pairs of
    systems, of squared z statistics less the 1 that chance gives each; NaN where no pair differs by more than chance.
    The interval leaves out one system at a time; it is NaN where that leaves nothing beyond chance. Source: Pitman's
    relative efficiency (Lehmann 1999, section 3.4), here of real judgements. Caveat: people who are asked for a
    preference may look closer than those who give two scores; then comparisons are worth more than this.
    """

    def ratio(some: pd.DataFrame) -> float:
        scores, wins = (some[["scores", "wins"]] ** 2 - 1).sum()
        return float(wins / scores) if scores > len(some) else np.nan

    whole, names = ratio(table), table[["system_a", "system_b"]]
    without = np.array([ratio(table[names.ne(name).all(axis=1)]) for name in np.unique(names)])
    kept = without[np.isfinite(without)]
    if not (whole > 0 and len(kept) > 2 and kept.min() > 0):
        return whole, np.nan, np.nan
    # Of the logarithm, for a ratio is never negative, and twice as much is as far from one as half.
    low, high = np.exp(jackknife_interval(np.log(whole), np.log(kept)))
    return whole, float(low), float(high)
