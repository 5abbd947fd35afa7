r"""What a protocol costs: time per judgement, word and marked error, and hours for certainty about a ranking.

For certainty, the score of segment g of document d by system s, judged by person p, is taken to be

.. math:: y = \mu_s + v_g + w_{sd} + a_p + t_{ps} + e

Systems and segments are fixed: what a segment is like for all systems cancels in their differences. Random are
showing (how a document suits a system, with what its judge thought of it that time), annotator (people's levels),
taste (how differently people like systems) and residual (how a segment suits a system, and noise).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.data.schemas import ITEM, SEGMENT
from evalkit.human import annotators
from evalkit.human.components import equate
from evalkit.stats import inference, widths

#: What time is divided by, and what a row of ``time`` is called by.
UNITS = ("segment", "word", "marked error")
#: What scatters: component -> the columns whose levels share it; ``residual`` is always there.
CAUSES = {"showing": ["system", "doc"], "annotator": ["annotator"], "taste": ["annotator", "system"]}
#: Systems that the hours of a campaign are for.
SYSTEMS = 12
#: Chance to find a difference, and error of the first kind of the two-sided test, that ``needed_error`` asks for.
POWER, ALPHA = 0.8, 0.05
#: What is left out in turn: to tell how sure components are. Cells: what one person judged of one document.
LEFT_OUT = {"documents": ("documents",), "people": ("people",), "cells": ("documents", "people")}
#: Campaign -> its protocol, as pages write it.
FAMILIES = {"ESA-1": "ESA", "ESA-2": "ESA", "ESAAI-1": "ESA^AI", "ESAAI-2": "ESA^AI", "MQM-1": "MQM"}
#: Protocols whose marks name kinds of error, and which people must be trained for.
EXPERT = ("MQM",)
#: How many times the reader's hours count as many.
MANY = 4


# Time


def add_times(judged: pd.DataFrame) -> pd.DataFrame:
    """Add ``seconds``, how long each judgement took; missing where nobody knows.

    judged: judgements with protocol, annotator, hit (account), ended. A judgement takes from the end of the same
    person's previous one to its own end (``annotators.since_last``). Missing for an account's first judgement, which
    follows the tutorial, and after a break.

    >>> two = pd.DataFrame({"protocol": "ESA", "annotator": "a", "hit": "a1", "ended": [0.0, 40.0, 5000.0]})
    >>> add_times(two)["seconds"].tolist()
    [nan, 40.0, nan]
    """
    own = judged.assign(annotator=judged["protocol"] + "\t" + judged["annotator"].astype(str))
    order = judged.groupby(["protocol", "hit"])["ended"].rank(method="first")
    return judged.assign(seconds=annotators.since_last(own).where(order > 1))


def add_words(judged: pd.DataFrame, texts: pd.DataFrame) -> pd.DataFrame:
    """Add ``words``, the number of the source's tokens between white space.

    texts: segment, source and tgt_lang, src_lang where the judgements have them; one source a segment.
    Caveat: punctuation stays with its word, as in most counts that translators are paid by.
    """
    key = [name for name in ("src_lang", "tgt_lang", *SEGMENT) if name in judged and name in texts]
    sources = texts.drop_duplicates(key)[[*key, "source"]].astype(str)
    source = judged[key].astype(str).merge(sources, on=key, how="left")["source"]
    if source.isna().any():
        raise DataError(f"{source.isna().sum()} judgements have no source text. Load the texts of the same test set.")
    return judged.assign(words=source.str.split().str.len().to_numpy())


def time(judged: pd.DataFrame, texts: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """Measure seconds per segment, word and marked error, with 95 % intervals.

    judged: as in ``add_times``, with doc, item_type and errors (marks). Degraded items do not count here.
    Returns protocol, unit, judgements (with a time), median (of judgements; for errors, of those with a mark), low,
    high, and overall (all seconds over all segments, words or marks: what a budget is made of), overall_low,
    overall_high. Intervals draw documents, people, and what one person judged of one document, each with replacement,
    and put these together on the logarithm (``widths.crossed_variance``), with Student's t of people - 1.
    Caveat: with 8 to 13 people a protocol they are rough.
    """
    timed = add_words(add_times(judged), texts)
    timed = timed[timed["seconds"].notna() & (timed["item_type"] != "degraded")]
    tables = []
    for protocol, part in timed.groupby("protocol", sort=False):
        sizes = np.stack([np.ones(len(part)), part["words"], part["errors"].fillna(0)])
        statistic = partial(_pace, part["seconds"].to_numpy(), sizes)
        document, person = part["doc"].astype(str), part["annotator"].astype(str)
        units = {("document",): document, ("person",): person, ("document", "person"): person + "\t" + document}
        squares = {}
        for kinds, own in units.items():
            draws = inference.resample(statistic, own.to_numpy(str), resamples=resamples, seed=seed)
            squares[kinds] = inference.standard_error(draws) ** 2
        reach = stats.t.ppf(0.975, person.nunique() - 1) * np.sqrt(widths.crossed_variance(squares))
        centre = statistic(np.ones((1, len(part))))[0]
        medians, overall = np.exp([centre, centre - reach, centre + reach]).T.reshape(2, len(UNITS), 3)
        table = pd.DataFrame({"protocol": protocol, "unit": UNITS, "judgements": (sizes > 0).sum(axis=1)})
        table[["median", "low", "high"]], table[["overall", "overall_low", "overall_high"]] = medians, overall
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _pace(seconds: np.ndarray, sizes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return logs of medians, and of totals, of seconds over sizes: (batch, twice sizes) from (batch, judgements)."""
    overall = (counts @ seconds)[:, None] / np.maximum(counts @ sizes.T, 1e-9)
    medians = [_medians(seconds[size > 0] / size[size > 0], counts[:, size > 0]) for size in sizes]
    return np.log(np.concatenate([np.stack(medians, axis=1), overall], axis=1))


