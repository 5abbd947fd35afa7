"""Who judged a part again, and whether judgements agree more when a person or when a protocol is the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM
from evalkit.human.protocols.agreement import ROWS, Pair, as_column, correlated, lay, pearson_of, redrawn
from evalkit.stats import widths

#: The parts that were judged again; accounts of one number, their last two characters, had the same task in all.
AGAIN = ("ESA-IAA", "ESAAI-IAA", "MQM-IAA")
_ESA = ("ESA-1", "ESA-2", "ESA-IAA")
_ESAAI = ("ESAAI-1", "ESAAI-2", "ESAAI-IAA")
_MQM = ("MQM-1", "MQM-IAA")
#: What two collections have in common, from least to most.
KINDS = (
    "two protocols, other people",
    "one protocol, other people",
    "one protocol, judged again",
    "two protocols, accounts of one number",
)


def kind(a: str, b: str) -> str:
    """Say what two collections have in common, one of ``KINDS``.

    Judged again is what an account repeated of the first campaign; the release does not say whether it was the same
    person. Of all other collections it is known, or known of their accounts, that other people judged.

    >>> kind("ESA-1", "ESA-2"), kind("ESA-IAA", "MQM-IAA")
    ('one protocol, other people', 'two protocols, accounts of one number')
    """
    if a in AGAIN and b in AGAIN:
        return KINDS[3]
    if a.split("-")[0] != b.split("-")[0]:
        return KINDS[0]
    return KINDS[2] if {a.split("-")[1], b.split("-")[1]} == {"1", "IAA"} else KINDS[1]


def within(scored: pd.DataFrame, *, resamples: int = 300, seed: int = 7) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Correlate every two collections on the translations that were judged again, by what the two have in common.

    scored: see ``protocols.scores``. Returns two tables. Every pair: protocol, again, kind, n, pearson, kendall_b,
    spearman, low, high (of pearson, 95 %, documents and people of both drawn). And the mean of pearson by kind: scales
    (ESA and ESA^AI, both 0 to 100; or with MQM), kind, pairs, mean, low, high, and more, more_low, more_high: how much
    that is above other people's, under one protocol for ESA and ESA^AI, under two for MQM, where no such runs are.
    Accounts of one number are drawn together, as one person. Caveat: these are twelve tasks.
    """
    laid = lay(scored)
    pairs = _pairs()
    missing = sorted({name for pair in pairs for name in pair} - set(laid.scores))
    if missing:
        raise DataError(f"The scores of {', '.join(missing)} are needed here. Load all collections of the release.")
    laid = laid.taken(laid.rows([name for pair in pairs for name in pair]))
    number = _numbers(scored).reindex(laid.scores.index).to_numpy()
    laid = replace(laid, people=laid.people | dict.fromkeys(AGAIN, pd.factorize(number, sort=True)[0]))
    sides = [tuple(laid.scores[name].to_numpy() for name in pair) for pair in pairs]
    drawn = redrawn(
        laid,
        pairs,
        [as_column(pearson_of(*side)) for side in sides],
        resamples=resamples,
        seed=seed,
        same=dict.fromkeys(AGAIN, AGAIN[0]),
    )
    rows = [
        (*pair, kind(*pair), *correlated(*side), *np.ravel(one.interval()))
        for pair, side, one in zip(pairs, sides, drawn)
    ]
    columns = ["protocol", "again", "kind", "n", "pearson", "kendall_b", "spearman", "low", "high"]
    found = pd.DataFrame(rows, columns=columns)
    return found, _by_kind(found, drawn)


def _pairs() -> list[Pair]:
    """Pair the ESA and ESA^AI collections with each other, and the MQM ones with them and each other."""
    names = [*_ESA, *_ESAAI, *_MQM]
    return [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]


