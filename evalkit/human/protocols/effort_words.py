"""What time and certainty cost under each protocol, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from evalkit.human.annotators import PAUSE
from evalkit.human.protocols.choice import FAMILIES
from evalkit.stats.terms import join_names


def costs(relative: pd.DataFrame, needed: pd.DataFrame, gaps: Mapping[str, float], *, base: str = "ESA") -> list[str]:
    """Say how many hours the protocols need beside each other, and how many distinguish neighbours.

    relative: the result of ``certainty.relative_hours`` with this base. needed: that of ``certainty.hours_needed`` for
    ``gaps``.
    """
    others = relative[relative["protocol"] != base]
    ratios = [f"{row.protocol} {row.hours:.1f} ({row.low:.1f} to {row.high:.1f})" for row in others.itertuples()]
    apart = others.loc[(others["low"] > 1) | (others["high"] < 1), "protocol"].tolist()
    shown = f"a difference is shown for {join_names(apart)} only" if apart else "no difference between them is shown"
    near = needed[needed["pair"] == "neighbours"].set_index("protocol")["hours"]
    twice = near.groupby(FAMILIES).agg(["size", "min", "max"]).query("size > 1")
    again = join_names(f"{row['max'] / row['min']:.1f} in {name}" for name, row in twice.iterrows())
    return [
        f"Hours for the same certainty about a ranking, where {base} takes 1: {join_names(ratios)}. By these 95% "
        f"intervals, {shown}.",
        f"Two campaigns of one protocol, with other people, differ by a factor of {again}.",
        f"Two neighbours in the ranking are {gaps['neighbours']:.2f} of the systems' spread apart (median). To "
        f"distinguish them with 80% power takes {_rough(near.min())} to {_rough(near.max())} hours of work.",
    ]


def _rough(number: float) -> str:
    """Write a number with two digits that count.

    >>> _rough(8499.9), _rough(46.6)
    ('8,500', '47')
    """
    return f"{float(f'{number:.2g}'):,.0f}"


def times(pauses: pd.DataFrame, authors: Mapping[str, float], spared: Mapping[str, float]) -> list[str]:
    """Say what counts as time, what pauses change, and what the authors' own rule gives.

    pauses, spared: the results of ``effort.sensitivity`` and ``effort.spared``. authors: seconds per mark by the rule
    of the release's authors, of ESA and ESAAI (``papers.esa.effort``).
    """
    campaigns = {family: [name for name in FAMILIES if FAMILIES[name] == family] for family in ("ESA", "ESA^AI")}
    mean = pauses.pivot(index="pause", columns="protocol", values="mean")
    ratio = mean[campaigns["ESA^AI"]].mean(axis=1) / mean[campaigns["ESA"]].mean(axis=1)
    first, last = (f"{seconds / 60:.0f}" for seconds in (pauses["pause"].min(), pauses["pause"].max()))
    return [
        "A judgement lasts from the end of the same person's previous one to its own end: the tool shows a whole "
        f"document and stamps a segment when it is scored. After more than {PAUSE / 60:.0f} minutes, a break, and for "
        "an account's first judgement, after the tutorial, the time is not known. Hours of work include degraded "
        "items; the table of times does not. Words are the source's, between white space.",
        f"With breaks from {first} to {last} minutes on, ESA^AI's mean time per judgement is {ratio.min():.2f} to "
        f"{ratio.max():.2f} of ESA's.",
        "By the authors' rule (from start to start; more than five minutes become the person's median; means of people "
        f"averaged) a marked error takes {authors['ESA']:.0f} s in ESA and {authors['ESAAI']:.0f} s in ESA^AI, where "
        "marks are suggested.",
        f"Leaving out the {spared['outputs']:.0%} of outputs in which the model finds no error would spare "
        f"{spared['time']:.0%} of ESA^AI's time.",
    ]


def model(shares: pd.DataFrame, held: pd.DataFrame) -> list[str]:
    """Say what the variance of a difference could be spared, and how well the model holds.

    shares, held: the results of ``certainty.shares`` and ``splits.check``.
    """
    saved, off = 1 - shares["together"], held["ratio"].sub(1).abs()
    return [
        "If one person judged all systems' versions of a document, people's levels would cancel, and the standard "
        f"error would fall by {saved.min():.0%} to {saved.max():.0%} at no cost.",
        "The same people, however long they work, come to a floor, for people like systems differently: a standard "
        f"error of {shares['floor'].min():.2f} to {shares['floor'].max():.2f} of the spread.",
        f"Parts of the campaigns disagree as the model predicts, within {off.max():.0%} (median {off.median():.0%}).",
    ]


def choice(decisions: pd.DataFrame, *, hours: float, pay: float, currency: str) -> str:
    """Say what the reader should take.

    decisions: the result of ``choice.decide``. hours, pay, currency: the reader's own; no pay, no price.

    >>> own = {"aim": ["rank systems"], "people": ["with experts"], "take": ["MQM"], "gives": ["10%"], "yours": [True]}
    >>> choice(pd.DataFrame(own), hours=5, pay=20, currency="EUR")
    'With your 5 hours (100 EUR) and with experts: to rank systems, MQM (10%).'
    """
    own = decisions[decisions["yours"]]
    price = f" ({' '.join([f'{hours * pay:,.0f}', currency]).strip()})" if pay else ""
    takes = "; ".join(f"to {row.aim}, {row.take} ({row.gives})" for row in own.itertuples())
    return f"With your {hours:g} hours{price} and {own['people'].iloc[0]}: {takes}."
