"""Few human scores and a metric's scores of more segments: systems and differences by PPI++, beside the plain means.

Where people and a model label (pass or fail), the share of the worse label is corrected by the model's errors, too.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.campaign.findings import Finding, Missing, Result, finding, which
from evalkit.campaign.judges import COLLECT, Judges, arrange, stack
from evalkit.campaign.opening import Campaign, from_ratings
from evalkit.metrics import ppi
from evalkit.metrics.scores import Scores

#: Fewest judged segments of a system, or of two, for which a metric is tried; fewest others, as a share of these.
FEWEST, OTHERS = 20, 0.1
#: Fewest documents whose scatter tells how sure a mean is; with fewer, segments are taken as independent.
GROUPS = 10
#: Most metrics of which each gets a sentence; and p-value below which a metric sees that judged segments are chosen.
_SAID, _CHANCE = 2, 0.05
#: What a metric's scores beside people are good for, where there are none.
NONE = "no metric scored outputs that nobody judged, so it cannot stand in for judgements."


class Correlation(Result):
    """What a metric's correlation with people is: on differences of two systems, within systems, and whose it is."""


def of_pilot(ratings: pd.DataFrame, judged: pd.DataFrame | None, *, pair: str) -> Correlation | None:
    """Measure a pilot's metrics: the one that saves most on differences; None where the pilot has none.

    ratings: of a pilot, higher is better. judged: as ``data.open_judges`` reads it.
    Raises DataError where metric and people share fewer than three segments of all systems.
    """
    if judged is None or judged.empty:
        return None
    sides = arrange(from_ratings(ratings, pair=pair), judged, column="score")
    scores = stack(sides.scores, sides.grid) if sides.scores else None
    whole = [int(np.isfinite(own).all(axis=0).sum()) >= 3 for own in scores.values] if scores else []
    if not scores or not any(whole):  # three segments of all systems
        return None
    scores = scores.only([name for name, enough in zip(scores.metrics, whole, strict=True) if enough])
    return correlation(scores, ppi.most_saving(ppi.saved(scores), number=1)[0])


def correlation(scores: Scores, metric: str) -> Correlation:
    """Take what ``ppi.correlations`` finds of one metric."""
    r = ppi.correlations(scores, metric).set_index("what")["r"]
    return Correlation(differences=float(r[ppi.DIFFERENCES]), within=float(r[ppi.WITHIN]), metric=metric)


class Few(Result):
    """Means of systems, and their differences, by people alone and by people and a metric.

    table: judge, what (of ``ppi.WHAT``), name, judged and others (segments), plain, plain_low, plain_high,
    estimate, low, high, weight, narrower (share of the plain interval's width), distinguished (by people alone) and
    with_metric (distinguished with it); the last two of differences, else False. chance: judge -> the two-sided p-value
    that the metric scores judged segments as it scores others, over systems together. unit: what is taken as
    independent. treated: what people's scores are, where they are not raw.
    """

    treated = ""

    def tell(self) -> Iterator[Finding]:
        """Say how much narrower intervals become, and how many pairs of systems are distinguished then."""
        names = list(dict.fromkeys(self.table["judge"]))
        for name in names[:_SAID]:
            own, p = self.table[self.table["judge"] == name], self.chance[name]
            means, gaps = (own[own["what"] == what] for what in ppi.WHAT)
            values = {"name": name, "others": own["others"].max(), "judged": own["judged"].max(), "p": p}
            chance = "untold" if p != p else "chosen" if p < _CHANCE else "by_chance"
            values |= {"means": _narrower(means), "gaps": gaps, "width": _narrower(gaps)}
            values |= gaps[["distinguished", "with_metric"]].sum().to_dict()
            yield finding("few.one", **values, chance=finding(f"few.{chance}", p=p))
        yield from which("few", self, more=names[_SAID:], read=True)


def _narrower(rows: pd.DataFrame) -> Finding:
    """Say how much narrower intervals are on average."""
    value = rows["narrower"].mean()
    key = "same" if not round(abs(value), 2) else "narrower" if value > 0 else "wider"
    return finding(f"few.{key}", share=abs(value))


