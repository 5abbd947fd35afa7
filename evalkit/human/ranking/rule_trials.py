"""The situations in which every rule is tried, and which rule they speak for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalkit.data.schemas import with_pair
from evalkit.human.ranking import rules
from evalkit.human.ranking.by_rule import standardised
from evalkit.human.ranking.rule_errors import Batch, Grid, advised, grid, halves, rates, swapped

#: A situation -> what is done, in words that fit a table's heading.
BY_SEGMENT = "two alike, by segment"
BY_DOCUMENT = "two alike, by document"
HALVES = "one system's annotators in halves"
DOMAINS = "alike on average, not within domains"
COUPLES = "three couples of alikes"
SIX = "six alike"
ANY_TEST = "six alike, any test"
POWER = "one of two better by {:g}"
GROUPS = "three of six better by {:g}"
#: Fewest systems of a language pair, from which six are chosen.
LEAST = 6


def grids(ratings: Mapping[str, pd.DataFrame]) -> list[Grid]:
    """Lay out campaigns in which all systems were judged on the same segments, a grid for each language pair.

    ratings: name -> judgements (doc, segment, annotator), z-scores added where they lack. Pairs of fewer than ``LEAST``
    systems are left out.
    """
    found = []
    for name, table in ratings.items():
        scored = table if "z" in table else standardised(table, ("system", "repeat"))
        found += [grid(f"{name} {pair}", part) for pair, part in with_pair(scored).groupby("pair")]
    return [one for one in found if len(one.raw) >= LEAST]


def first(laid: Sequence[Grid], *, campaigns: int = 100, seed: int = 7) -> pd.DataFrame:
    """Try every rule where two systems are alike and whole documents depend: the table of ``rates``.

    campaigns: rearranged ones a grid.
    """
    return rates(_each(laid, campaigns, seed, by="document"), BY_DOCUMENT)


def every(
    laid: Sequence[Grid],
    crowds: Mapping[str, pd.DataFrame],
    *,
    points: Sequence[float] = (2.0, 5.0),
    campaigns: int = 100,
    seed: int = 7,
) -> pd.DataFrame:
    """Try every rule in all other situations: one table of ``rates``.

    crowds: name -> ratings with z-scores and annotators, split by ``halves``. points: differences to be found, on a
    scale from 0 to 100; grids on another scale, such as MQM, are left out of these. campaigns: rearranged ones a grid
    for two systems; for six, or halves of annotators, fewer.
    """
    some, scored = max(1, 2 * campaigns // 5), [one for one in laid if np.nanmax(one.raw) > 50]
    domains = [one for one in scored if one.domains.max() >= 2]
    six, couples = (0.0,) * 6, (60.0, 60.0, 30.0, 30.0, 0.0, 0.0)
    alike = [
        rates(_each(laid, campaigns, seed, by="segment"), BY_SEGMENT),
        rates(_crowds(crowds, max(1, campaigns // 5), seed), HALVES),
        rates(_each(domains, campaigns, seed, by="document", points=(5.0, 0.0), cancelling=True, true=True), DOMAINS),
        rates(_each(laid, some, seed, by="document", points=six), SIX, tests=ANY_TEST),
        rates(_each(scored, some, seed, by="document", points=couples), COUPLES),
    ]
    differ = []
    for size in points:
        two, groups = (size, 0.0), (size,) * 3 + (0.0,) * 3
        own = _each(scored, campaigns, seed, by="document", points=two, true=True)
        differ.append(rates(own, POWER.format(size), nominal=False))
        own = _each(scored, some, seed, by="document", points=groups, true=True)
        differ.append(rates(own, GROUPS.format(size), nominal=False))
    return pd.concat([*alike, *differ], ignore_index=True)


def advice(found: pd.DataFrame, *, points: float) -> str:
    """Name the rule to use: see ``advised``; power is that to part three of six systems that are better by points."""
    return advised(found[found["situation"] != ANY_TEST], power=GROUPS.format(points))


def wide(found: pd.DataFrame) -> pd.DataFrame:
    """Lay rates out as rule × situation, in percent, and each rule's level: rules in the order of ``RULES``."""
    table = found.pivot(index="rule", columns="situation", values="rate")[found["situation"].unique()] * 100
    table = table.reindex([name for name in rules.RULES if name in table.index])
    levels = [100 * rules.RULES[name].nominal for name in table.index]
    return table.assign(level=levels).rename_axis(columns=None).reset_index()


def rule_table() -> pd.DataFrame:
    """List the rules in words: rule, scores, test, level, where a line stands, source."""
    rows = [
        {
            "rule": one.name,
            "scores": one.by + ", by domain" * (one.mean == "domains"),
            "test": rules.TESTS[one.test],
            "level": one.sides,
            "line below a system if": rules.LINES[one.line],
            "source": one.source,
        }
        for one in rules.RULES.values()
    ]
    return pd.DataFrame(rows)


def _each(laid: Sequence[Grid], campaigns: int, seed: int, **how: object) -> Iterator[Batch]:
    for number, one in enumerate(laid):
        yield from swapped(one, campaigns=campaigns, rng=np.random.default_rng([seed, number]), **how)  # type: ignore[arg-type]


def _crowds(crowds: Mapping[str, pd.DataFrame], campaigns: int, seed: int) -> Iterator[Batch]:
    parts = [part for table in crowds.values() for _, part in with_pair(table).groupby("pair")]
    for number, part in enumerate(parts):
        yield from halves(part, campaigns=campaigns, rng=np.random.default_rng([seed, number]))


def judged(
    esa: pd.DataFrame,
    protocols: Mapping[str, pd.DataFrame],
    crowds: Mapping[str, pd.DataFrame],
    segments: pd.DataFrame,
    calibration: pd.DataFrame,
) -> dict[str, tuple[pd.DataFrame, dict[str, Any]]]:
    """Name the real judgements that rules are compared on, with the options of ``by_rule.judge`` that each needs.

    esa: WMT24's, with domains. protocols: WMT23's texts by name of the collection. crowds: WMT21 and WMT22 into
    English. segments: WMT23's mean scores of segments, DA+SQM, no annotators. calibration: WMT22's calibration HITs.
    """
    own: dict[str, Any] = {"item_types": ("system",)}
    shared = {"item_types": ("calibration",), "unit": ("annotator", "doc")}
    da = segments[segments["metric"].eq("da-sqm")].assign(item_type="system")
    return {
        "wmt24-esa": (esa, own),
        **{name: (table, own) for name, table in protocols.items()},
        "wmt23-da-sqm": (da, own),
        **{name: (table, {"unit": "annotator"}) for name, table in crowds.items()},
        "wmt22-calibration": (calibration, shared),
    }
