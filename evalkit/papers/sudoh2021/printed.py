"""Sudoh et al. 2021 in print: what is computed laid out beside it, Table 1 scored, tables audited from their own cells.

``sudoh2021.toml`` and the list of claims compare what is laid out here with print. ``misprints`` allows for the
rounding of every cell.

The paper's Table 1 is a small challenge set: does a metric put a harmless paraphrase above every critical error?
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit import data
from evalkit.data.languages import CODES
from evalkit.metrics.lexical import exact
from evalkit.papers.claims import pivot
from evalkit.papers.sudoh2021 import classification, reduction
from evalkit.papers.sudoh2021.labels import CRITICAL, KEY, TABLES, categories, shares
from evalkit.stats.verdicts import half, reachable

#: What is wrong with the hypotheses of Table 1, hyp1 to hyp9, in the words of section 3.
PHENOMENA = (
    *("paraphrase", "unit", "unit", "negation", "number"),
    *("named entity", "named entity", "shuffled words", "unrelated"),
)
#: The word without which the printed BLEU of these comes out, and with which it does not. The caption speaks of
#: strikethroughs, which the plain text of the page does not show.
STRUCK = {"hyp1": " situated", "hyp3": " situated"}
METRICS = ("bleu", "chrf", "bertscore", "bleurt")
#: Ways to read Table 1, as options of ``score_table1``: what print follows, lower case, and with the struck word.
READINGS: dict[str, dict[str, bool]] = {"score": {}, "lower": {"lowercase": True}, "whole": {"struck": False}}
#: The distant errors that section 5.2 lists: true -> predicted.
DISTANT = (
    *(("Incomprehensible", "Good"), ("Incomprehensible", "Fair"), ("Poor", "Excellent")),
    *(("Good", "Incomprehensible"), ("Excellent", "Incomprehensible"), ("Excellent", "Poor")),
)
Misprint = tuple[str, str, str, str]
_PEOPLE = ("A", "B", "C")
_HALF = 0.5e-3  # shares, means and standard deviations have three digits
_SLACK = 1e-9
_YES = {True: "yes", False: "no"}


def tables() -> dict[int, pd.DataFrame]:
    """Return the transcribed Tables 1 and 4 to 14 by number."""
    return {number: data.published(f"sudoh2021_table{number}") for number in (1, *range(4, 15))}


def score_table1(printed: pd.DataFrame, *, lowercase: bool = False, struck: bool = True) -> pd.DataFrame:
    """Score the hypotheses of Table 1 and its reference, as a challenge set.

    printed: the transcription. struck: leave out the word that is struck through in hyp1 and hyp3, as the scoring did;
    False keeps what plain text shows. BLEU-4 of the sentence with exponential smoothing on 13a tokens and effective
    order, chrF2 of up to 6 characters without spaces, both sacrebleu's (1.4.8, which the paper used, scores Table 1 the
    same with these settings).
    Returns id, reference, hypothesis, harmless (yes, no, or empty for the reference itself), phenomenon, and METRICS;
    of these bleu and chrf are computed (0-1), the others as printed.
    Caveat: BLEU of one short sentence is mostly smoothing and length.
    """
    from sacrebleu.metrics import BLEU, CHRF

    table = printed.rename(columns={"hypothesis": "text"}).astype({"bertscore": float, "bleurt": float})
    meant = table.set_index("id").at["ref", "text"]
    left_out = STRUCK if struck else {}
    said = [text.replace(left_out.get(name, "\0"), "", 1) for name, text in zip(table["id"], table["text"])]
    bleu = BLEU(lowercase=lowercase, smooth_method="exp", tokenize="13a", effective_order=True)
    chrf = CHRF(lowercase=lowercase, char_order=6, word_order=0, beta=2, whitespace=False)
    phenomena = {f"hyp{number}": name for number, name in enumerate(PHENOMENA, 1)}
    table = table.assign(
        reference=meant,
        hypothesis=said,
        harmless=table["id"].eq("hyp1").map(_YES).where(table["id"].ne("ref"), ""),
        phenomenon=table["id"].map(phenomena).fillna(""),
        bleu=[exact(bleu.sentence_score(text, [meant]), effective=True) / 100 for text in said],
        chrf=[chrf.sentence_score(text, [meant]).score / 100 for text in said],
    )
    return table[["id", "reference", "hypothesis", "harmless", "phenomenon", *METRICS]]


def preferred(challenges: pd.DataFrame, *, metrics: Sequence[str] = METRICS) -> pd.DataFrame:
    """Tell which metric puts each reference's worst harmless hypothesis above its harmful ones.

    challenges: id, reference, harmless (yes or no; other rows are left out), phenomenon, and a column of scores per
    metric, higher is better: of Table 1 or your own.
    Returns metric, id, phenomenon, harmful (its score), harmless (the lowest one of its reference), preferred (yes
    where harmless is higher, tie where they are equal, no elsewhere).
    """
    parts = []
    for metric in metrics:
        least = challenges[challenges["harmless"] == "yes"].groupby("reference")[metric].min()
        own = challenges.loc[challenges["harmless"] == "no", ["id", "phenomenon", "reference", metric]]
        own = own.assign(metric=metric, harmful=own[metric], harmless=own["reference"].map(least))
        kinds = [own["harmless"] > own["harmful"], own["harmless"] == own["harmful"]]
        parts.append(own.assign(preferred=np.select(kinds, ["yes", "tie"], "no")))
    return pd.concat(parts)[["metric", "id", "phenomenon", "harmful", "harmless", "preferred"]].reset_index(drop=True)


def computed(
    printed: Mapping[int, pd.DataFrame],
    *,
    shares: pd.DataFrame,
    means: pd.DataFrame,
    pairs: pd.DataFrame,
    releases: Iterable[reduction.Release],
    complete: int,
) -> dict[str, pd.DataFrame]:
    """Make the tables that ``claims.compare("sudoh2021", ...)`` looks up.

    printed: as ``tables`` gives them. shares, means, pairs: the results of ``shares``, ``da_by_label`` and ``pairwise``
    of ``labels``. releases: of both dimensions. complete: translations of the whole corpus; what rests on fewer has no
    value in the columns that begin with whole.
    """
    averages = shares.groupby(["dimension", "label"], sort=False).agg(share=("share", "mean"), n=("n", "min"))
    averages = averages.reset_index().assign(annotator="average", rows="each annotator's rows")
    kinds = pairs.melt(["dimension", "pair", "n", "rows"], ["kappa", "concordance"], var_name="statistic")
    return {
        "table1": under_readings(printed[1]),
        "shares": whole(pd.concat([shares, averages]), ["share"], complete),
        "means": whole(means.drop(columns="n").rename(columns={"of": "n"}), ["mean", "sd"], complete),
        "pairs": whole(kinds, ["value"], complete),
        "counts": pd.concat([reduction.counts(one) for one in releases]),
        "network": classification.scores(_network(printed)),
    }


def whole(table: pd.DataFrame, values: Sequence[str], complete: int) -> pd.DataFrame:
    """Copy values of those who labelled all translations."""
    return table.assign(**{f"whole_{name}": table[name].where(table["n"] >= complete) for name in values})


def under_readings(printed: pd.DataFrame) -> pd.DataFrame:
    """Score Table 1 under its readings: id, metric, score, lower, whole, and whether case and the word matter."""
    tables = {name: score_table1(printed, **options) for name, options in READINGS.items()}
    long = {name: table.melt("id", ["bleu", "chrf"], var_name="metric") for name, table in tables.items()}
    both = long["score"][["id", "metric"]].assign(**{name: table["value"] for name, table in long.items()})
    for kind, other in (("case", "lower"), ("word", "whole")):
        both[kind] = np.where((both[other] - both["score"]).abs() > 1e-9, "matters", "")
    return both


def claimed(
    labelled: pd.DataFrame,
    translations: pd.DataFrame,
    *,
    labels: pd.DataFrame,
    agreed: pd.DataFrame,
    means: pd.DataFrame,
    contrasts: pd.DataFrame,
    pairwise: pd.DataFrame,
    printed: Mapping[int, pd.DataFrame],
) -> dict[str, pd.DataFrame]:
    """Make the tables that the claims of ``sudoh2021_claims`` name.

    labelled: as ``joined`` makes it of labels and translations. agreed: the released agreed labels. means, contrasts,
    pairwise: results of the functions of the same names (``da_by_label`` for means). printed: the transcribed tables by
    number (1, 11 to 14), for sentences that speak of other numbers in print.
    """
    sizes = translations.groupby("doc").size().rename_axis("test_set").rename("translations")
    sizes["all"] = len(translations)
    people = labelled.groupby([*KEY, "dimension"])["annotator"].transform("nunique")
    common = shares(labelled[people.eq(labelled["annotator"].nunique())])
    common = common.pivot(index=["dimension", "label"], columns="annotator", values="share")
    groups = means.groupby(["dimension", "annotator"])["mean"], means.groupby(["dimension", "label"])["mean"]
    lowest, highest = means.loc[groups[0].idxmin()], means.loc[groups[1].idxmax()]
    kinds = pairwise.melt(["dimension", "pair"], ["kappa", "concordance"], var_name="statistic")
    kinds = kinds.pivot(index=["pair", "statistic"], columns="dimension", values="value")
    return print_tables(printed) | {
        "sizes": sizes.reset_index(),
        "languages": _languages(translations),
        "splits": translations.groupby("split").size().rename("translations").reset_index(),
        "people": labelled[["annotator"]].drop_duplicates(),
        "categories": labelled.groupby("dimension")["label"].nunique().rename("labels").reset_index(),
        "extremes": pd.DataFrame({"least": common.idxmin(axis=1), "most": common.idxmax(axis=1)}).reset_index(),
        "worst": lowest.rename(columns={"label": "worst"}),
        "orders": _orders(means),
        "standards": highest.rename(columns={"annotator": "highest"}),
        "contrasts": contrasts,
        "agreement": kinds.idxmin(axis=1).rename("lower").reset_index(),
        "settled": pd.concat([_settled(labels, agreed, name) for name in TABLES], ignore_index=True),
    }


def _languages(translations: pd.DataFrame) -> pd.DataFrame:
    """List the language pairs of each test set as the paper writes them, and how many translations each has."""
    written = {ours: theirs for theirs, ours in CODES.items()}
    table = translations.groupby(["doc", "src_lang", "tgt_lang"]).size().rename("n").reset_index()
    ours = table[["src_lang", "tgt_lang"]].replace(written)
    each = table.assign(pair=ours["src_lang"] + "-" + ours["tgt_lang"]).sort_values("pair").groupby("doc")
    found = each.agg(pairs=("pair", ", ".join), least=("n", "min"), most=("n", "max")).rename_axis("test_set")
    between = found["least"].astype(str) + " to " + found["most"].astype(str)
    return found.assign(translations=found["least"].where(found["least"].eq(found["most"]), between)).reset_index()


def _orders(means: pd.DataFrame) -> pd.DataFrame:
    """Say of each annotator whether the labels' mean scores have the order that they have for the first one."""
    found = means.dropna(subset="mean").sort_values("mean").groupby(["dimension", "annotator"])["label"].agg(" < ".join)
    found = found.rename("order").reset_index()
    return found.assign(same=found["order"].eq(found.groupby("dimension")["order"].transform("first")).map(_YES))