def estimate_with_metrics(judges: Judges | Missing) -> Few | Missing:
    """Estimate systems and differences by PPI++ from people's scores, and a metric's of segments that nobody judged.

    judges: the result of ``compare_judges``. Where there are ten documents, those are independent and
    their segments are not: variances add up what is left of a document before they square it.
    Caveat: which segments people judged must be a matter of chance; ``chance`` tests what the metric sees of it.
    """
    if not judges:
        return Missing(NONE, COLLECT)
    rows, chance = [], {}
    grid, everywhere = judges.sides.grid, judges.sides.everywhere
    documents = "doc" in grid.index.names and grid.index.get_level_values("doc").nunique() >= GROUPS
    for name in (name for name in judges.names if name in everywhere):
        index = grid.index.append(everywhere[name].index.difference(grid.index, sort=False))
        human, metric = (side.reindex(index=index, columns=grid.columns) for side in (grid, everywhere[name]))
        metric = metric * _unit(human, metric)
        groups = pd.factorize(index.get_level_values("doc"))[0] if documents else np.arange(len(index))
        order = human.mean().sort_values(ascending=False, kind="stable").index
        found = [_row(human[one], metric[one], groups, one, ppi.WHAT[0]) for one in order]
        for one, two in combinations(order, 2):
            gaps = human[one] - human[two], metric[one] - metric[two]
            found.append(_row(*gaps, groups, f"{one} − {two}", ppi.WHAT[1]))
        if any(found):
            rows += [{"judge": name} | row for row in found if row]
            chance[name] = _by_chance(human, metric, groups)
    if not rows:
        return Missing(NONE, "")
    return Few(
        table=pd.DataFrame(rows), chance=chance, unit="documents" if documents else "segments", treated=judges.treated
    )


def _unit(human: pd.DataFrame, metric: pd.DataFrame) -> float:
    """Say how many points of people's a metric's point is: by their spread over all outputs that both scored.

    PPI++ gives a metric a weight of 1 at most, which would be next to nothing for one that scores from 0 to 1.
    """
    both = human.notna().to_numpy() & metric.notna().to_numpy()
    spread = metric.to_numpy(float)[both].std() if both.any() else 0.0
    return float(human.to_numpy(float)[both].std() / spread) if spread else 1.0


def _row(human: pd.Series, metric: pd.Series, groups: np.ndarray, name: str, what: str) -> dict[str, Any]:
    """Estimate one mean, plainly and with the metric; empty where there is too little."""
    y, f = human.to_numpy(float), metric.to_numpy(float)
    judged, rest = np.isfinite(y) & np.isfinite(f), ~np.isfinite(y) & np.isfinite(f)
    n, others = int(judged.sum()), int(rest.sum())
    if n < FEWEST or others < OTHERS * n or len(set(groups[judged])) < GROUPS:
        return {}
    weight = float(ppi.mean(y[judged], f[judged], f[rest]).weight)
    plain, tuned = (_ends(y, f, judged, rest, groups, one) for one in (0.0, weight))
    widths = [high - low for _, low, high in (plain, tuned)]
    apart = (what == ppi.WHAT[1] and not low <= 0 <= high for _, low, high in (plain, tuned))
    row = {"what": what, "name": name, "judged": n, "others": others}
    row |= dict(zip(("plain", "plain_low", "plain_high", "estimate", "low", "high"), (*plain, *tuned)))
    row |= {"weight": weight, "narrower": 1 - widths[1] / widths[0] if widths[0] > 0 else 0.0}
    return row | dict(zip(("distinguished", "with_metric"), apart))


def _ends(
    y: np.ndarray, f: np.ndarray, judged: np.ndarray, rest: np.ndarray, groups: np.ndarray, weight: float
) -> tuple[float, float, float]:
    """Estimate a mean with a given weight of the metric, and its 95 % interval (t, of groups with judged segments).

    What is left of each segment, in the estimate's own scale, adds up within its group; a group with judged segments
    and others counts once.
    """
    own = y - weight * f
    value = own[judged].mean() + (weight * f[rest].mean() if weight else 0.0)
    number = len(set(groups[judged]))
    left = _share(own, judged) + (weight * _share(f, rest) if weight else 0.0)
    error = np.linalg.norm(np.bincount(groups, left))
    reach = stats.t.ppf(0.975, number - 1) * error * np.sqrt(number / (number - 1))
    return float(value), float(value - reach), float(value + reach)


