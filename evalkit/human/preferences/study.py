"""The tables of the study of preferences: what side by side changes, strengths of all data sets, what scores say."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.data import compared
from evalkit.data.provenance import fact, like
from evalkit.data.schemas import ITEM
from evalkit.human.preferences import beside
from evalkit.human.preferences.cells import count, groups
from evalkit.human.preferences.drawn import drawable, labels, shares, strengths
from evalkit.human.preferences.fitting import Fitted, fit
from evalkit.human.preferences.goodness import circles, goodness
from evalkit.human.preferences.simple import elo, win_rates
from evalkit.human.preferences.worth import Worth, efficiency

#: Tables of strengths, and the fits, by the name of the data.
Ranked = tuple[pd.DataFrame, dict[str, Fitted]]


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
    """Return ``beside.measures`` of MQM side by side against MQM of the same texts one by one.

    side, side_spans: ``wmt23-side-by-side`` and its spans. single, single_spans: ``wmt23-mqm`` and its spans. outputs:
    ``wmt23-outputs``.
    """
    texts = pd.MultiIndex.from_frame(side[ITEM])
    single = single[single["tgt_lang"].eq("deu") & pd.MultiIndex.from_frame(single[ITEM]).isin(texts)]
    marks = single_spans[single_spans["tgt_lang"].eq("deu")]
    number = marks.groupby(ITEM, observed=True).size()
    single = single.assign(errors=number.reindex(pd.MultiIndex.from_frame(single[ITEM]), fill_value=0).to_numpy())
    screens = side[["system", "against"]].drop_duplicates()
    shown = outputs[outputs["tgt_lang"].eq("deu")]
    written = [
        {(row.system, row.doc, row.segment): row.hypothesis for row in own.itertuples()} for own in (shown, side)
    ]
    one = beside.pairs(single, screens), beside.found_again(marks, written[0], single, screens)
    two = beside.pairs(side, screens), beside.found_again(side_spans, written[1], side, screens)
    return beside.measures(one, two, resamples=resamples, seed=seed)


def tables(
    laeubli: pd.DataFrame,
    literary: pd.DataFrame,
    side: pd.DataFrame,
    contrastive: pd.DataFrame,
) -> dict[str, pd.DataFrame]:
    """Return the tables of comparisons that can be ranked, by a name that says whose they are."""
    found = {
        f"laeubli {name[0]}, {name[1]}s": like(own, laeubli)
        for name, own in laeubli.groupby(["criterion", "unit"], sort=True)
    }
    found["literary"] = literary
    both = compared.of_screens(side)
    for names in groups(count(both)):
        own = both[both["system_a"].isin(names)]
        found["side by side " + " ".join(names)] = own
    found["contrastive ESA"] = compared.of_screens(contrastive)
    return found


def ranked(tables: Mapping[str, pd.DataFrame], *, ties: str, resamples: int, seed: int) -> Ranked:
    """Return data, system, strength, low, high, ``drawn`` (what was drawn anew) of all tables, and the fits."""
    rows, fits = [], {}
    for name, own in tables.items():
        units = drawable(own)
        table, fits[name] = strengths(own, ties=ties, resamples=resamples, seed=seed, units=units)
        rows.append(table.assign(data=name, drawn=" and ".join(units) or "nothing"))
    found = pd.concat(rows, ignore_index=True)
    return found[["data", "system", "strength", "low", "high", "drawn"]], fits


def fitting(tables: Mapping[str, pd.DataFrame], fits: Mapping[str, Fitted], *, seed: int) -> pd.DataFrame:
    """Return of each fit how well one scale of strengths, and one rate of ties, hold: freedom, p, effect of units.

    tables: the comparisons of each fit. Beside them dispersion, circles, and those that chance makes.
    """
    rows = []
    for name, own in fits.items():
        good = goodness(own, units=labels(tables[name], drawable(tables[name])))
        round_, scale, ties = circles(own, seed=seed), good.strengths, good.ties
        pairs = len({*zip(own.cells.one, own.cells.other)})
        rows.append(
            (
                name,
                len(own.cells.systems),
                pairs,
                int(own.cells.counts.sum()),
                scale.freedom,
                scale.p,
                scale.effect,
                ties.freedom,
                ties.p,
                ties.effect,
                good.dispersion,
                round_.triples,
                len(round_.found),
                round_.expected,
            )
        )
    columns = (
        "data systems pairs comparisons freedom p effect ties_freedom ties_p ties_effect dispersion triples circles"
    )
    return pd.DataFrame(rows, columns=[*columns.split(), "by_chance"])


def simpler(tables: Mapping[str, pd.DataFrame], strengths: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Return data, system, strength, average win rate, Elo's points and their spread over orders of the comparisons.

    strengths: ``ranked``. Best first by strength, as there.
    """
    rates = [win_rates(own).merge(elo(own, seed=seed), on="system").assign(data=name) for name, own in tables.items()]
    found = strengths.merge(pd.concat(rates), on=["data", "system"], validate="one_to_one")
    return found[["data", "system", "strength", "average", "points", "spread"]]


def placed(comparisons: pd.DataFrame) -> tuple[float, float]:
    """Return what standing first adds to the log odds, and the p of a likelihood ratio test that it adds nothing."""
    with_place, without = fit(comparisons, place=True), fit(comparisons)
    gain = max(0.0, 2 * (with_place.likelihood - without.likelihood))
    return float(with_place.place[0]), float(stats.chi2.sf(gain, 1))


def worths(campaigns: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return what a comparison is worth beside two scores in each campaign; ``why`` where that cannot be told."""
    rows = []
    for name, own in campaigns.items():
        try:
            found, why = efficiency(own), ""
        except DataError as problem:
            found, why = Worth(np.nan, np.nan, np.nan, np.nan, np.nan, 0, 0), str(problem)
        rows.append((name, *found, why))
    return pd.DataFrame(rows, columns=["data", *Worth._fields, "why"])


def as_comparisons(campaigns: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return how many judgements, comparisons and ties scores make, and how many judgements have none beside them."""
    rows = []
    for name, own in campaigns.items():
        found = compared.of_scores(own, together=())
        ties = found["preference"].eq("tie").mean()
        alone = fact(found, "alone", by="compared.of_scores")
        rows.append((name, len(own), len(found), ties, alone, len(groups(count(found)))))
    return pd.DataFrame(rows, columns=["data", "judgements", "comparisons", "ties", "alone", "groups"])


def answers(laeubli: pd.DataFrame, *, resamples: int, seed: int) -> pd.DataFrame:
    """Return criterion, unit, answer, share, low, high, n: how often each answer was given, drawing documents."""
    found = shares(laeubli, by=["criterion", "unit"], resamples=resamples, seed=seed, units=("documents",))
    return found.drop(columns=["system_a", "system_b"])
