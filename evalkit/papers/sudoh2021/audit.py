"""Audit the printed tables of Sudoh et al. 2021 from their own cells, allowing for the rounding of every cell."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import pandas as pd

from evalkit.papers import claims
from evalkit.papers.claims import pivot
from evalkit.papers.sudoh2021.printed import DISTANT, score_table1
from evalkit.papers.sudoh2021.taxonomy import TABLES, categories
from evalkit.stats.verdicts import half, reachable

Misprint = tuple[str, str, str, str]
_PEOPLE = ("A", "B", "C")
_HALF = 0.5e-3  # shares, means and standard deviations have three digits
_SLACK = 1e-9
_TESTED = 3920  # translations in the test set
#: How many distant errors section 5.2 counts.
DISTANT_PRINTED = 17, "0.43%"
#: Of the hypotheses predicted Excellent in adequacy, how many section 5.2 calls Excellent or Good.
GOOD_PRINTED = 144, 154, "93.5%"


def misprints(tables: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """List what the printed tables and prose contradict by themselves: table, cell, printed, evidence (a sentence).

    tables: the transcriptions of Tables 1 and 4 to 14 by number, with cells as text. Every entry is recomputed from the
    cells, and a cell is listed only where no value within the rounding of all cells involved could agree with it. What
    follows from the confusion matrices (accuracy, precision, recall, F1) is compared cell by cell elsewhere.
    Caveat: where two cells contradict each other, both are named, for the print cannot tell which is wrong.
    """
    checks = [shares, kappas, matrix]
    found = [row for check in checks for dimension in TABLES for row in check(tables, dimension)]
    for check in (_distant, _excellent, _lower_in_fluency, _higher_standard, _case):
        found += check(tables)
    return claims.misprints(found)


def overall(tables: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """Weigh each annotator's printed DA means by their printed shares: the mean z of all rows, which all share.

    Returns dimension, annotator, mean, low, high (what rounding allows) and same: whether it can be equal to that of
    most of the others.
    """
    rows = []
    for dimension, numbers in TABLES.items():
        share = pivot(tables[numbers.shares], "label", "annotator", "share")
        mean = pivot(tables[numbers.means], "label", "annotator", "mean")
        for person in _PEOPLE:
            p, m = share[person], mean[person].reindex(share.index)
            width = (_HALF * (m.abs() + p + _HALF)).sum()
            middle = float((p * m).sum())
            rows.append((dimension, person, middle, middle - width, middle + width))
    found = pd.DataFrame(rows, columns=["dimension", "annotator", "mean", "low", "high"])
    centre = found["mean"].median()
    return found.assign(same=(found["low"] <= centre) & (centre <= found["high"]))


def implied_kappas(tables: Mapping[int, pd.DataFrame], dimension: str) -> pd.DataFrame:
    r"""Compute κ from the printed concordance and the printed shares: pair, printed, concordance, low, high, needed.

    .. math:: \kappa = \frac{r - p_e}{1 - p_e}, \qquad p_e = \sum_k p_k q_k

    low and high are what the rounding of the concordance and of all shares allows. ``needed`` is the concordance that
    the printed κ needs. A share that contradicts its own column is replaced by what the column leaves for it.
    """
    share = pivot(tables[TABLES[dimension].shares], "label", "annotator", "share")
    people, labels = _off(share)
    if len(people) == len(labels) == 1:
        share.loc[labels[0], people[0]] = 1 - share[people[0]].drop(labels[0]).sum()
    cells = tables[8][tables[8]["dimension"] == dimension].pivot(index="pair", columns="statistic", values="value")
    rows = []
    for pair, cell in cells.iterrows():
        p, q = (share[person] for person in pair.split("-"))
        chance, width = float((p * q).sum()), float((_HALF * (p + q) + _HALF**2).sum())
        r, margin = float(cell["concordance"]), half(cell["concordance"])
        # κ falls with chance agreement and rises with concordance, so its extremes lie at the corners
        corners = ((r + side * margin, chance - side * width) for side in (-1, 1))
        low, high = ((share - by_chance) / (1 - by_chance) for share, by_chance in corners)
        needed = float(cell["kappa"]) * (1 - chance) + chance
        rows.append((pair, cell["kappa"], cell["concordance"], low, high, needed))
    return pd.DataFrame(rows, columns=["pair", "printed", "concordance", "low", "high", "needed"])


def _off(share: pd.DataFrame) -> tuple[list[str], list[str]]:
    """List the annotators whose shares cannot sum to 1, and the labels whose average is not that of the cells."""
    sums = share[list(_PEOPLE)].sum()
    people = sums.index[(sums - 1).abs() > _HALF * len(share) + _SLACK].tolist()
    apart = (share["average"] - share[list(_PEOPLE)].mean(axis=1)).abs()
    return people, apart.index[apart > 2 * _HALF + _SLACK].tolist()


def shares(tables: Mapping[int, pd.DataFrame], dimension: str) -> Iterator[Misprint]:
    """Compare the sums of columns with 1, averages with their row, and the mean scores that columns imply."""
    number = TABLES[dimension].shares
    share, means = pivot(tables[number], "label", "annotator", "share"), overall(tables)
    texts = tables[number].set_index(["label", "annotator"])["share"]
    own, agreeing = means[means["dimension"] == dimension].set_index("annotator"), means.loc[means["same"], "mean"]
    for person, label in itertools.product(*_off(share)):
        others = share.loc[label, [name for name in _PEOPLE if name != person]].sum()
        reasons = [
            f"the column sums to {share[person].sum():.3f}",
            f"leaves {1 - share[person].drop(label).sum():.3f} for this cell",
            f"the row's average {texts[label, 'average']} needs {3 * share.at[label, 'average'] - others:.3f}",
        ]
        if not own.at[person, "same"]:
            reasons.append(
                f"weighing the means of Table {TABLES[dimension].means} gives a mean z of "
                f"{own.at[person, 'mean']:.3f}, all other columns {agreeing.min():.3f} to {agreeing.max():.3f}"
            )
        yield f"Table {number}", f"{person}, {label}", texts[label, person], "; ".join(reasons)


def kappas(tables: Mapping[int, pd.DataFrame], dimension: str) -> Iterator[Misprint]:
    """List pairs whose κ, concordance and shares cannot hold together."""
    for row in implied_kappas(tables, dimension).itertuples():
        if not reachable(row.printed, row.low, row.high):
            evidence = (
                f"with the shares of Table {TABLES[dimension].shares}, r = {row.concordance} gives κ between "
                f"{row.low:.4f} and {row.high:.4f}; κ = {row.printed} needs r = {row.needed:.3f}"
            )
            yield "Table 8", f"{dimension}, {row.pair}", f"κ {row.printed}, r {row.concordance}", evidence


def matrix(tables: Mapping[int, pd.DataFrame], dimension: str) -> Iterator[Misprint]:
    """Compare the rows of a confusion matrix with the label counts of the test set."""
    numbers = TABLES[dimension]
    counts, square = pivot(tables[numbers.counts], "label", "split", "count")["test"], _square(tables, dimension)
    sizes, recalls = square.sum(axis=1), tables[numbers.scores].set_index("label")["recall"]
    for label, size in sizes[sizes != counts].items():
        own = square.at[label, label]
        evidence = (
            f"the row sums to {size:,}, Table {numbers.counts} counts {counts[label]:,} in the test set, and the "
            f"whole matrix holds {sizes.sum():,} instead of {_TESTED:,}; the recall of {recalls[label]} in Table "
            f"{numbers.scores} is {own / size:.4f} from this row, {own / counts[label]:.4f} from that count"
        )
        cells = " ".join(str(cell) for cell in square.loc[label])
        yield f"Table {numbers.confusion}", f"row {label}", cells, evidence


def _square(tables: Mapping[int, pd.DataFrame], dimension: str) -> pd.DataFrame:
    """Pivot a confusion matrix, true labels down."""
    table = pivot(tables[TABLES[dimension].confusion], "true", "predicted", "count")
    return table.loc[:, table.index].astype(int)


def _distant(tables: Mapping[int, pd.DataFrame]) -> Iterator[Misprint]:
    """Count the distant errors that the prose lists; where the sum is another, look for one pair that was meant."""
    square, (printed, share) = _square(tables, "fluency"), DISTANT_PRINTED
    count = sum(int(square.at[pair]) for pair in DISTANT)
    percent = 100 * count / _TESTED
    if count == printed and reachable(share[:-1], percent, percent):
        return
    meant = [
        f"{wrong[0]} → {other} ({square.at[wrong[0], other]}) in place of {wrong[1]} ({square.at[wrong]})"
        for wrong in DISTANT
        for other in categories("fluency")
        if other != wrong[0]
        and (wrong[0], other) not in DISTANT
        and count - square.at[wrong] + square.at[wrong[0], other] == printed
    ]
    why = f"; {' or '.join(meant)} would give {printed}" if meant else ""
    evidence = f"the pairs listed sum to {count} in Table 11, {percent:.2f}%{why}"
    yield "section 5.2", "distant errors in fluency", f"{printed} ({share})", evidence


def _excellent(tables: Mapping[int, pd.DataFrame]) -> Iterator[Misprint]:
    """Count how many of the hypotheses predicted Excellent are Excellent or Good."""
    said, (good, all_of, share) = _square(tables, "adequacy")["Excellent"], GOOD_PRINTED
    count, total = int(said[["Excellent", "Good"]].sum()), int(said.sum())
    percent = 100 * count / total
    if (count, total) != (good, all_of) or not reachable(share[:-1], percent, percent):
        evidence = f"Table 13 has {said['Excellent']} Excellent and {said['Good']} Good, {count} of {total}"
        where = "predicted Excellent in adequacy"
        yield "section 5.2", where, f"{share} ({good} out of {all_of})", f"{evidence} or {percent:.1f}%"


def _lower_in_fluency(tables: Mapping[int, pd.DataFrame]) -> Iterator[Misprint]:
    """Compare the sentence that agreement was lower in fluency than in adequacy with every cell of Table 8."""
    wide = tables[8].set_index(["statistic", "pair", "dimension"])["value"].unstack("dimension")
    evidence = "section 4.3.3 calls agreement in fluency lower than in adequacy; in these cells it is higher"
    for (statistic, pair), row in wide.iterrows():
        if float(row["fluency"]) >= float(row["adequacy"]):
            cells = f"fluency {row['fluency']}, adequacy {row['adequacy']}"
            yield "Table 8", f"{pair}, {statistic}", cells, evidence


def _higher_standard(tables: Mapping[int, pd.DataFrame]) -> Iterator[Misprint]:
    """Compare the sentence that B had a higher standard in fluency, so higher means at every label, with Table 6."""
    for label, row in pivot(tables[6], "label", "annotator", "mean").iterrows():
        if row["B"] <= max(row["A"], row["C"]):
            evidence = "section 4.3.2 says that B had a higher standard than the others; for the same label "
            evidence += f"A has {row['A']:.3f} and C {row['C']:.3f}"
            yield "Table 6", f"B, {label}", f"{row['B']:.3f}", evidence


def _case(tables: Mapping[int, pd.DataFrame]) -> Iterator[Misprint]:
    """Compare the fingerprint of Table 1's BLEU, which ignores case, with scores that only attention to case gives."""
    ignoring, heeding = (score_table1(tables[1], lowercase=lower).set_index("id")["bleu"] for lower in (True, False))
    for cell in tables[1].itertuples():
        without, with_case = ignoring[cell.id], heeding[cell.id]
        if not reachable(cell.bleu, without, without) and reachable(cell.bleu, with_case, with_case):
            evidence = f"the fingerprint case.lc (footnote 6) gives {without:.4f}, attention to case {with_case:.4f}"
            yield "Table 1", f"{cell.id}, bleu", cell.bleu, evidence
