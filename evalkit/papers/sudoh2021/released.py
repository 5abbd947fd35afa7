"""Find out which rule of reduction made labels, or counts of labels, that were released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.papers.sudoh2021.printed import UNRELEASED
from evalkit.papers.sudoh2021.reduction import RULES, Wide, rule_called, to_wide
from evalkit.papers.sudoh2021.taxonomy import KEY, categories, places

SPLITS = ("train", "dev", "test")
#: The rule that gives the released agreed label of every row of which three labels were released.
BEHIND_FILES = "worst"


def fit_to_agreed(
    labels: pd.DataFrame, agreed: pd.DataFrame, translations: pd.DataFrame, *, rules: Sequence[str] = tuple(RULES)
) -> pd.DataFrame:
    """Count the rows on which each rule gives the released agreed label.

    labels: as in ``reduce``, of one dimension or several. agreed: one label for each of the same translations.
    translations: the columns of ``KEY`` and split. Where only two of the three labels were released, a row counts as
    equal when some third label would give the agreed one, so ``rows_equal`` is then the most that it can be.
    Returns dimension, target (agreed_files), split (train, dev, test, all), rule, rows_equal, rows, basis.
    """
    rows = []
    for dimension, wide, known, split in _each(labels, agreed, translations):
        for rule, found in _by_rule(wide, dimension, rules):
            equal = (found == known[:, None]).any(axis=1)
            for name in (*SPLITS, "all"):
                here = (split == name) | (name == "all")
                if here.any():
                    row = (int(equal[here].sum()), int(here.sum()), _basis(wide.complete[here], "any third label"))
                    rows.append((dimension, "agreed_files", name, rule, *row))
    return pd.DataFrame(rows, columns=["dimension", "target", "split", "rule", "rows_equal", "rows", "basis"])


def fit_to_counts(
    labels: pd.DataFrame,
    agreed: pd.DataFrame,
    translations: pd.DataFrame,
    *,
    printed: Mapping[str, pd.DataFrame],
    printed_shares: Mapping[str, pd.DataFrame] | None = None,
    rules: Sequence[str] = tuple(RULES),
) -> pd.DataFrame:
    """Sum the differences between the label counts of each rule and printed ones over the cells of each split.

    printed: dimension -> table with label (a category), split and count; others as in ``fit_to_agreed``. Where a third
    label was not released, it may be any that makes the agreed label the worst of three, and ``cells_difference`` is
    the smallest sum that any such labels reach. printed_shares: as ``printed`` of ``third_annotator``, by dimension;
    the third labels then also occur as often as these leave for them. One label counted elsewhere changes two cells
    by 1.
    Returns dimension, target (table9 for fluency, table10 for adequacy), split, rule, cells_difference, rows, basis.
    """
    rows = []
    for dimension, wide, known, split in _each(labels, agreed, translations):
        open_to = _thirds(wide, known, dimension)
        counts = _printed(printed[dimension], categories(dimension, order="severity"))
        limits = _limits(labels, agreed, dimension, (printed_shares or {}).get(dimension))
        for rule, found in _by_rule(wide, dimension, rules):
            for name in [one for one in SPLITS if (split == one).any()]:
                here = split == name
                full = wide.complete[here].all()
                cells = found[here], open_to[here], counts[name].to_numpy()
                by_shares = None if full or limits is None else _distance(*cells, limits)
                distance = _distance(*cells) if by_shares is None else by_shares
                allowing = "the agreed files allow" if by_shares is None else "agreed files and printed shares allow"
                target = "table9" if dimension == "fluency" else "table10"
                basis = _basis(wide.complete[here], f"third labels that {allowing}")
                rows.append((dimension, target, name, rule, distance, int(here.sum()), basis))
    return pd.DataFrame(rows, columns=["dimension", "target", "split", "rule", "cells_difference", "rows", "basis"])


def settled(labels: pd.DataFrame, agreed: pd.DataFrame, *, rule: str = "median", dimension: str) -> pd.DataFrame:
    """Reduce labels also where the third was not released but the agreed label leaves one answer only.

    If the agreed label is the worst of three, it bounds the third one; where all third labels that it allows give the
    same reduced label, that is returned. Arguments as in ``third_annotator``; columns of ``KEY`` and label, a code.
    """
    wide, known = _known(labels, agreed, dimension)
    low, high = _range(_results(wide, rule, dimension), _thirds(wide, known, dimension))
    sure = low == high
    table = wide.items[sure].to_frame(index=False)
    return table.assign(label=np.array(wide.codes, dtype=object)[low[sure]])


def counts(
    labels: pd.DataFrame, agreed: pd.DataFrame, translations: pd.DataFrame, *, dimension: str, rule: str = "median"
) -> pd.DataFrame:
    """Count the labels that a rule gives in each split: label, split, count, note, absent, lacking.

    Where third labels were not released there is no count, and ``absent`` says between which counts the rule must lie
    for the agreed labels to be the worst of three. Arguments as in ``fit_to_counts``, for one dimension.
    """
    wide, known = _known(labels, agreed, dimension)
    where = translations.drop_duplicates(KEY).set_index(KEY)["split"].reindex(wide.items).to_numpy(str)
    found, allowed = _results(wide, rule, dimension), _thirds(wide, known, dimension)
    stated = _results(wide, "majority-else-worst", dimension)[:, 0]
    rows = []
    for split in [name for name in SPLITS if (where == name).any()]:
        here = where == split
        full = bool(wide.complete[here].all())
        for place, label in enumerate(categories(dimension, order="severity")):
            may = int(((found[here] == place) & allowed[here]).any(axis=1).sum())
            must = int(((found[here] == place) | ~allowed[here]).all(axis=1).sum())
            note = f"By the {rule} of three; the stated rule gives {(stated[here] == place).sum():,}."
            absent = f"Annotator C's labels were not released. The {rule} gives between {must:,} and {may:,}."
            rows.append((label, split, may, note, "", "") if full else (label, split, None, "", absent, UNRELEASED))
    columns = ["label", "split", "count", "note", "absent", "lacking"]
    return pd.DataFrame(rows, columns=columns).astype({"count": "Int64"})


def third_annotator(
    labels: pd.DataFrame, agreed: pd.DataFrame, *, dimension: str, printed: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Bound how often the third annotator gave each label where theirs was not released.

    If the agreed label is the worst of three, it is the third annotator's wherever it is worse than the other two
    (``low`` counts these rows); where it is not, the third label was no worse (``high`` adds the rows that leave it
    possible). printed: shares of all labels by annotator (label, annotator, share as printed); with it,
    print_low and print_high are what these leave for the rows here, less the third annotator's released labels (missing
    where the shares are of other annotators).
    Returns label, low, high, rows, contradictions (rows that no third label explains), and those.
    Caveat: rounding of a printed share of 9,280 rows leaves a range of ten.
    """
    wide = to_wide(labels, dimension)
    known = _places(agreed, dimension).reindex(wide.items).to_numpy()
    there = ~wide.complete & ~np.isnan(known)
    allowed = (_results(wide, BEHIND_FILES, dimension) == known[:, None])[there]
    names = categories(dimension, order="severity")
    table = pd.DataFrame({
        "label": names,
        "low": (allowed & (allowed.sum(axis=1) == 1)[:, None]).sum(axis=0),
        "high": allowed.sum(axis=0),
        "rows": int(there.sum()),
        "contradictions": int((~allowed.any(axis=1)).sum()),
    })  # fmt: skip
    if printed is not None:
        table[["print_low", "print_high"]] = _left_by_print(wide, printed, names)
    return table.sort_values("label", key=lambda names: names.map(categories(dimension).index), ignore_index=True)


