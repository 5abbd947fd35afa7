"""Three labels become one: a family of rules, and which of them made the labels and counts that were released."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.papers.claims import pivot
from evalkit.papers.sudoh2021.labels import KEY, categories, places

#: The rules. "majority-else-x": the label that two gave, and where all three differ, x (the paper states the first);
#: "A", "B", "C": this annotator alone. Orders are those of severity (footnote 14) or of print (Tables 2 and 3).
RULES = (
    *("majority-else-worst", "majority-else-best", "worst", "median", "best"),
    *("majority-else-worst (print order)", "worst (print order)", "median (print order)"),
    *("majority-else-A", "majority-else-B", "majority-else-C", "A", "B", "C"),
)
SPLITS = ("train", "dev", "test")


def reduce(labels: pd.DataFrame, *, rule: str = "majority-else-worst", dimension: str = "adequacy") -> pd.DataFrame:
    """Reduce three labels of each translation to one: the columns of ``KEY`` and label, a code.

    labels: one row per label given, with the columns of ``KEY``, dimension, annotator and label (a code), by three
    annotators; a translation that one of them left out is left out. rule: one of ``RULES``.
    Raises DataError for a rule that is not known, and where there are not three annotators.
    Source: Sudoh et al. 2021, section 5.1.1.  Caveat: with an order of severity that is disputed, so are worst and
    median.

    >>> rows = [("deu", "eng", "d", "1", a, x, "fluency") for a, x in zip("ABC", "SBF")]
    >>> one = pd.DataFrame(rows, columns=[*KEY, "annotator", "label", "dimension"])
    >>> [reduce(one, rule=rule, dimension="fluency")["label"].item() for rule in ("worst", "median", "best")]
    ['F', 'B', 'S']
    """
    wide = to_wide(labels, dimension)
    complete = wide[wide.ge(0).all(axis=1)]
    found = apply_rule(rule, complete.to_numpy(), dimension=dimension)
    return complete.index.to_frame(index=False).assign(label=np.array(list(places(dimension)), dtype=object)[found])


def to_wide(labels: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Pivot labels to items × three annotators: places in the order of severity from 0, -1 where there is none."""
    order, rows = places(dimension), labels[labels["dimension"] == dimension]
    if (people := rows["annotator"].nunique()) != 3:
        raise DataError(f"A reduction takes three annotators; {dimension} has {people}. Choose three.")
    number = rows["label"].map(order).sub(1)
    return rows.assign(place=number).pivot(index=KEY, columns="annotator", values="place").fillna(-1).astype(int)


def apply_rule(rule: str, given: np.ndarray, *, dimension: str) -> np.ndarray:
    """Apply a rule to labels of three annotators: (items, 3) places in the order of severity, from 0 -> (items,).

    >>> apply_rule("median", np.array([[0, 3, 1]]), dimension="fluency").tolist()
    [1]
    """
    if rule not in RULES:
        raise DataError(f"rule={rule!r} is not known. Use one of: {', '.join(RULES)}.")
    plain, _, by_print = rule.partition(" (")
    if by_print:
        in_print = places(dimension, order="print")
        to_print = np.array([in_print[code] - 1 for code in places(dimension)])
        return np.argsort(to_print)[apply_rule(plain, to_print[given], dimension=dimension)]
    if plain in "ABC":
        return given[:, "ABC".index(plain)]
    ranked = np.sort(given, axis=1)
    if plain in ("worst", "median", "best"):
        return ranked[:, ["worst", "median", "best"].index(plain)]
    two = (given == ranked[:, [1]]).sum(axis=1) > 1
    otherwise = apply_rule(plain.removeprefix("majority-else-"), given, dimension=dimension)
    return np.where(two, ranked[:, 1], otherwise)


@dataclass(frozen=True)
class Release:
    """What was released of a dimension: labels by annotator, and each item's agreed label and split.

    wide: as ``to_wide`` makes it. agreed: places in the order of severity, from 0. Where one of three labels was not
    released, the agreed label bounds it, if it is the worst of the three, as it is wherever all three were released.
    """

    dimension: str
    wide: pd.DataFrame
    agreed: np.ndarray
    split: np.ndarray

    @property
    def complete(self) -> np.ndarray:
        """Mark the items that all three labelled."""
        return self.wide.ge(0).all(axis=1).to_numpy()

    def by(self, rule: str) -> np.ndarray:
        """Apply a rule under every label that the missing annotator may have given, (items, labels)."""
        patterns, which = np.unique(self.wide.to_numpy(), axis=0, return_inverse=True)
        thirds = [np.where(patterns < 0, third, patterns) for third in range(len(places(self.dimension)))]
        found = [apply_rule(rule, filled, dimension=self.dimension) for filled in thirds]
        return np.column_stack(found)[which.reshape(-1)]

    def possible(self, rule: str) -> np.ndarray:
        """Mark the labels that a rule may give where the agreed label is the worst of three, (items, labels).

        Where no third label makes the agreed one the worst, any third label counts.
        """
        explaining = self.by("worst") == self.agreed[:, None]
        thirds = explaining | ~explaining.any(axis=1, keepdims=True)
        given = self.by(rule)[:, :, None] == np.arange(thirds.shape[1])  # items, third labels, labels
        return (given & thirds[:, :, None]).any(axis=1)

    @property
    def rules(self) -> list[str]:
        """List the rules that differ for this dimension."""
        same = places(self.dimension) == places(self.dimension, order="print")
        return [rule for rule in RULES if not (same and "print order" in rule)]

    def parts(self) -> Iterator[tuple[str, np.ndarray]]:
        """Go through the splits that have items: name, and which items they are."""
        return ((name, self.split == name) for name in SPLITS if (self.split == name).any())


