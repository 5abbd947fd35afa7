"""Find out which rule of reduction made labels, or counts of labels, that were released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.papers.claims import pivot
from evalkit.papers.sudoh2021 import classify
from evalkit.papers.sudoh2021.reduction import RULES, Wide, reduce, rule_called, to_wide
from evalkit.papers.sudoh2021.taxonomy import KEY, categories, named, places
from evalkit.stats.verdicts import half

SPLITS = ("train", "dev", "test")
#: What keeps a number that rests on annotator C's labels of the test set from being recomputed.
UNRELEASED = "annotator C's WMT17 labels never released"


@dataclass(frozen=True)
class Release:
    """What was released of a dimension: labels by annotator, and each item's agreed label and split.

    agreed: places in the order of severity, from 0. Where one of three labels was not released, the agreed label bounds
    it, if it is the worst of the three, as it is wherever all three were released.
    """

    wide: Wide
    agreed: np.ndarray
    split: np.ndarray
    _found: dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    def by(self, rule: str) -> np.ndarray:
        """Apply a rule under every label that the missing annotator may have given, (items, labels)."""
        if rule not in self._found:
            apply = rule_called(rule, self.wide)
            patterns, which = np.unique(self.wide.given, axis=0, return_inverse=True)
            filled = [apply(np.where(patterns < 0, third, patterns)) for third in range(len(self.wide.codes))]
            self._found[rule] = np.column_stack(filled)[which.reshape(-1)]
        return self._found[rule]

    @cached_property
    def explaining(self) -> np.ndarray:
        """Mark the third labels by which the agreed one is the worst of three, (items, labels)."""
        return self.by("worst") == self.agreed[:, None]

    @cached_property
    def thirds(self) -> np.ndarray:
        """Mark the third labels that are possible, (items, labels): any, where none explains the agreed label."""
        possible = self.explaining.copy()
        possible[~possible.any(axis=1)] = True
        possible[self.wide.complete] = np.arange(len(self.wide.codes)) == 0  # nothing is open: one stands for all
        return possible

    @property
    def rules(self) -> list[str]:
        """List the rules that differ for this dimension."""
        same = places(self.wide.dimension) == places(self.wide.dimension, order="print")
        return [rule for rule in RULES if not (same and "print order" in rule)]

    def parts(self) -> Iterator[tuple[str, np.ndarray]]:
        """Go through the splits that have items: name, and which items they are."""
        return ((name, self.split == name) for name in SPLITS if (self.split == name).any())


def release(labels: pd.DataFrame, agreed: pd.DataFrame, translations: pd.DataFrame, *, dimension: str) -> Release:
    """Bring together what was released of a dimension.

    labels: as in ``reduce``. agreed: ``KEY``, dimension and label (a code), one for each of the same translations.
    translations: the columns of ``KEY`` and split. Raises DataError for an item without agreed label or split.
    """
    wide = to_wide(labels, dimension)
    own = agreed[agreed["dimension"] == dimension].set_index(KEY)["label"].map(places(dimension)).sub(1)
    known = own.reindex(wide.items)
    split = translations.drop_duplicates(KEY).set_index(KEY)["split"].reindex(wide.items)
    for what, column in (("agreed label", known), ("split", split)):
        if column.isna().any():
            doc, segment = column.index[column.isna()][0][2:]
            raise DataError(f"{doc}, segment {segment} has no {what} of {dimension}. Load all from one release.")
    return Release(wide, known.to_numpy(int), split.to_numpy(str))


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
            basis = _basis(one.wide.complete[here], "any third label")
            rows.append(("agreed_files", name, rule, int(equal[here].sum()), int(here.sum()), basis))
    table = pd.DataFrame(rows, columns=["target", "split", "rule", "rows_equal", "rows", "basis"])
    table.insert(0, "dimension", one.wide.dimension)
    return table


def fit_to_counts(one: Release, printed: pd.DataFrame, *, shares: pd.DataFrame | None = None) -> pd.DataFrame:
    """Sum the differences between the label counts of each rule and printed ones over the cells of each split.

    printed: label (a category), split and count. Where a third label was not released, it may be any that makes the
    agreed label the worst of three, and ``cells_difference`` is the smallest sum that any such labels reach. shares: as
    ``printed`` of ``third_annotator``; the third labels then also occur as often as these leave for them. One label
    counted elsewhere changes two cells by 1.
    Returns dimension, target (table9 for fluency, table10 for adequacy), split, rule, cells_difference, rows, basis.
    """
    names = categories(one.wide.dimension, order="severity")
    counts = pivot(printed, "label", "split", "count").reindex(names)
    limits = None if shares is None else _left_by_print(one.wide, shares, names).T
    if limits is not None and np.isnan(limits).any():
        limits = None
    rows = []
    for rule in one.rules:
        for name, here in one.parts():
            cells = one.by(rule)[here], one.thirds[here], counts[name].to_numpy(int)
            by_shares = None if one.wide.complete[here].all() or limits is None else _distance(*cells, limits)
            distance = _distance(*cells) if by_shares is None else by_shares
            allowing = "the agreed files allow" if by_shares is None else "agreed files and printed shares allow"
            basis = _basis(one.wide.complete[here], f"third labels that {allowing}")
            rows.append((name, rule, distance, int(here.sum()), basis))
    table = pd.DataFrame(rows, columns=["split", "rule", "cells_difference", "rows", "basis"])
    table.insert(0, "dimension", one.wide.dimension)
    table.insert(1, "target", "table9" if one.wide.dimension == "fluency" else "table10")
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


def medians(one: Release) -> pd.DataFrame:
    """Bound the middle label of three: the columns of ``KEY``, split, low, high (categories), three, explained.

    three: all three labels were released, so that the middle one is certain. explained: some third label makes the
    agreed label the worst of three; where none does, any is thought possible. Order: severity.
    """
    found, names = one.by("median"), np.array(categories(one.wide.dimension, order="severity"), dtype=object)
    low, high = np.where(one.thirds, found, len(names)).min(axis=1), np.where(one.thirds, found, -1).max(axis=1)
    table = one.wide.items.to_frame(index=False).assign(split=one.split, low=names[low], high=names[high])
    return table.assign(three=one.wide.complete, explained=one.explaining.any(axis=1))


def accuracy_bounds(predictions: pd.DataFrame, one: Release) -> dict[str, float]:
    """Bound the share of right labels where the true one is the median and one of three labels was not released.

    predictions: ``KEY`` and predicted, of one model. Returns test_at_least, the share that is right whatever the
    missing labels are, test_at_most, the share that can be right, labels_certain, the share of rows whose median is
    certain, and excluded, how many rows no third label explains; shares are NaN where there are no rows.
    """
    bounds = medians(one).query("not three")
    rows = predictions[[*KEY, "predicted"]].merge(bounds[bounds["explained"]], on=KEY)
    place = {name: number for number, name in enumerate(categories(one.wide.dimension, order="severity"))}
    said, low, high = (rows[name].map(place).to_numpy(float) for name in ("predicted", "low", "high"))
    shares = (low == high) & (said == low), (low <= said) & (said <= high), low == high
    names = ("test_at_least", "test_at_most", "labels_certain")
    found = {name: float(share.mean()) if len(share) else np.nan for name, share in zip(names, shares)}
    return found | {"excluded": int((~bounds["explained"]).sum())}


def trained_on_median(
    corpus: classify.Corpus,
    labels: pd.DataFrame,
    releases: Mapping[str, Release],
    *,
    chosen: Mapping[str, str],
    seed: int = 7,
) -> pd.DataFrame:
    """Train the chosen model of each dimension on the median of three labels, and bound its accuracy in the test set.

    labels: as in ``reduce``. releases, chosen: by dimension, what was released and which model to train.
    Returns dimension, model, dev_accuracy, commonest_dev (of always guessing the commonest label), and the columns of
    ``accuracy_bounds``.
    """
    median = [reduce(labels, rule="median", dimension=d).assign(dimension=d) for d in releases]
    median = named(pd.concat(median, ignore_index=True))
    trained = [classify.predict(corpus, median, dimension=d, models=[m], seed=seed) for d, m in chosen.items()]
    found = pd.concat(trained)
    simple = classify.choose(found, among=["majority class"]).set_index("dimension")["accuracy"]
    found = found[found["model"] == found["dimension"].map(chosen)]
    bounds = {d: accuracy_bounds(found[found["dimension"] == d], releases[d]) for d in chosen}
    own = classify.choose(found).set_index("dimension")[["model", "accuracy"]]
    own = own.join(simple.rename("commonest_dev")).join(pd.DataFrame(bounds).T)
    return own.rename(columns={"accuracy": "dev_accuracy"}).reset_index()


def counts(one: Release) -> pd.DataFrame:
    """Count the labels that the median gives in each split: label, split, count, note, absent, lacking.

    Where third labels were not released there is no count, and ``absent`` says between which counts the median must lie
    for the agreed labels to be the worst of three.
    """
    found, stated, rows = one.by("median"), one.by("majority-else-worst")[:, 0], []
    for split, here in one.parts():
        three = one.wide.complete[here].all()
        for place, label in enumerate(categories(one.wide.dimension, order="severity")):
            given, possible = found[here] == place, one.thirds[here]
            may, must = int((given & possible).any(axis=1).sum()), int((given | ~possible).all(axis=1).sum())
            note = f"By the median of three; the stated rule gives {(stated[here] == place).sum():,}."
            absent = f"Annotator C's labels were not released. The median gives between {must:,} and {may:,}."
            rows.append((label, split, may, note, "", "") if three else (label, split, None, "", absent, UNRELEASED))
    columns = ["label", "split", "count", "note", "absent", "lacking"]
    return pd.DataFrame(rows, columns=columns).astype({"count": "Int64"})


def third_annotator(one: Release, printed: pd.DataFrame) -> pd.DataFrame:
    """Bound how often the third annotator gave each label where theirs was not released.

    If the agreed label is the worst of three, it is the third annotator's wherever it is worse than the other two
    (``low`` counts these rows); where it is not, the third label was no worse (``high`` adds the rows that leave it
    possible). printed: shares of all labels by annotator (label, annotator, share as printed); print_low and
    print_high are what these leave for the rows here, less the third annotator's released labels (missing where the
    shares are of other annotators).
    Returns dimension, label, low, high, rows, contradictions (rows that no third label explains), print_low and
    print_high.
    Caveat: rounding of a printed share of 9,280 rows leaves a range of ten.
    """
    possible = one.explaining[~one.wide.complete]
    names = categories(one.wide.dimension, order="severity")
    table = pd.DataFrame(
        {
            "dimension": one.wide.dimension,
            "label": names,
            "low": (possible & (possible.sum(axis=1) == 1)[:, None]).sum(axis=0),
            "high": possible.sum(axis=0),
            "rows": len(possible),
            "contradictions": int((~possible.any(axis=1)).sum()),
        }
    )
    table[["print_low", "print_high"]] = _left_by_print(one.wide, printed, names)
    return table.sort_values(
        "label", key=lambda names: names.map(categories(one.wide.dimension).index), ignore_index=True
    )


def _left_by_print(wide: Wide, printed: pd.DataFrame, names: list[str]) -> np.ndarray:
    """Return how many labels printed shares leave for the rows that lack the third annotator's, (labels, low, high)."""
    cells = printed[printed["annotator"] == wide.people[-1]].set_index("label")["share"]
    if not set(names) <= set(cells.index):  # another annotator, as in a simulation
        return np.full((len(names), 2), np.nan)
    margin = cells[names].map(half).to_numpy()
    given = np.bincount(wide.given[wide.complete, -1], minlength=len(names))
    low, high = ((cells[names].astype(float) + side * margin) * len(wide.items) - given for side in (-1, 1))
    return np.column_stack([np.ceil(np.maximum(low, 0) - 1e-9), np.floor(high + 1e-9)])


def _basis(complete: np.ndarray, otherwise: str) -> str:
    """Say whether three labels stand behind the rows, or two."""
    return "three labels" if complete.all() else f"two labels and {otherwise}, where the third was not released"


def _distance(
    found: np.ndarray, possible: np.ndarray, target: np.ndarray, thirds: np.ndarray | None = None
) -> int | None:
    """Find the smallest sum of differences between counts and targets over all possible third labels.

    Choosing third labels for groups of alike items so that counts come near given ones is a transport problem, solved
    as a linear programme. thirds: how often at least and at most each third label was given, (2, labels); None comes
    back where these leave no solution.
    """
    from scipy.optimize import linprog

    size = len(target)
    groups, times = np.unique(np.column_stack([found, possible]), axis=0, return_counts=True)
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