def _places(agreed: pd.DataFrame, dimension: str) -> pd.Series:
    """Index agreed labels by translation, as places from 0."""
    order = places(dimension)
    rows = agreed[agreed["dimension"] == dimension].set_index(KEY)["label"]
    return rows.map(order).sub(1).astype(float)


def _each(labels: pd.DataFrame, agreed: pd.DataFrame, translations: pd.DataFrame):
    """Go through the dimensions: name, labels, agreed places and split of each item."""
    split = translations.drop_duplicates(KEY).set_index(KEY)["split"]
    for dimension in [name for name in ("fluency", "adequacy") if name in set(labels["dimension"])]:
        wide = to_wide(labels, dimension)
        known, where = _places(agreed, dimension).reindex(wide.items), split.reindex(wide.items)
        for what, column in (("agreed label", known), ("split", where)):
            if column.isna().any():
                doc, segment = column.index[column.isna()][0][2:]
                raise DataError(f"{doc}, segment {segment} has no {what} of {dimension}. Load all from one release.")
        yield dimension, wide, known.to_numpy(int), where.to_numpy(str)


def _known(labels: pd.DataFrame, agreed: pd.DataFrame, dimension: str) -> tuple[Wide, np.ndarray]:
    """Lay labels out with the agreed place of each item, -1 where there is none."""
    wide = to_wide(labels, dimension)
    return wide, _places(agreed, dimension).reindex(wide.items).fillna(-1).to_numpy(int)