def _share(values: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Say what each value does to the mean of some; 0 of others."""
    return np.where(some, values - values[some].mean(), 0.0) / some.sum()


def _by_chance(human: pd.DataFrame, metric: pd.DataFrame, groups: np.ndarray) -> float:
    """Test whether the metric scores judged segments as it scores others: the mean over systems of each segment."""
    means = metric.sub(metric.mean()).mean(axis=1).to_numpy(float)
    known, judged = np.isfinite(means), human.notna().any(axis=1).to_numpy()
    one, other = known & judged, known & ~judged
    if one.sum() < 2 or other.sum() < 2:
        return float("nan")
    error = np.linalg.norm(np.bincount(groups, _share(means, one) - _share(means, other)))
    gap = means[one].mean() - means[other].mean()
    return float(2 * stats.norm.sf(abs(gap) / error)) if error > 0 else float("nan")


class Labels(Result):
    """How many outputs deserve the worse of two labels, by a model's labels of all and people's of some.

    worse: that label, as the file has it. table: judge, system ("all systems", then each), checked (outputs that people
    labelled, too), others, people (share of the worse label among checked), flagged (of others, by the model),
    sensitivity and specificity (over all systems), corrected, low and high (of others, see ``ppi.corrected_share``),
    ppi, ppi_low and ppi_high (by PPI++, outputs taken as independent).
    """

    def tell(self) -> Iterator[Finding]:
        """Say what a model's labels tell once they are corrected."""
        for row in self.table[self.table["system"] == EVERY].head(_SAID + 1).itertuples():
            yield finding("labels.one", found=self, row=row, alarms=1 - row.specificity, useful=pd.notna(row.corrected))
        yield finding("labels.read")


#: What rows of ``Labels`` are of that are not of one system.
EVERY = "all systems"


def correct_labels(campaign: Campaign, judges: Judges | Missing) -> Labels | Missing:
    """Correct a model's labels, where people's scores and its own are the same two numbers.

    judges: the result of ``compare_judges``. Where several people labelled an output, most of them decide; one on which
    they are split is left out. Caveat: which outputs people labelled must be a matter of chance.
    """
    nothing = Missing("no model labelled outputs that nobody else did, with the two labels that people used.", COLLECT)
    values, rows = np.unique(campaign.judged["score"]), []
    if not judges or len(values) != 2:
        return nothing
    for name, own in judges.sides.everywhere.items():
        labels = pd.DataFrame({"model": own.stack(), "people": judges.sides.raw.stack()}).dropna(subset="model")
        labels = labels[labels["people"] != values.mean()]
        worse = labels.lt(values.mean()).assign(known=labels["people"].notna())
        checked, others = worse[worse["known"]], worse.loc[~worse["known"], "model"]
        if not labels["model"].isin(values).all() or len(checked) < FEWEST or others.empty:
            continue
        y, f = checked["people"], checked["model"]
        by_ppi = ppi.mean(y, f, others)[:3] if len(others) > 1 else ()
        for system, part in [(EVERY, worse), *worse.groupby("system")]:
            people, flagged = part.loc[part["known"], "people"], part.loc[~part["known"], "model"]
            row = {"judge": name, "system": system, "checked": len(people), "others": len(flagged)}
            row |= {"people": people.mean(), "flagged": flagged.mean()}
            row |= {what: float(share) for what, share in ppi.checked_share(y, f, flagged)._asdict().items()}
            row |= dict.fromkeys(("ppi", "ppi_low", "ppi_high"), np.nan)
            row |= dict(zip(("ppi", "ppi_low", "ppi_high"), map(float, by_ppi if system == EVERY else ())))
            rows.append(row)
    if not rows:
        return nothing
    worst = sum(campaign.scale) - values[0] if campaign.turned else values[0]
    table = pd.DataFrame(rows).rename(columns={"value": "corrected"})
    return Labels(pair=campaign.pair, worse=float(worst), table=table)
