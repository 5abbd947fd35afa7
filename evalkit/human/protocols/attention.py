"""Attention: who notices that a translation was damaged, under which protocol, and what screening by it changes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.data.schemas import ITEM
from evalkit.human.annotators.quality_control import paired_t
from evalkit.human.protocols.scores import drawn_units
from evalkit.stats import correlation
from evalkit.stats.inference import column_means, interval
from evalkit.stats.widths import Part, Redrawn, combine, redraw

#: A person passes if degraded items score below their originals with a p-value below this; see ``quality_control``.
PASSED = 0.05


def attention(judged: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """Measure how often degraded copies were noticed, by protocol: noticed when scored below the original.

    judged: ``data.load("wmt23-protocols")``. Each copy is held against the undamaged translation that the same account
    judged. Returns protocol, people, items, noticed, low, high, equal, above (shares of copies that score lower than,
    the same as, and higher than their originals), drop and drop_in_sd (mean of original less copy, in the protocol's
    points and in standard deviations of its scores of systems' outputs), marked (share with more marks than the
    original). ``above`` is what inattention and noise do alone, so noticed less above is what the damage does.
    Intervals (of noticed) draw documents and people anew. Caveat: damage was made by mixing in words from another
    translation, so some of it is slight; marks that a model suggested for the original stand in its copy, too.
    """
    pairs = pairs_of(judged)
    shares = _shares(pairs, resamples=resamples, seed=seed)
    found = [np.ravel([one.estimate, *one.interval()]) for one in shares.values()]
    grouped = pairs.assign(
        equal=pairs["drop"].eq(0), above=pairs["drop"].lt(0), marked=pairs["errors"] > pairs["errors_original"]
    ).groupby("protocol", sort=False)
    table = grouped.agg(
        people=("annotator", "nunique"),
        items=("drop", "size"),
        equal=("equal", "mean"),
        above=("above", "mean"),
        drop=("drop", "mean"),
        marked=("marked", "mean"),
    )
    spread = judged[judged["item_type"].eq("system")].groupby("protocol")["score"].std()
    table.insert(5, "drop_in_sd", table["drop"] / spread.reindex(table.index))
    table[["noticed", "low", "high"]] = found
    return table.reset_index()[
        ["protocol", "people", "items", "noticed", "low", "high", "equal", "above", "drop", "drop_in_sd", "marked"]
    ]


def differences(
    judged: pd.DataFrame, pairs: list[tuple[str, str]], *, resamples: int = 200, seed: int = 7
) -> pd.DataFrame:
    """Compare shares of noticed copies between protocols: a, b, difference (a less b), low, high.

    judged: as for ``attention``. Draws share their documents between both protocols; people are drawn within each.
    """
    shares = _shares(pairs_of(judged), resamples=resamples, seed=seed)
    rows = [(a, b, combine([shares[a], shares[b]], [1, -1])) for a, b in pairs]
    return pd.DataFrame(
        [(a, b, *np.ravel([one.estimate, *one.interval()])) for a, b, one in rows],
        columns=["a", "b", "difference", "low", "high"],
    )


def _shares(pairs: pd.DataFrame, *, resamples: int, seed: int) -> dict[str, Redrawn]:
    """Draw the share of noticed copies in each protocol anew."""
    parts = {
        name: Part(column_means(part[["drop"]].gt(0)), drawn_units(part), len(part))
        for name, part in pairs.groupby("protocol", sort=False)
    }
    return dict(zip(parts, redraw(list(parts.values()), resamples=resamples, seed=seed), strict=True))


def pairs_of(judged: pd.DataFrame) -> pd.DataFrame:
    """Put each degraded copy beside the original in its account: protocol, annotator, hit, item, drop, errors, …

    drop is original less copy, in points; errors and errors_original count the marks. Copies whose original the account
    did not judge are left out.
    """
    key = ["protocol", "annotator", "hit", *ITEM]
    plain = judged.astype(dict.fromkeys(key, "str"))
    own = plain[plain["item_type"].isin(["system", "reference"])].drop_duplicates(key)
    copies = plain[plain["item_type"].eq("degraded")]
    pairs = copies.merge(own[[*key, "score", "errors", "position"]], on=key, suffixes=("", "_original"))
    return pairs.assign(drop=pairs["score_original"] - pairs["score"])


def with_noticed(judged: pd.DataFrame) -> pd.DataFrame:
    """Add ``noticed`` to degraded copies that have an original: 1 where they score below it, else 0; else missing."""
    key = ["protocol", "annotator", "hit", *ITEM, "started"]
    pairs = pairs_of(judged)
    found = pairs[key].assign(noticed=pairs["drop"].gt(0).astype(float)).drop_duplicates(key)
    plain = judged.astype(dict.fromkeys(key[:-1], "str"))[[*key, "item_type"]]
    noticed = plain.merge(found, on=key, how="left")["noticed"].where(plain["item_type"].eq("degraded").to_numpy())
    return judged.assign(noticed=noticed.to_numpy())


def people(judged: pd.DataFrame) -> pd.DataFrame:
    """Test each person's degraded copies: protocol, annotator, items, noticed, drop, p, passed.

    p: of a one-sided paired t-test, as in WMT's quality control (see ``annotators.quality_control``); passed where it
    is below ``PASSED``. Sorted by share noticed within protocols, the least first.
    """
    pairs = pairs_of(judged)
    pairs["noticed"] = pairs["drop"] > 0
    own = pairs.groupby(["protocol", "annotator"], sort=False)
    table = own.agg(items=("drop", "size"), noticed=("noticed", "mean"), drop=("drop", "mean"))
    table["p"] = [float(paired_t(part.to_numpy()[None, :, None])[0]) for _, part in own["drop"]]
    table = table.assign(passed=table["p"] < PASSED).reset_index()
    order = table["protocol"].map(list(dict.fromkeys(table["protocol"])).index)
    return (
        table.assign(order=order)
        .sort_values(["order", "noticed", "annotator"], kind="stable", ignore_index=True)
        .drop(columns="order")
    )


def screened(judged: pd.DataFrame, *, least: float | None = None, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """Rank systems without the people who failed: rule, protocol, people, failed, judgements, kendall_b, moved, ….

    judged: as for ``attention``. rule: who is taken out; those who fail the t-test of ``people`` or, with ``least``,
    those who noticed a smaller share of copies. judgements: share of judgements of systems' outputs that go with them.
    kendall_b: of the rankings by means before and after; moved: systems that change places, furthest: by how many
    places at most; random_low, random_high: interval of kendall_b where as many people leave at random. These are
    missing where nobody fails, or everybody.
    """
    tested = people(judged)
    failed = tested[~tested["passed"]] if least is None else tested[tested["noticed"] < least]
    rule = f"t-test, p below {PASSED:g}" if least is None else f"noticed at least {least:.0%}"
    rng = np.random.default_rng(seed)
    rows = []
    for name, part in judged[judged["item_type"].eq("system")].groupby("protocol", sort=False, observed=True):
        who = np.unique(part["annotator"].astype("str").to_numpy())
        out = np.isin(who, failed.loc[failed["protocol"] == name, "annotator"])
        chances = np.array([rng.permutation(out) for _ in range(resamples)])
        rows.append((rule, name, len(who), int(out.sum()), *_without(part, who, out, chances)))
    columns = [
        "rule",
        "protocol",
        "people",
        "failed",
        "judgements",
        "kendall_b",
        "moved",
        "furthest",
        "random_low",
        "random_high",
    ]
    return pd.DataFrame(rows, columns=columns)


def _without(part: pd.DataFrame, who: np.ndarray, out: np.ndarray, chances: np.ndarray) -> tuple[float, ...]:
    """Return judgements left out, kendall_b, moved, furthest and the interval of kendall_b by chance."""
    person = np.searchsorted(who, part["annotator"].astype("str"))
    gone = float(out[person].mean())
    if not out.any() or out.all():
        return (gone, *[np.nan] * 5)
    means = _means(part, person, np.stack([np.zeros_like(out), out, *chances]))
    taus = correlation.kendall_b(means[1:], means[:1])
    before, after = correlation.ranks(means[:2])
    low, high = interval(taus[1:][np.isfinite(taus[1:])])
    shifts = np.abs(after - before)
    return gone, float(taus[0]), int((shifts > 0).sum()), float(shifts.max()), float(low), float(high)


def _means(part: pd.DataFrame, person: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Return systems' means without the people who are out, (selections, systems); NaN where nothing is left."""
    system = np.unique(part["system"].astype("str"), return_inverse=True)[1]
    shape = (out.shape[1], system.max() + 1)
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, (person, system), part["score"].to_numpy(float))
    np.add.at(counts, (person, system), 1)
    left = (~out).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (left @ sums) / (left @ counts)