def _settled(labels: pd.DataFrame, agreed: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Say of each translation with three labels whether its released agreed label is the one of the stated rule.

    Returns dimension, kind (two or three alike, all differ), stated (yes or no).
    """
    distinct = labels[labels["dimension"] == dimension].groupby(KEY)["label"].nunique()
    released = agreed[agreed["dimension"] == dimension].set_index(KEY)["label"]
    stated = reduction.reduce(labels, rule="majority-else-worst", dimension=dimension).set_index(KEY)["label"]
    kind = distinct.reindex(stated.index).lt(3).map({True: "two or three alike", False: "all differ"})
    same = stated.eq(released.reindex(stated.index)).map(_YES)
    return pd.DataFrame({"kind": kind, "stated": same}).reset_index(drop=True).assign(dimension=dimension)


def print_tables(printed: Mapping[int, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Make the tables that claims about Table 1, the confusion matrices and their scores name.

    printed: the transcriptions of Tables 1 and 11 to 14 by number. Of Table 1, BLEU and chrF are computed, and
    BERTScore and BLEURT are the printed values.
    """
    one = score_table1(printed[1])
    values = one.set_index("id")[list(METRICS)]
    edited = values.loc[[f"hyp{number}" for number in range(1, 8)]]  # section 3 speaks of hyp8 and hyp9 apart
    first_two = edited.apply(lambda column: " and ".join(sorted(column.nsmallest(2).index)))
    lowest = {"one": edited.idxmin(), "two": first_two, "with_hyp8": values.loc["hyp1":"hyp8"].idxmin()}
    same = values.loc["hyp8"].round(1).eq(values.loc["hyp3"].round(1)).map({True: "the same", False: "another"})
    matrices = _network(printed)
    accuracy = classification.summary(matrices)
    percent = accuracy["accuracy"].mul(100).round(-1).astype(int).unique()
    return {
        "preferred": preferred(one),
        "lowest": pd.DataFrame(lowest).rename_axis("metric").reset_index(),
        "table1": values[["bertscore", "bleurt"]].idxmin(axis=1).rename("lower").reset_index(),
        "same": same.to_frame().T,
        "matrices": matrices,
        "accuracy": accuracy,
        "commonest": pd.DataFrame([{"labels": _commonest(matrices)}]),
        "around": pd.DataFrame([{"percent": percent[0] if len(percent) == 1 else " and ".join(map(str, percent))}]),
        "f1": pd.DataFrame([_by_f1(name, printed[numbers.scores]) for name, numbers in TABLES.items()]),
    }


def _by_f1(dimension: str, table: pd.DataFrame) -> dict[str, str]:
    """Name the labels with the highest and lowest printed F1, two in the order of print."""
    names = categories(dimension)
    order = table.set_index("label").loc[names, "f1"].astype(float).sort_values(kind="stable").index.tolist()
    two = {"highest_two": order[-2:], "lowest_two": order[:2]}
    words = {name: " and ".join(sorted(pair, key=names.index)) for name, pair in two.items()}
    return {"dimension": dimension, "highest": order[-1]} | words


def _network(printed: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """Lay the printed confusion matrices out as ``confusion`` does, with what the prose says of their cells.

    right: true and predicted are the same. listed: among the distant errors of section 5.2. percent: of all
    translations. of_predicted: per cent of those that are predicted so.
    """
    tables = [classification.printed_confusion(printed[t.confusion], dimension=d) for d, t in TABLES.items()]
    cells = pd.concat(tables, ignore_index=True)
    listed = pd.MultiIndex.from_frame(cells[["true", "predicted"]]).isin(DISTANT)
    each = cells.groupby("dimension")["count"], cells.groupby(["dimension", "predicted"])["count"]
    percent, of_predicted = (100 * cells["count"] / of.transform("sum") for of in each)
    right = cells["true"].eq(cells["predicted"])
    return cells.assign(right=right, listed=listed, percent=percent, of_predicted=of_predicted)


def _commonest(cells: pd.DataFrame) -> str:
    """Name the critical and the harmless label of adequacy that are most often taken for each other."""
    square = cells[cells["dimension"] == "adequacy"].pivot(index="true", columns="predicted", values="count")
    both = (square + square.T).loc[list(CRITICAL), ["Fair", "Good", "Excellent"]].stack()
    return " and ".join(both.idxmax())


# What print contradicts by itself


def misprints(tables: Mapping[int, pd.DataFrame]) -> Iterator[Misprint]:
    """Go through what the printed tables contradict by themselves: table, cell, printed, evidence (a sentence).

    tables: the transcriptions of Tables 1 and 4 to 14 by number, with cells as text. Every entry is recomputed from the
    cells, and a cell is listed only where no value within the rounding of all cells involved could agree with it. What
    follows from the confusion matrices is compared with print elsewhere, and ``claims.misprints`` adds it.
    Caveat: where two cells contradict each other, both are named, for the print cannot tell which is wrong.
    """
    for check in (_shares, _kappas):
        for dimension in TABLES:
            yield from check(tables, dimension)
    yield from _case(tables)


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


def _shares(tables: Mapping[int, pd.DataFrame], dimension: str) -> Iterator[Misprint]:
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


def _kappas(tables: Mapping[int, pd.DataFrame], dimension: str) -> Iterator[Misprint]:
    """List pairs whose κ, concordance and shares cannot hold together."""
    for row in implied_kappas(tables, dimension).itertuples():
        if not reachable(row.printed, row.low, row.high):
            evidence = (
                f"with the shares of Table {TABLES[dimension].shares}, r = {row.concordance} gives κ between "
                f"{row.low:.4f} and {row.high:.4f}; κ = {row.printed} needs r = {row.needed:.3f}"
            )
            yield "Table 8", f"{dimension}, {row.pair}", f"κ {row.printed}, r {row.concordance}", evidence


def _case(tables: Mapping[int, pd.DataFrame]) -> Iterator[Misprint]:
    """Compare the fingerprint of Table 1's BLEU, which ignores case, with scores that only attention to case gives."""
    ignoring, heeding = (score_table1(tables[1], lowercase=lower).set_index("id")["bleu"] for lower in (True, False))
    for cell in tables[1].itertuples():
        without, with_case = ignoring[cell.id], heeding[cell.id]
        if not reachable(cell.bleu, without, without) and reachable(cell.bleu, with_case, with_case):
            evidence = f"the fingerprint case.lc (footnote 6) gives {without:.4f}, attention to case {with_case:.4f}"
            yield "Table 1", f"{cell.id}, bleu", cell.bleu, evidence
