"""Audit the printed tables of Sudoh et al. 2021 from their own cells, allowing for the rounding of every cell."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evalkit.papers.sudoh2021.challenge import compare_with_print
from evalkit.papers.sudoh2021.taxonomy import categories

_COLUMNS = ["table", "cell", "printed", "evidence"]
_PEOPLE = ("A", "B", "C")
_SHARES = {"fluency": 4, "adequacy": 5}
_MEANS = {"fluency": 6, "adequacy": 7}
_COUNTS = {"fluency": 9, "adequacy": 10}
_CONFUSION = {"fluency": 11, "adequacy": 13}
_SCORES = {"fluency": 12, "adequacy": 14}
_HALF = 0.5e-3  # shares, means, standard deviations and scores have three digits
_SLACK = 1e-9
#: Sizes of the splits, and what the prose counts in the confusion matrices (sections 5.1.1 and 5.2).
SIZES = {"train": 4824, "dev": 536, "test": 3920}
CORRECT = {"fluency": (2267, "0.578"), "adequacy": (2351, "0.600")}
#: The distant errors that section 5.2 lists, true -> predicted, and how many it counts.
DISTANT = (
    ("Incomprehensible", "Good"), ("Incomprehensible", "Fair"), ("Poor", "Excellent"), ("Good", "Incomprehensible"),
    ("Excellent", "Incomprehensible"), ("Excellent", "Poor"),
)  # fmt: skip
DISTANT_PRINTED = 17, "0.43%"
#: Of the hypotheses predicted Excellent in adequacy, how many section 5.2 calls Excellent or Good.
GOOD_PRINTED = 144, 154, "93.5%"


def misprints(tables: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """List what the printed tables and prose contradict by themselves: table, cell, printed, evidence (a sentence).

    tables: the transcriptions of Tables 1 and 4 to 14 by number, with cells as text. Every entry is recomputed from the
    cells, and a cell is listed only where no value within the rounding of all cells involved could agree with it.
    Caveat: where two cells contradict each other, both are named, for the print cannot tell which is wrong.
    """
    parts = [
        *(_shares(tables, dimension) for dimension in _SHARES),
        *(_kappas(tables, dimension) for dimension in _SHARES),
        *(_totals(tables, dimension) for dimension in _COUNTS),
        *(_matrix(tables, dimension) for dimension in _CONFUSION),
        *(_scores(tables, dimension) for dimension in _SCORES),
        _distant(tables),
        _excellent(tables),
        _lower_in_fluency(tables),
        _higher_standard(tables),
        _case(tables),
    ]
    return pd.DataFrame([row for part in parts for row in part], columns=_COLUMNS)


def overall(tables: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """Weigh each annotator's printed DA means by their printed shares: the mean z of all rows, which all share.

    Returns dimension, annotator, mean, low, high (what rounding allows) and same: whether it can be equal to that of
    most of the others.
    """
    rows = []
    for dimension in _SHARES:
        share = _wide(tables[_SHARES[dimension]], "label", "annotator", "share")
        mean = _wide(tables[_MEANS[dimension]], "label", "annotator", "mean")
        for person in _PEOPLE:
            p, m = share[person], mean[person].reindex(share.index)
            width = (_HALF * (m.abs() + p + _HALF)).sum()
            middle = float((p * m).sum())
            rows.append((dimension, person, middle, middle - width, middle + width))
    found = pd.DataFrame(rows, columns=["dimension", "annotator", "mean", "low", "high"])
    centre = found["mean"].median()
    return found.assign(same=(found["low"] <= centre) & (centre <= found["high"]))


def implied_kappas(tables: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    r"""Compute κ from the printed concordance and the printed shares: dimension, pair, printed, kappa, low, high, r.

    .. math:: \kappa = \frac{r - p_e}{1 - p_e}, \qquad p_e = \sum_k p_k q_k

    low and high are what the rounding of the concordance and of all shares allows. ``needed`` is the concordance that
    the printed κ needs. A share that contradicts its own column is replaced by what the column leaves for it.
    """
    rows = []
    for dimension, number in _SHARES.items():
        share = _mended(tables[number])
        cells = tables[8][tables[8]["dimension"] == dimension].pivot(index="pair", columns="statistic", values="value")
        for pair, cell in cells.iterrows():
            p, q = (share[person] for person in pair.split("-"))
            chance, width = float((p * q).sum()), float((_HALF * (p + q) + _HALF**2).sum())
            r, kappa = float(cell["concordance"]), float(cell["kappa"])
            # κ falls with chance agreement and rises with concordance, so its extremes lie at the corners
            low, high = (_beyond(r + side * 0.5e-4, chance - side * width) for side in (-1, 1))
            rows.append((dimension, pair, cell["kappa"], _beyond(r, chance), low, high, cell["concordance"],
                         kappa * (1 - chance) + chance))  # fmt: skip
    return pd.DataFrame(rows, columns=["dimension", "pair", "printed", "kappa", "low", "high", "concordance", "needed"])


def _beyond(r: float, chance: float) -> float:
    return (r - chance) / (1 - chance)


def _wide(table: pd.DataFrame, index: str, columns: str, value: str) -> pd.DataFrame:
    """Lay numbers out as a matrix in the order of print."""
    numbers = table.assign(number=pd.to_numeric(table[value].str.replace(",", "")))
    matrix = numbers.pivot(index=index, columns=columns, values="number")
    return matrix.loc[table[index].unique(), table[columns].unique()]


def _off(share: pd.DataFrame) -> tuple[list[str], list[str]]:
    """List the annotators whose shares cannot sum to 1, and the labels whose average is not that of the cells."""
    sums = share[list(_PEOPLE)].sum()
    people = sums.index[(sums - 1).abs() > _HALF * len(share) + _SLACK].tolist()
    apart = (share["average"] - share[list(_PEOPLE)].mean(axis=1)).abs()
    return people, apart.index[apart > 2 * _HALF + _SLACK].tolist()


def _mended(table: pd.DataFrame) -> pd.DataFrame:
    """Replace a share that both its column and its row contradict by what its column leaves."""
    share = _wide(table, "label", "annotator", "share")
    people, labels = _off(share)
    if len(people) == len(labels) == 1:
        share.loc[labels[0], people[0]] = 1 - share[people[0]].drop(labels[0]).sum()
    return share


def _shares(tables: Mapping[int, pd.DataFrame], dimension: str) -> list[tuple]:
    """Hold the sums of the columns against 1, averages against their row, implied mean scores against each other."""
    number = _SHARES[dimension]
    share, means = _wide(tables[number], "label", "annotator", "share"), overall(tables)
    texts = tables[number].set_index(["label", "annotator"])["share"]
    people, labels = _off(share)
    own = means[means["dimension"] == dimension].set_index("annotator")
    agreeing = means.loc[means["same"], "mean"]
    rows = []
    for person in sorted({*people, *own.index[~own["same"]]}):
        told = [f"the column sums to {share[person].sum():.3f}"] if person in people else []
        cells = [label for label in labels if person in people] or ["all labels"]
        for label in cells:
            more = list(told)
            if label in share.index:
                more.append(f"leaves {1 - share[person].drop(label).sum():.3f} for this cell")
                others = share.loc[label, [name for name in _PEOPLE if name != person]].sum()
                more.append(
                    f"the row's average {texts[label, 'average']} needs {3 * share.at[label, 'average'] - others:.3f}"
                )
            if not own.at[person, "same"]:
                implied, others = own.at[person, "mean"], f"{agreeing.min():.3f} to {agreeing.max():.3f}"
                weighed = f"weighing the means of Table {_MEANS[dimension]} gives a mean z of {implied:.3f}"
                more.append(f"{weighed}, all other columns {others}")
            shown = texts[label, person] if label in share.index else f"{share[person].sum():.3f} in sum"
            rows.append((f"Table {number}", f"{person}, {label}", shown, "; ".join(more)))
    if not people:
        means = share[list(_PEOPLE)].mean(axis=1)
        rows += [(f"Table {number}", f"average, {label}", texts[label, "average"],
                  f"the three cells average {means[label]:.4f}") for label in labels]  # fmt: skip
    return rows


def _kappas(tables: Mapping[int, pd.DataFrame], dimension: str) -> list[tuple]:
    """List pairs whose κ, concordance and shares cannot hold together."""
    found = implied_kappas(tables)
    found = found[found["dimension"] == dimension]
    half = 0.5e-4 + _SLACK
    value = found["printed"].astype(float)
    wrong = found[(value < found["low"] - half) | (value > found["high"] + half)]
    return [("Table 8", f"{dimension}, {row.pair}", f"κ {row.printed}, r {row.concordance}",
             f"with the shares of Table {_SHARES[dimension]}, r = {row.concordance} gives κ between {row.low:.4f} and "
             f"{row.high:.4f}; κ = {row.printed} needs r = {row.needed:.3f}")
            for row in wrong.itertuples()]  # fmt: skip


def _totals(tables: Mapping[int, pd.DataFrame], dimension: str) -> list[tuple]:
    """Hold the sums of label counts against the sizes of the splits."""
    number = _COUNTS[dimension]
    sums = _wide(tables[number], "label", "split", "count").sum()
    return [(f"Table {number}", f"{split}, sum", f"{size:,}", f"the counts sum to {sums[split]:,}")
            for split, size in SIZES.items() if sums[split] != size]  # fmt: skip


def _matrix(tables: Mapping[int, pd.DataFrame], dimension: str) -> list[tuple]:
    """Hold a confusion matrix against the label counts of the test set, the correct predictions and the accuracy."""
    number, counts = _CONFUSION[dimension], _wide(tables[_COUNTS[dimension]], "label", "split", "count")["test"]
    matrix = _square(tables[number])
    rows, total = [], int(matrix.to_numpy().sum())
    for label, size in matrix.sum(axis=1).items():
        if size != counts[label]:
            hits, printed = matrix.at[label, label], tables[_SCORES[dimension]].set_index("label").at[label, "recall"]
            rows.append((f"Table {number}", f"row {label}", " ".join(str(cell) for cell in matrix.loc[label]),
                         f"the row sums to {size:,}, Table {_COUNTS[dimension]} counts {counts[label]:,} in the test "
                         f"set, and the whole matrix holds {total:,} instead of {SIZES['test']:,}; the recall of "
                         f"{printed} in Table {_SCORES[dimension]} is {hits / size:.4f} from this row, "
                         f"{hits / counts[label]:.4f} from that count"))  # fmt: skip
    hits, (correct, accuracy) = int(np.diag(matrix).sum()), CORRECT[dimension]
    if hits != correct:
        rows.append((f"Table {number}", "correct predictions", f"{correct:,}", f"the diagonal sums to {hits:,}"))
    if abs(correct / SIZES["test"] - float(accuracy)) > _HALF + _SLACK:
        share = correct / SIZES["test"]
        rows.append((f"Table {number}", "accuracy", accuracy, f"{correct:,} of {SIZES['test']:,} is {share:.4f}"))
    return rows


def _square(table: pd.DataFrame) -> pd.DataFrame:
    matrix = _wide(table, "true", "predicted", "count")
    return matrix.loc[:, matrix.index].astype(int)


def _scores(tables: Mapping[int, pd.DataFrame], dimension: str) -> list[tuple]:
    """Hold precision, recall, F1 and their averages against the confusion matrix."""
    number, matrix = _SCORES[dimension], _square(tables[_CONFUSION[dimension]])
    hits, true, said = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    computed = pd.DataFrame({"precision": hits / said, "recall": hits / true, "f1": 2 * hits / (true + said)})
    computed.loc["average"] = computed.mean()
    printed = tables[number].set_index("label").loc[computed.index, computed.columns]
    apart = (computed - printed.astype(float)).abs() > _HALF + _SLACK
    return [(f"Table {number}", f"{label}, {name}", printed.at[label, name],
             f"the counts of Table {_CONFUSION[dimension]} give {computed.at[label, name]:.4f}")
            for label in computed.index for name in computed.columns if apart.at[label, name]]  # fmt: skip


def _distant(tables: Mapping[int, pd.DataFrame]) -> list[tuple]:
    """Count the distant errors that the prose lists; where the sum is another, look for one pair that was meant."""
    matrix, (printed, share) = _square(tables[11]), DISTANT_PRINTED
    count = sum(int(matrix.at[pair]) for pair in DISTANT)
    if count == printed and abs(100 * count / SIZES["test"] - float(share[:-1])) <= 0.005 + _SLACK:
        return []
    names = categories("fluency")
    meant = [
        f"{wrong[0]} → {other} ({matrix.at[wrong[0], other]}) in place of {wrong[1]} ({matrix.at[wrong]})"
        for wrong in DISTANT for other in names
        if other != wrong[0] and (wrong[0], other) not in DISTANT
        and count - matrix.at[wrong] + matrix.at[wrong[0], other] == printed
    ]  # fmt: skip
    why = f"; {' or '.join(meant)} would give {printed}" if meant else ""
    sentence = f"the pairs listed sum to {count} in Table 11, {100 * count / SIZES['test']:.2f}%{why}"
    return [("section 5.2", "distant errors in fluency", f"{printed} ({share})", sentence)]


def _excellent(tables: Mapping[int, pd.DataFrame]) -> list[tuple]:
    """Count how many of the hypotheses predicted Excellent are Excellent or Good."""
    said, (good, all_of, share) = _square(tables[13])["Excellent"], GOOD_PRINTED
    count, total = int(said[["Excellent", "Good"]].sum()), int(said.sum())
    if (count, total) == (good, all_of) and abs(100 * count / total - float(share[:-1])) <= 0.05 + _SLACK:
        return []
    cells = f"Table 13 has {said['Excellent']} Excellent and {said['Good']} Good, {count} of {total}"
    cells = f"{cells} or {100 * count / total:.1f}%"
    return [("section 5.2", "predicted Excellent in adequacy", f"{share} ({good} out of {all_of})", cells)]


def _lower_in_fluency(tables: Mapping[int, pd.DataFrame]) -> list[tuple]:
    """Hold the sentence that agreement was lower in fluency than in adequacy against every cell of Table 8."""
    wide = tables[8].set_index(["statistic", "pair", "dimension"])["value"].unstack("dimension")
    return [("Table 8", f"{pair}, {statistic}", f"fluency {row['fluency']}, adequacy {row['adequacy']}",
             "section 4.3.3 calls agreement in fluency lower than in adequacy; in these cells it is higher")
            for (statistic, pair), row in wide.iterrows()
            if float(row["fluency"]) >= float(row["adequacy"])]  # fmt: skip


def _higher_standard(tables: Mapping[int, pd.DataFrame]) -> list[tuple]:
    """Hold the sentence that B had a higher standard in fluency, so higher DA means at every label, against Table 6."""
    mean = _wide(tables[6], "label", "annotator", "mean")
    return [("Table 6", f"B, {label}", f"{row['B']:.3f}",
             "section 4.3.2 says that B had a higher standard than the others; for the same label "
             f"A has {row['A']:.3f} and C {row['C']:.3f}")
            for label, row in mean.iterrows() if row["B"] <= max(row["A"], row["C"])]  # fmt: skip


def _case(tables: Mapping[int, pd.DataFrame]) -> list[tuple]:
    """Hold the fingerprint of Table 1's BLEU, which ignores case, against scores that only attention to case gives."""
    ignoring, heeding = (compare_with_print(tables[1], lowercase=lower).set_index("cell") for lower in (True, False))
    rows = []
    for cell in [name for name in ignoring.index if name.endswith(", bleu")]:
        printed = ignoring.at[cell, "printed"]
        half = 0.5 * 10.0 ** -len(printed.partition(".")[2]) + _SLACK
        without, with_case = ignoring.at[cell, "computed"], heeding.at[cell, "computed"]
        if abs(without - float(printed)) > half >= abs(with_case - float(printed)):
            told = f"the fingerprint case.lc (footnote 6) gives {without:.4f}, attention to case {with_case:.4f}"
            rows.append(("Table 1", cell, printed, told))
    return rows