def _medians(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the median of values that count so often each, (batch,) from (batch, values)."""
    order = np.argsort(values, kind="stable")
    cumulated = counts[:, order].cumsum(axis=1)
    half = cumulated[:, -1:] / 2
    places = ((cumulated < half).sum(axis=1), (cumulated <= half).sum(axis=1))
    lower, upper = (values[order][np.minimum(place, len(values) - 1)] for place in places)
    return np.asarray((lower + upper) / 2)


def work(timed: pd.DataFrame) -> pd.DataFrame:
    """Sum up each campaign's work, by protocol: people, hours, seconds, hours_each.

    timed: the result of ``add_times``. hours: of all judgements, degraded items too; those without a known time count
    with the mean of the others. seconds: hours over judgements of systems and references, so what the degraded items
    cost is charged to the others. hours_each: hours a person. Tutorials are not in the data.
    """
    own = timed.groupby("protocol", sort=False)
    people, hours = own["annotator"].nunique(), own["seconds"].mean() * own.size() / 3600
    useful = timed["item_type"].ne("degraded").groupby(timed["protocol"]).sum()
    return pd.DataFrame(
        {"people": people, "hours": hours, "seconds": hours * 3600 / useful, "hours_each": hours / people}
    )


# Certainty


def components(scored: pd.DataFrame, judged: pd.DataFrame, *, groups: int = 10, seed: int = 7) -> pd.DataFrame:
    """Estimate the variance components of each complete campaign, also with parts of it left out.

    scored: protocol, system, doc, segment, annotator, item_type, score. judged: judgements (see ``add_times``).
    Only outputs of systems count, and protocols with people, times and a judgement of every output. groups: parts into
    which the documents are dealt by chance; each is left out once; so is each person, and each of as many parts of what
    one person judged of one document.
    Returns protocol, left_out ("" for the estimate itself; otherwise one of ``LEFT_OUT``), the columns of ``work``,
    systems, outputs (judged), block (size of a document as a segment sees it), spread (standard deviation of the
    systems' true means: the unit in which protocols are compared), in points, and one column per component (``CAUSES``
    and residual), squared points: a level counts by the square of its size, as it does in a system's mean; one that
    comes out negative is 0, and the others are as without it. Raises DataError where two components cannot be
    distinguished.
    Source of leaving out: Efron & Tibshirani 1993, ch. 11. People are not drawn with replacement: somebody drawn twice
    would look like two people who agree.
    """
    outputs = scored[(scored["item_type"] == "system") & scored["annotator"].notna()]
    cells = outputs.drop_duplicates(["protocol", *ITEM]).groupby("protocol", sort=False).size()
    timed = add_times(judged)
    complete = [name for name in cells.index[cells == cells.max()] if name in set(timed["protocol"])]
    rows = []
    for protocol in complete:
        own, done = (table[table["protocol"] == protocol] for table in (outputs, timed))
        for left_out, some, works in _left_out(own, done, groups=groups, seed=seed):
            row: dict[str, object] = {"protocol": protocol, "left_out": left_out, **work(works).loc[protocol]}
            rows.append(row | {"systems": some["system"].nunique(), "outputs": len(some)} | estimate(some))
    return pd.DataFrame(rows)


def estimate(rows: pd.DataFrame) -> dict[str, float]:
    """Estimate the components of one campaign, its block and its spread, see ``components``.

    rows: system, doc, segment, annotator, score.
    """
    levels = {name: rows.groupby(columns, observed=True).ngroup().to_numpy() for name, columns in CAUSES.items()}
    system, segment = (rows.groupby(columns, observed=True).ngroup().to_numpy() for columns in ("system", [*SEGMENT]))
    equations = equate(rows["score"].to_numpy(float), levels, fixed=(system, segment), by_size=True)
    variances = equations.no_negative(list(levels))
    sizes = rows.drop_duplicates([*SEGMENT]).groupby("doc", observed=True).size()
    block = float((sizes**2).sum() / sizes.sum())
    return {"block": block, "spread": spread(rows["score"].to_numpy(float), system, levels, variances)} | variances


def spread(
    score: np.ndarray, system: np.ndarray, levels: Mapping[str, np.ndarray], variances: Mapping[str, float]
) -> float:
    """Return the standard deviation of the systems' true means, points.

    That of the means found, less what the components say is chance in it; 0 where nothing else is left. system, levels:
    numbers from 0 on of each judgement.
    """
    size = np.bincount(system)
    chance = variances["residual"] * (1 / size).mean()
    for name, codes in levels.items():
        shares = np.zeros((codes.max() + 1, len(size)))
        np.add.at(shares, (codes, system), 1 / size[system])
        chance += variances[name] * shares.var(axis=1, ddof=1).sum()
    means = np.bincount(system, score) / size
    return float(np.sqrt(max(means.var(ddof=1) - chance, 0.0)))


def _left_out(
    own: pd.DataFrame, done: pd.DataFrame, *, groups: int, seed: int
) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Yield which scores and timed judgements stay: all, then all but a part."""
    yield "", own, done
    for person in sorted(own["annotator"].unique()):
        yield "people", own[own["annotator"] != person], done[done["annotator"] != person]
    rng = np.random.default_rng(seed)
    for what, columns in (("documents", ["doc"]), ("cells", ["annotator", "doc"])):
        units = [pd.MultiIndex.from_frame(table[columns]) for table in (own, done)]
        dealt = pd.MultiIndex.from_tuples(rng.permutation(units[0].unique().sort_values()))
        places = [dealt.get_indexer(each) for each in units]
        scores, works = (np.where(place < 0, -1, place % groups) for place in places)
        for number in range(min(groups, len(dealt))):
            yield what, own[scores != number], done[works != number]


def variance(parts: pd.DataFrame) -> pd.Series:
    r"""Return the variance of the difference of two systems' means after one hour of work, squared points.

    parts: rows of ``components``. The hour is spent on ``SYSTEMS`` systems, each segment judged once for each, and
    whole documents go to people by chance, as in these campaigns; so many people share it as when everybody works as
    long as here (``hours_each``). With N judgements a system, documents of b segments and P people,

    .. math:: 2\,\frac{V_{residual} + b\,(V_{showing} + V_{annotator})}{N} + 2\,\frac{V_{taste}}{P}

    N and P both grow with the hours, which divide the variance. Source: ``calibration.difference_variance``.
    """
    judgements = 3600 / parts["seconds"] / SYSTEMS
    noise = parts["residual"] + parts["block"] * (parts["showing"] + parts["annotator"])
    return 2 * (noise / judgements + parts["taste"] * parts["hours_each"])


def standard_errors(parts: pd.DataFrame, *, hours: Sequence[float]) -> pd.DataFrame:
    """Compute the standard error of a difference after so many hours, in units of the systems' spread.

    parts: the result of ``components``. Dividing by ``spread``, how far apart the same systems are by the same
    protocol, makes scales comparable. Returns protocol, hours, se, low, high: see ``intervals``. Caveat: the standard
    error is of what this protocol measures; a bias that all its people share is not in it.
    """
    table = intervals(parts, np.sqrt(variance(parts)) / parts["spread"]).rename(columns={"estimate": "se"})
    table = table.merge(pd.Series(hours, name="hours", dtype=float), how="cross")
    table[["se", "low", "high"]] = table[["se", "low", "high"]].div(np.sqrt(table["hours"]), axis=0)
    return table[["protocol", "hours", "se", "low", "high"]]


def intervals(parts: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """Give each protocol's estimate of something positive its 95 % interval: protocol, estimate, low, high.

    values: what is estimated, for every row of ``parts`` (the result of ``components``): hours, or a standard error.
    Intervals leave out people and documents, on the logarithm, with Student's t of people - 1.
    """
    table = _estimates(parts, np.log(values.to_numpy(float)))
    reach = stats.t.ppf(0.975, table["freedom"]) * table["error"]
    ends = {"estimate": table["log"], "low": table["log"] - reach, "high": table["log"] + reach}
    return np.exp(pd.DataFrame(ends)).reset_index()


def _estimates(parts: pd.DataFrame, logs: np.ndarray) -> pd.DataFrame:
    """Read off each protocol's estimate, its standard error and degrees of freedom: log, error, freedom by protocol."""
    found = {}
    for protocol, own in parts.assign(log=logs).groupby("protocol", sort=False):
        left_out = own.groupby("left_out")["log"]
        squares = {kinds: inference.jackknife_error(left_out.get_group(what)) ** 2 for what, kinds in LEFT_OUT.items()}
        [whole] = own[own["left_out"] == ""].itertuples()
        found[protocol] = whole.log, np.sqrt(widths.crossed_variance(squares)), whole.people - 1
    table = pd.DataFrame.from_dict(found, orient="index", columns=["log", "error", "freedom"])
    return table.astype(float).rename_axis("protocol")


def relative_hours(parts: pd.DataFrame, *, base: str) -> pd.DataFrame:
    """Compare the hours that protocols need for the same certainty.

    Campaigns of one protocol (``FAMILIES``) are averaged (geometric mean of the hours). base: the protocol that counts
    1. Returns protocol, campaigns, hours (in units of the base's), low, high (95 %, normal on the logarithm; the
    protocols' people are different ones). Where everybody works as long as in these campaigns, the ratio does not
    depend on how many hours there are.
    """
    table = _estimates(parts, np.log(variance(parts) / parts["spread"] ** 2).to_numpy())
    groups = table.assign(square=table["error"] ** 2).groupby(FAMILIES, sort=False)
    means = groups.agg(campaigns=("log", "size"), log=("log", "mean"), square=("square", "sum")).rename_axis("protocol")
    means["square"] /= means["campaigns"] ** 2
    difference = means["log"] - means.loc[base, "log"]
    reach = stats.norm.ppf(0.975) * np.sqrt(means["square"] + means.loc[base, "square"]).where(means.index != base, 0.0)
    ends = {"hours": np.exp(difference), "low": np.exp(difference - reach), "high": np.exp(difference + reach)}
    return means[["campaigns"]].assign(**ends).reset_index()


def differences(scored: pd.DataFrame, parts: pd.DataFrame) -> pd.Series:
    """Average the systems' means over complete campaigns, in units of each one's spread, the best system first.

    Returns system -> mean, 0 on average. Several campaigns know the systems' differences better than any one.
    """
    whole = parts[parts["left_out"] == ""].set_index("protocol")["spread"]
    rows = scored[(scored["item_type"] == "system") & scored["protocol"].isin(whole.index)]
    means = rows.groupby(["system", "protocol"])["score"].mean().unstack() / whole
    return (means - means.mean()).mean(axis=1).sort_values(ascending=False).rename("mean")


def gaps(means: pd.Series) -> dict[str, float]:
    """Return the median difference of two systems in the unit of the means: neighbours in the ranking, and any two.

    >>> gaps(pd.Series([0.0, 1.0, 3.0, 7.0]))
    {'neighbours': 2.0, 'any two': 3.5}
    """
    ordered = np.sort(means.to_numpy(float))
    return {"neighbours": float(np.median(np.diff(ordered))), "any two": float(np.median(_every_two(ordered)))}


def _every_two(means: np.ndarray) -> np.ndarray:
    """Return how far every two systems are apart, (pairs,)."""
    return np.abs(np.subtract.outer(means, means)[np.triu_indices(len(means), 1)])


def needed_error(gap: float | np.ndarray) -> np.ndarray:
    """Return the standard error that finds a difference of ``gap`` with 80 % power at 5 %, two-sided, in its unit.

    Source: the normal test; of the wrong sign's chance nothing is left at this power.

    >>> float(needed_error(2.8).round(2))
    1.0
    """
    return gap / (stats.norm.isf(ALPHA / 2) + stats.norm.ppf(POWER))


# Choice


def prospects(
    parts: pd.DataFrame, judged: pd.DataFrame, marked: pd.DataFrame, means: pd.Series, *, hours: Sequence[float]
) -> pd.DataFrame:
    """Say what each protocol gives for so many hours of work.

    parts: the result of ``components``. marked: the marks of errors. means: the result of ``differences``.
    Returns protocol, hours, se (geometric mean of its campaigns, in units of the systems' spread), pairs (share of the
    pairs of systems that are far enough apart to be found with 80 % power at 5 %), marks (of errors), own (those of
    them that people drew themselves: the others were suggested and left standing).
    """
    errors = standard_errors(parts, hours=hours)
    errors = errors.assign(log=np.log(errors["se"]), protocol=errors["protocol"].map(FAMILIES))
    table = np.exp(errors.groupby(["protocol", "hours"], sort=False)["log"].mean()).rename("se").reset_index()
    findable = needed_error(_every_two(means.to_numpy(float)))
    table["pairs"] = [float((findable >= se).mean()) for se in table["se"]]
    rates = marks_an_hour(judged, marked)
    for name in rates:
        table[name] = table["protocol"].map(rates[name]) * table["hours"]
    return table


def marks_an_hour(judged: pd.DataFrame, marked: pd.DataFrame) -> pd.DataFrame:
    """Return marks an hour of all work by protocol: marks, and own (not suggested).

    marked: protocol, item_type, suggested. Degraded items take time, and their marks do not count.
    """
    useful = marked[(marked["item_type"] != "degraded") & marked["protocol"].isin(list(FAMILIES))]
    own = ~useful["suggested"].astype(bool)
    counts = own.groupby(useful["protocol"].astype(str)).agg(marks="size", own="sum")
    rates = counts.div(work(add_times(judged))["hours"], axis=0).loc[counts.index]
    return rates.groupby(FAMILIES).mean()


def decide(offers: pd.DataFrame, relative: Mapping[str, pd.DataFrame], *, experts: bool = False) -> pd.DataFrame:
    """Choose a protocol for few and many hours, with experts and without, to rank systems or to diagnose them.

    offers: the result of ``prospects`` for two numbers of hours. relative: protocol -> ``relative_hours`` with it as
    the base. experts: whether the reader has people trained for ``EXPERT`` protocols. To rank, take the lowest
    standard error, and name with it each that is not shown to need more hours (its 95 % interval holds 1). To diagnose,
    take a protocol that names kinds of error where there are experts, otherwise the most marks; name with it each whose
    people draw more marks themselves.
    Returns aim, hours, people, take (protocols), what the first of these gives (pairs, marks and own, see
    ``prospects``) and yours (the reader's own case), the reader's rows first.
    """
    aims = {"rank systems": lambda some: _to_rank(some, relative), "find their errors": _to_diagnose}
    rows = []
    for aim, hours, trained in itertools.product(aims, sorted(offers["hours"].unique()), (False, True)):
        some = offers[(offers["hours"] == hours) & (trained | ~offers["protocol"].isin(EXPERT))].set_index("protocol")
        take = aims[aim](some)
        row = {"aim": aim, "hours": hours, "people": "with experts" if trained else "without experts"}
        row |= {"take": " or ".join(take), **some.loc[take[0], ["pairs", "marks", "own"]]}
        rows.append(row | {"yours": trained == experts and hours == offers["hours"].min()})
    return pd.DataFrame(rows).sort_values("yours", ascending=False, kind="stable", ignore_index=True)


def _to_rank(some: pd.DataFrame, relative: Mapping[str, pd.DataFrame]) -> list[str]:
    """Name the protocol with the lowest error, then those whose need of hours is not shown to be larger."""
    best = some["se"].idxmin()
    near = relative[best].query("low <= 1").sort_values("hours")["protocol"]
    return [best, *near[near.isin(some.index) & near.ne(best)]]


def _to_diagnose(some: pd.DataFrame) -> list[str]:
    """Name a protocol with kinds of error; if none, that with most marks, then those with more of people's own."""
    kinds = some[some.index.isin(EXPERT)]
    ordered = (kinds if len(kinds) else some).sort_values("marks", ascending=False)
    return [ordered.index[0], *ordered.index[ordered["own"] > ordered["own"].iloc[0]]]
