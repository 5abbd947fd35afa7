"""Reduce the labels of three annotators to one by any of a family of rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.papers.sudoh2021.taxonomy import KEY, categories, places, taxonomy
from evalkit.stats.agreement.labels import dawid_skene, mace

Rule = Callable[[np.ndarray], np.ndarray]  # (items, 3) places in the order of severity, from 0 -> (items,) places

#: The rules by name. "Order" is the paper's footnote 14 where nothing else is said.
RULES = {
    "majority-else-worst": "the label that two gave; where all three differ, the worst (what the paper states)",
    "majority-else-best": "the label that two gave; where all three differ, the best",
    "worst": "the worst of the three",
    "median": "the middle one of the three, which is also the majority wherever there is one",
    "best": "the best of the three",
    "majority-else-worst (print order)": "as the stated rule, in the order of the paper's Table 3",
    "worst (print order)": "the worst of the three in the order of Table 3",
    "median (print order)": "the middle one of the three in the order of Table 3",
    "majority-else-A": "the label that two gave; where all three differ, the first annotator's",
    "majority-else-B": "the label that two gave; where all three differ, the second annotator's",
    "majority-else-C": "the label that two gave; where all three differ, the third annotator's",
    "A": "the first annotator alone",
    "B": "the second annotator alone",
    "C": "the third annotator alone",
    "Dawid-Skene": "the likeliest label under a model of each annotator's errors",
    "MACE": "the likeliest label under a model of who knows and who goes by habit",
}


@dataclass(frozen=True)
class Wide:
    """Labels as items × three annotators, places in the order of severity from 0, -1 where there is none."""

    dimension: str
    items: pd.MultiIndex
    people: tuple[str, ...]
    given: np.ndarray

    @property
    def codes(self) -> list[str]:
        """List the labels in the order of severity."""
        return list(places(self.dimension))

    @property
    def complete(self) -> np.ndarray:
        """Mark the items that all three labelled."""
        return np.asarray((self.given >= 0).all(axis=1))


def reduce(labels: pd.DataFrame, *, rule: str = "majority-else-worst", dimension: str = "adequacy") -> pd.DataFrame:
    """Reduce three labels of each translation to one: the columns of ``KEY`` and label, a code.

    labels: one row per label given, with the columns of ``KEY``, dimension, annotator and label (a code), by three
    annotators; a translation that one of them left out is left out. rule: one of ``RULES``.
    Raises DataError for a rule or dimension that is not known, and where there are not three annotators.
    Source: Sudoh et al. 2021, section 5.1.1.  Caveat: with an order of severity that is disputed, so are worst and
    median; Dawid-Skene and MACE are fitted on all language pairs together.

    >>> rows = [("deu", "eng", "d", "1", a, x, "fluency") for a, x in zip("ABC", "SBF")]
    >>> one = pd.DataFrame(rows, columns=[*KEY, "annotator", "label", "dimension"])
    >>> [reduce(one, rule=rule, dimension="fluency")["label"].item() for rule in ("worst", "median", "best")]
    ['F', 'B', 'S']
    """
    wide = to_wide(labels, dimension)
    found = rule_called(rule, wide)(wide.given[wide.complete])
    table = wide.items[wide.complete].to_frame(index=False)
    return table.assign(label=np.array(wide.codes, dtype=object)[found])


def shares(labels: pd.DataFrame, *, dimension: str = "adequacy") -> pd.DataFrame:
    """Say how the choice of a rule changes the picture: rule, a share of each category, critical (their sum), n.

    critical: the share of labels that the taxonomy calls critical content errors, absent for fluency. Arguments as in
    ``reduce``.
    """
    wide = to_wide(labels, dimension)
    complete = wide.given[wide.complete]
    names = categories(dimension, order="severity")
    rows = {rule: np.bincount(rule_called(rule, wide)(complete), minlength=len(names)) for rule in RULES}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=names) / len(complete)
    if critical := taxonomy(dimension).query("critical")["category"].tolist():
        table["critical"] = sum(table[name] for name in critical)
    return table.assign(n=len(complete)).rename_axis("rule").reset_index()


def to_wide(labels: pd.DataFrame, dimension: str) -> Wide:
    """Pivot the labels of a dimension to items × annotators."""
    order = places(dimension)
    if lacking := [name for name in (*KEY, "dimension", "annotator", "label") if name not in labels]:
        raise DataError(f"The labels have no column {lacking[0]}. Load them with evalkit.data.")
    rows = labels[labels["dimension"] == dimension]
    people = tuple(sorted(rows["annotator"].unique()))
    if len(people) != 3:
        raise DataError(f"A reduction takes three annotators; {dimension} has {len(people)}. Choose three.")
    if rows.duplicated([*KEY, "annotator"]).any():
        row = rows[rows.duplicated([*KEY, "annotator"])].iloc[0]
        raise DataError(
            f"Annotator {row['annotator']} labelled {row['doc']}, segment {row['segment']} twice. Keep one."
        )
    if unknown := sorted(set(rows["label"]) - set(order)):
        raise DataError(f"{unknown[0]!r} is no label of {dimension}, which are {', '.join(order)}. Correct it.")
    number = rows["label"].map(order).sub(1)
    table = rows.assign(place=number).pivot(index=KEY, columns="annotator", values="place").fillna(-1).astype(int)
    if (table.ge(0).sum(axis=1) < 2).any():
        alone = table.index[table.ge(0).sum(axis=1) < 2][0]
        raise DataError(f"{alone[2]}, segment {alone[3]} has one label only. Drop it: there is nothing to reduce.")
    return Wide(dimension, table.index, people, table.to_numpy())


def rule_called(name: str, wide: Wide) -> Rule:
    """Find a rule by its name; the models are fitted on the items that all three labelled."""
    if name not in RULES:
        raise DataError(f"rule={name!r} is not known. Use one of: {', '.join(RULES)}.")
    if name in ("Dawid-Skene", "MACE"):
        return _model(name, wide)
    if name in "ABC":
        return lambda given: given[:, "ABC".index(name)]
    plain, _, rest = name.partition(" (")
    if rest:
        printed = places(wide.dimension, order="print")
        there = np.array([printed[code] - 1 for code in wide.codes])
        back = np.argsort(there)
        return lambda given: back[_plain(plain)(there[given])]
    return _plain(plain)


def _plain(name: str) -> Rule:
    """Build a rule that needs places only."""
    ranks = {"worst": 0, "median": 1, "best": 2}
    if name in ranks:
        return lambda given: np.sort(given, axis=1)[:, ranks[name]]
    last = name.removeprefix("majority-else-")

    def rule(given: np.ndarray) -> np.ndarray:
        middle = np.sort(given, axis=1)[:, 1]
        two = (given == middle[:, None]).sum(axis=1) > 1
        other = given[:, "ABC".index(last)] if last in "ABC" else np.sort(given, axis=1)[:, ranks[last]]
        return np.where(two, middle, other)

    return rule


def _model(name: str, wide: Wide) -> Rule:
    """Fit a model of labels, and build the rule that takes the label it holds likeliest."""
    given = wide.given[wide.complete]
    if not len(given):
        raise DataError(f"{name} has no translation that three annotators labelled. Choose a rule without a model.")
    rows = pd.DataFrame(given, columns=list(wide.people)).rename_axis("segment").reset_index()
    judged = rows.melt("segment", var_name="annotator", value_name="label")
    model = (
        dawid_skene(judged, item=("segment",)) if name == "Dawid-Skene" else mace(judged, item=("segment",), restarts=3)
    )
    used, size = model.shares.index.to_numpy(), len(wide.codes)
    prior = np.full(size, -np.inf)
    prior[used] = np.log(np.maximum(model.shares, 1e-300)) if name == "Dawid-Skene" else 0.0
    said = np.full((3, size, size), np.log(1 / size))  # a label that nobody gave says nothing
    for number, person in enumerate(wide.people):
        said[number][np.ix_(used, used)] = np.log(np.maximum(model.errors.loc[person].to_numpy(), 1e-300))
    return lambda triples: (prior + sum(said[a][:, triples[:, a]].T for a in range(3))).argmax(axis=1)