def _range(found: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the highest place that a rule can give under the allowed third labels."""
    return np.where(allowed, found, found.max() + 1).min(axis=1), np.where(allowed, found, -1).max(axis=1)


def _by_rule(wide: Wide, dimension: str, rules: Sequence[str]):
    """Go through the rules that differ for this dimension, with what each gives under every third label."""
    same = places(dimension) == places(dimension, order="print")
    for rule in rules:
        if not (same and "print order" in rule):
            yield rule, _results(wide, rule, dimension)


def _results(wide: Wide, rule: str, dimension: str) -> np.ndarray:
    """Apply a rule under every label that the missing annotator may have given, (items, labels)."""
    apply = rule_called(rule, wide, dimension)
    patterns, which = np.unique(wide.given, axis=0, return_inverse=True)
    filled = [apply(np.where(patterns < 0, third, patterns)) for third in range(len(wide.codes))]
    return np.column_stack(filled)[which.reshape(-1)]


def _left_by_print(wide: Wide, printed: pd.DataFrame, names: list[str]) -> np.ndarray:
    """Return how many labels printed shares leave for the rows that lack the third annotator's, (labels, low, high)."""
    cells = printed[printed["annotator"] == wide.people[-1]].set_index("label")["share"]
    if not set(names) <= set(cells.index):  # another annotator, as in a simulation
        return np.full((len(names), 2), np.nan)
    half = np.array([0.5 * 10.0 ** -len(cells[name].partition(".")[2]) for name in names])
    released = np.bincount(wide.given[wide.complete, -1], minlength=len(names))
    low, high = ((cells[names].astype(float) + side * half) * len(wide.items) - released for side in (-1, 1))
    return np.column_stack([np.ceil(np.maximum(low, 0) - 1e-9), np.floor(high + 1e-9)])


def _limits(
    labels: pd.DataFrame, agreed: pd.DataFrame, dimension: str, shown: pd.DataFrame | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return how often printed shares let each third label occur, in the order of severity."""
    if shown is None:
        return None
    table = third_annotator(labels, agreed, dimension=dimension, printed=shown).set_index("label")
    table = table.loc[categories(dimension, order="severity")]
    limits = table["print_low"].to_numpy(), table["print_high"].to_numpy()
    return None if np.isnan(limits).any() else limits


def _thirds(wide: Wide, known: np.ndarray, dimension: str) -> np.ndarray:
    """Mark the third labels that the agreed one allows, (items, labels); any, where none explains it."""
    allowed = _results(wide, BEHIND_FILES, dimension) == known[:, None]
    allowed[~allowed.any(axis=1)] = True
    allowed[wide.complete] = np.arange(len(wide.codes)) == 0  # nothing is open: one column stands for all
    return allowed


def _printed(table: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Lay printed counts out as labels × splits."""
    counts = table.assign(count=table["count"].str.replace(",", "").astype(int))
    return counts.pivot(index="label", columns="split", values="count").reindex(names)


def _basis(complete: np.ndarray, otherwise: str) -> str:
    """Say whether three labels stand behind the rows, or two."""
    return "three labels" if complete.all() else f"two labels and {otherwise}, where the third was not released"


def _distance(
    found: np.ndarray, allowed: np.ndarray, target: np.ndarray, thirds: tuple[np.ndarray, np.ndarray] | None = None
) -> int | None:
    """Find the smallest sum of differences between counts and targets over all allowed third labels.

    Choosing third labels for groups of alike items so that counts come near given ones is a transport problem, solved
    as a linear programme. thirds: how often at least and at most each third label was given; None where these leave no
    solution.
    """
    from scipy.optimize import linprog

    size = len(target)
    groups, times = np.unique(np.column_stack([found, allowed]), axis=0, return_counts=True)
    group, third = np.nonzero(groups[:, size:])
    choices = len(group)
    meets = np.zeros((len(groups) + size, choices + 2 * size))
    meets[group, np.arange(choices)] = 1
    meets[len(groups) + groups[group, third], np.arange(choices)] = 1
    meets[len(groups) :, choices : choices + size] = np.eye(size)
    meets[len(groups) :, choices + size :] = -np.eye(size)
    cost = np.concatenate([np.zeros(choices), np.ones(2 * size)])
    given = np.zeros((size, choices + 2 * size))
    given[third, np.arange(choices)] = 1
    limits = {} if thirds is None else {"A_ub": np.vstack([given, -given]), "b_ub": [*thirds[1], *-thirds[0]]}
    solved = linprog(cost, A_eq=meets, b_eq=np.concatenate([times, target]), method="highs", **limits)
    return int(np.ceil(solved.fun - 1e-6)) if solved.status == 0 else None