def _by_kind(found: pd.DataFrame, drawn: list[widths.Redrawn]) -> pd.DataFrame:
    mqm = found["protocol"].isin(_MQM) | found["again"].isin(_MQM)
    rows = []
    for scales, of_scales in (("ESA and ESA^AI", ~mqm), ("with MQM", mqm)):
        chosen = {name: (of_scales & found["kind"].eq(name)).to_numpy() for name in KINDS}
        usual = next(which for name, which in chosen.items() if name == KINDS[int(scales != "with MQM")])
        for name, which in chosen.items():
            if which.any():
                mean = widths.combine(drawn, which / which.sum())
                more = widths.combine(drawn, which / which.sum() - usual / usual.sum())
                told = [np.ravel([one.estimate, *one.interval()]) for one in (mean, more)]
                rows.append((scales, name, int(which.sum()), *told[0], *told[1]))
    columns = ["scales", "kind", "pairs", "mean", "low", "high", "more", "more_low", "more_high"]
    return pd.DataFrame(rows, columns=columns)


def working_times(judged: pd.DataFrame) -> pd.DataFrame:
    """Return when every account of the parts that were judged again worked: protocol, number, began, ended (seconds).

    judged: ``data.load("wmt23-protocols")``, all its rows.
    """
    part = judged[judged["protocol"].isin(AGAIN)]
    named = part.assign(number=part["hit"].astype("str").str[-2:], protocol=part["protocol"].astype("str"))
    times = named.groupby(["protocol", "number"]).agg(began=("started", "min"), ended=("ended", "max")).reset_index()
    complete = times.groupby("number")["protocol"].transform("nunique") == len(AGAIN)
    return times[complete].reset_index(drop=True)


def overlaps(judged: pd.DataFrame, *, resamples: int = 999, seed: int = 7) -> dict[str, float]:
    """Test whether accounts of one number were at work at the same time less often than accounts of other numbers.

    judged: see ``working_times``. Returns numbers (how many), pairs (of accounts of one number, three each),
    overlapping (pairs that were at work at the same time, from first to last judgement), by_chance (the mean when the
    numbers of every part are shuffled), p (of so few or fewer), gap (median hours from one's end to the next's start).
    Few overlaps and short gaps are what one person leaves who does one part after the other; they are no proof.
    """
    times = working_times(judged)
    began, ended = (times.pivot(index="number", columns="protocol", values=name) for name in ("began", "ended"))
    spans = began[list(AGAIN)].to_numpy(), ended[list(AGAIN)].to_numpy()
    rng = np.random.default_rng(seed)
    shuffled = []
    for _ in range(resamples):
        order = np.column_stack([rng.permutation(len(began)) for _ in AGAIN])
        shuffled.append(_overlapping(*(np.take_along_axis(each, order, axis=0) for each in spans)))
    observed = _overlapping(*spans)
    hits = sum(one <= observed for one in shuffled)
    order = np.argsort(spans[0], axis=1)
    first, last = (np.take_along_axis(each, order, axis=1) for each in spans)
    gap = float(np.median(first[:, 1:] - last[:, :-1])) / 3600
    return {
        "numbers": len(began),
        "pairs": 3 * len(began),
        "overlapping": observed,
        "by_chance": float(np.mean(shuffled)),
        "p": (hits + 1) / (resamples + 1),
        "gap": gap,
    }


def _overlapping(began: np.ndarray, ended: np.ndarray) -> int:
    """Count the pairs of columns, row by row, whose spans of time meet."""
    first, second = np.triu_indices(began.shape[1], 1)
    return int(((began[:, first] < ended[:, second]) & (began[:, second] < ended[:, first])).sum())


def habits(scored: pd.DataFrame) -> pd.DataFrame:
    """Compare how often accounts with the same task gave the highest score: number, and a column per collection.

    The same translations stand behind a row, so what differs between columns is how people score. Only collections with
    scores from 0 to 100; the share is of scores of 100.
    """
    laid = lay(scored)
    names = [*_ESA, *_ESAAI]
    rows = laid.scores.loc[laid.scores[names].notna().all(axis=1), names]
    top = rows.eq(100).groupby(_numbers(scored).reindex(rows.index).to_numpy()).mean()
    return top.rename_axis(index="number", columns=None).reset_index()


def _numbers(scored: pd.DataFrame) -> pd.Series:
    """Return the number of the account that judged every item again, by item."""
    named = scored[scored["protocol"] == AGAIN[0]].astype(dict.fromkeys([*ITEM, "hit"], "str"))
    return named.set_index(ROWS)["hit"].str[-2:]
