"""What judging two translations side by side changes, and what preferences follow: the study of preferences.

Pairs are those that stood on one screen. Judged one by one, the same two translations make the pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import compared
from evalkit.data.provenance import fact, like
from evalkit.data.schemas import ITEM, SEGMENT
from evalkit.human import preferences
from evalkit.stats.inference import column_ratios
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
    who judged what. screens: system, against. Columns doc, segment, annotator, system, other, ``same`` (did the two
    stand, or could they stand, on one screen), ``again`` (1 where a mark of the other touches the same words).
    Of Song et al. 2025 only the idea is known here, the consistency of marks between translations: their definition may
    differ. Marks of fewer than three letters, such as punctuation, are left out, as are marks in the source.
    """
    screen = ["hit"] if "hit" in ratings else []
    marked = [*_KEY, "system", *screen]
    spans = spans[spans["side"].astype(str).eq("target") & spans["start"].notna() & (spans["end"] > spans["start"])]
    marks = spans[[*marked, "start", "end"]].astype(dict.fromkeys(marked, "str"))
    there: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for *own, start, end in marks.itertuples(index=False):
        there.setdefault(tuple(own), []).append((int(start), int(end)))
    judged = ratings[marked].astype("str").drop_duplicates()
    other = judged.rename(columns={name: f"{name}_other" for name in ["system", *screen]})
    both = marks.merge(judged, on=marked).merge(other, on=_KEY)
    both = both[both["system"].ne(both["system_other"])]
    beside = {*zip(screens["system"], screens["against"])}
    rows = []
    for row in both.itertuples():
        text = texts[row.system_other, row.doc, row.segment]
        words = texts[row.system, row.doc, row.segment][int(row.start) : int(row.end)].strip()
        if sum(map(str.isalpha, words)) < _SHORTEST or words not in text:
            continue
        place = text.index(words)
        key = (row.doc, row.segment, row.annotator, row.system_other, *([row.hit_other] if screen else []))
        hit = any(begin < place + len(words) and stop > place for begin, stop in there.get(key, ()))
        same = row.hit == row.hit_other if screen else (row.system, row.system_other) in beside
        rows.append((row.doc, row.segment, row.annotator, row.system, row.system_other, same, float(hit)))
    return pd.DataFrame(rows, columns=[*_KEY, "system", "other", "same", "again"])


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
        units = ("documents",)
        [share], [low], [high] = preferences.share_intervals(
            own[told], fits, resamples=resamples, seed=seed, units=units
        )
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
    freedom, p and effect of units (``preferences.Departure``) of strengths and of ties, dispersion, circles, and those
    that chance makes.
    """
    rows, fits = [], []
    for name, own in tables.items():
        units = preferences.drawable(own)
        found = preferences.standing(own, ties=ties, resamples=resamples, seed=seed, units=units)
        rows.append(found.table().assign(data=name, drawn=" and ".join(units) or "nothing"))
        fits.append({"data": name} | _fit(found.fitted, preferences.labels(own, units), seed))
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
        "dispersion": good.dispersion,
        "triples": circles.triples,
        "circles": len(circles.found),
        "by_chance": circles.expected,
    }


def worths(campaigns: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return what scores of campaigns say as comparisons, and what a comparison is worth beside two scores.

    Columns data, judgements, alone (judgements with none beside them), groups (of systems that were compared), those of
    ``preferences.Worth``, and ``why`` where the worth cannot be told.
    """
    rows = []
    for name, own in campaigns.items():
        found = compared.of_scores(own, together=())
        alone = fact(found, "alone", by="compared.of_scores")
        row = {"data": name, "judgements": len(own), "alone": alone}
        row["groups"] = len(preferences.groups(preferences.count(found)))
        try:
            rows.append(row | preferences.efficiency(own)._asdict() | {"why": ""})
        except DataError as problem:
            rows.append(row | dict.fromkeys(preferences.Worth._fields, np.nan) | {"why": str(problem)})
    return pd.DataFrame(rows)