def release(labels: pd.DataFrame, agreed: pd.DataFrame, translations: pd.DataFrame, *, dimension: str) -> Release:
    """Bring together what was released of a dimension.

    labels: as in ``reduce``. agreed: ``KEY``, dimension and label (a code), one for each of the same translations.
    translations: the columns of ``KEY`` and split.
    """
    wide = to_wide(labels, dimension)
    own = agreed[agreed["dimension"] == dimension].set_index(KEY)["label"].map(places(dimension)).sub(1)
    split = translations.drop_duplicates(KEY).set_index(KEY)["split"].loc[wide.index]
    return Release(dimension, wide, own.loc[wide.index].to_numpy(int), split.to_numpy(str))


def fit_to_agreed(one: Release) -> pd.DataFrame:
    """Count the rows on which each rule gives the released agreed label.

    Where only two of the three labels were released, a row counts as equal when some third label would give the agreed
    one, so ``rows_equal`` is then the most that it can be.
    Returns dimension, target (agreed_files), split (train, dev, test, all), rule, rows_equal, rows, basis.
    """
    rows = []
    for rule in one.rules:
        equal = (one.by(rule) == one.agreed[:, None]).any(axis=1)
        for name, here in [*one.parts(), ("all", np.ones(len(equal), bool))]:
            basis = _basis(one.complete[here], "any third label")
            rows.append(("agreed_files", name, rule, int(equal[here].sum()), int(here.sum()), basis))
    table = pd.DataFrame(rows, columns=["target", "split", "rule", "rows_equal", "rows", "basis"])
    table.insert(0, "dimension", one.dimension)
    return table


def fit_to_counts(one: Release, printed: pd.DataFrame) -> pd.DataFrame:
    """Sum the differences between the label counts of each rule and printed ones over the cells of each split.

    printed: label (a category), split and count. Where a third label was not released, it may be any that makes the
    agreed label the worst of three, and ``cells_difference`` is the smallest sum that any such labels reach. One label
    counted elsewhere changes two cells by 1.
    Returns dimension, target (table9 for fluency, table10 for adequacy), split, rule, cells_difference, rows, basis.
    """
    counts = pivot(printed, "label", "split", "count").reindex(categories(one.dimension, order="severity"))
    rows = []
    for rule in one.rules:
        for name, here in one.parts():
            distance = _distance(one.possible(rule)[here], counts[name].to_numpy(int))
            basis = _basis(one.complete[here], "third labels that the agreed files allow")
            rows.append((name, rule, distance, int(here.sum()), basis))
    table = pd.DataFrame(rows, columns=["split", "rule", "cells_difference", "rows", "basis"])
    table.insert(0, "dimension", one.dimension)
    table.insert(1, "target", "table9" if one.dimension == "fluency" else "table10")
    return table


def ranked(files: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Rank the rules by how near they come to the printed counts: rule, rows_equal, rows, cells_difference.

    files: results of ``fit_to_agreed``. printed: those of ``fit_to_counts``. Sums over dimensions and splits, of the
    rules that both dimensions have.
    """
    whole = files[files["split"] == "all"].groupby("rule", sort=False)[["rows_equal", "rows"]].sum()
    apart = printed.groupby("rule", sort=False)["cells_difference"].agg(["sum", "size"])
    apart = apart.loc[apart["size"] == apart["size"].max(), "sum"].rename("cells_difference")
    return (
        whole.join(apart, how="inner").reset_index().sort_values("cells_difference", kind="stable", ignore_index=True)
    )


def counts(one: Release) -> pd.DataFrame:
    """Count the labels that the median gives in each split: dimension, label, split, count, stated, least, most.

    stated: the count by the rule that the paper states. Where third labels were not released there is no count, and it
    must lie from least to most for the agreed labels to be the worst of three.
    """
    possible, stated, rows = one.possible("median"), one.by("majority-else-worst")[:, 0], []
    for split, here in one.parts():
        three = one.complete[here].all()
        for place, label in enumerate(categories(one.dimension, order="severity")):
            may = possible[here, place]
            most, least = int(may.sum()), int((may & (possible[here].sum(axis=1) == 1)).sum())
            by_stated = int((stated[here] == place).sum())
            rows.append((one.dimension, label, split, most if three else None, by_stated, least, most))
    columns = ["dimension", "label", "split", "count", "stated", "least", "most"]
    return pd.DataFrame(rows, columns=columns).astype({"count": object})


def _basis(complete: np.ndarray, otherwise: str) -> str:
    """Say whether three labels stand behind the rows, or two."""
    return "three labels" if complete.all() else f"two labels and {otherwise}, where the third was not released"


def _distance(possible: np.ndarray, target: np.ndarray) -> int:
    """Find the smallest sum of differences between target and the counts of labels, of which each item has one.

    possible: the labels that each item may have, (items, labels). As many items as can are counted where the target
    wants them, a transport problem that is solved as a linear programme; who is left over, on either side, differs.
    """
    from scipy.optimize import linprog

    groups, times = np.unique(possible, axis=0, return_counts=True)
    group, label = np.nonzero(groups)
    of_group, of_label = (
        np.equal.outer(np.arange(len(side)), ends) for side, ends in ((groups, group), (target, label))
    )
    limits = {"A_ub": np.vstack([of_group, of_label]).astype(float), "b_ub": np.concatenate([times, target])}
    counted = -linprog(-np.ones(len(group)), **limits).fun
    return int(times.sum() + target.sum() - 2 * round(counted))
