"""Lay out what is computed as ``sudoh2021.toml`` and the list of claims compare it with print, and score Table 1.

The paper's Table 1 is a small challenge set: does a metric put a harmless paraphrase above every critical error?
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError, data
from evalkit.data.languages import CODES
from evalkit.metrics.lexical import exact
from evalkit.papers.sudoh2021 import classification, reduction
from evalkit.papers.sudoh2021.labels import shares
from evalkit.papers.sudoh2021.taxonomy import CRITICAL, KEY, TABLES, categories
from evalkit.stats.verdicts import half, verdict

#: What is wrong with the hypotheses of Table 1, hyp1 to hyp9, in the words of section 3.
PHENOMENA = (
    *("paraphrase", "unit", "unit", "negation", "number"),
    *("named entity", "named entity", "shuffled words", "unrelated"),
)
#: The word without which the printed BLEU of these comes out, and with which it does not. The caption speaks of
#: strikethroughs, which the plain text of the page does not show.
STRUCK = {"hyp1": " situated", "hyp3": " situated"}
METRICS = ("bleu", "chrf", "bertscore", "bleurt")
#: Ways to read Table 1: options of ``score_table1``. The first is what print follows.
READINGS: dict[str, dict[str, bool]] = {
    "with attention to case, without the struck word": {},
    "in lower case, without the struck word": {"lowercase": True},
    "with attention to case, with the struck word": {"struck": False},
}
#: The distant errors that section 5.2 lists: true -> predicted.
DISTANT = (
    *(("Incomprehensible", "Good"), ("Incomprehensible", "Fair"), ("Poor", "Excellent")),
    *(("Good", "Incomprehensible"), ("Excellent", "Incomprehensible"), ("Excellent", "Poor")),
)
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

    texts = printed.set_index("id")["hypothesis"]
    left_out = STRUCK if struck else {}
    said = {name: text.replace(left_out.get(name, "\0"), "", 1) for name, text in texts.items()}
    bleu = BLEU(lowercase=lowercase, smooth_method="exp", tokenize="13a", effective_order=True)
    chrf = CHRF(lowercase=lowercase, char_order=6, word_order=0, beta=2, whitespace=False)
    meant = [texts["ref"]]
    phenomena = {f"hyp{number}": name for number, name in enumerate(PHENOMENA, 1)}
    return pd.DataFrame(
        {
            "id": list(said),
            "reference": texts["ref"],
            "hypothesis": list(said.values()),
            "harmless": ["" if name == "ref" else _YES[name == "hyp1"] for name in said],
            "phenomenon": [phenomena.get(name, "") for name in said],
            "bleu": [exact(bleu.sentence_score(text, meant), effective=True) / 100 for text in said.values()],
            "chrf": [chrf.sentence_score(text, meant).score / 100 for text in said.values()],
            "bertscore": printed["bertscore"].astype(float).to_numpy(),
            "bleurt": printed["bleurt"].astype(float).to_numpy(),
        }
    )


def preferred(challenges: pd.DataFrame, *, metrics: Sequence[str] = METRICS) -> pd.DataFrame:
    """Tell which metric puts each reference's worst harmless hypothesis above its harmful ones.

    challenges: id, reference, harmless (yes or no; other rows are left out), phenomenon, and a column of scores per
    metric, higher is better: of Table 1 or your own.
    Returns metric, id, phenomenon, harmful (its score), harmless (the lowest one of its reference), preferred (yes
    where harmless is higher, tie where they are equal, no elsewhere).
    """
    if lacking := [name for name in metrics if name not in challenges]:
        raise DataError(f"The challenge set has no scores {lacking[0]!r}. Add a column with that name.")
    parts = []
    for metric in metrics:
        least = challenges[challenges["harmless"] == "yes"].groupby("reference")[metric].min()
        own = challenges.loc[challenges["harmless"] == "no", ["id", "phenomenon", "reference", metric]]
        own = own.assign(metric=metric, harmful=own[metric], harmless=own["reference"].map(least))
        if own["harmless"].isna().any():
            raise DataError(
                "Every reference of a challenge set needs a harmless hypothesis. Add one, or drop the rest."
            )
        kinds = [own["harmless"] > own["harmful"], own["harmless"] == own["harmful"]]
        parts.append(own.assign(preferred=np.select(kinds, ["yes", "tie"], "no")))
    return pd.concat(parts)[["metric", "id", "phenomenon", "harmful", "harmless", "preferred"]].reset_index(drop=True)


def readings(printed: pd.DataFrame) -> pd.DataFrame:
    """Count the cells of BLEU and chrF that come out under each reading of Table 1: reading, cells, matches."""
    rows = []
    for name, options in READINGS.items():
        ours = score_table1(printed, **options)
        cells = [pair for metric in ("bleu", "chrf") for pair in zip(printed[metric], ours[metric])]
        rows.append((name, len(cells), [verdict(*cell) for cell in cells].count("match")))
    return pd.DataFrame(rows, columns=["reading", "cells", "matches"])


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
    network = [classification.printed_confusion(printed[t.confusion], dimension=d) for d, t in TABLES.items()]
    return {
        "table1": under_readings(printed[1]),
        "shares": whole(pd.concat([shares, averages]), ["share"], complete),
        "means": whole(means.drop(columns="n").rename(columns={"of": "n"}), ["mean", "sd"], complete),
        "pairs": whole(kinds, ["value"], complete),
        "counts": pd.concat([reduction.counts(one) for one in releases]),
        "network": classification.scores(pd.concat(network)),
    }


def whole(table: pd.DataFrame, values: Sequence[str], complete: int) -> pd.DataFrame:
    """Copy values of those who labelled all translations."""
    return table.assign(**{f"whole_{name}": table[name].where(table["n"] >= complete) for name in values})


def under_readings(printed: pd.DataFrame) -> pd.DataFrame:
    """Score Table 1 under its readings: id, metric, score, lower, whole, and whether case and the word matter."""
    sides = []
    for name, options in zip(["score", "lower", "whole"], READINGS.values()):
        table = score_table1(printed, **options).melt("id", ["bleu", "chrf"], var_name="metric", value_name=name)
        sides.append(table.set_index(["id", "metric"]))
    both = pd.concat(sides, axis=1).reset_index()
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
    matrices = pd.DataFrame([_matrix(name, printed[numbers.confusion]) for name, numbers in TABLES.items()])
    percent = matrices["accuracy"].mul(100).round(-1).astype(int).unique()
    return {
        "preferred": preferred(one),
        "lowest": pd.DataFrame(lowest).rename_axis("metric").reset_index(),
        "table1": values[["bertscore", "bleurt"]].idxmin(axis=1).rename("lower").reset_index(),
        "same": same.to_frame().T,
        "matrices": matrices,
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


def _matrix(dimension: str, table: pd.DataFrame) -> dict[str, object]:
    """Count what the prose says about a printed confusion matrix."""
    confused = classification.printed_confusion(table, dimension=dimension)
    cells = confused.set_index(["true", "predicted"])["count"]
    own = classification.summary(confused).iloc[0]
    called_excellent = cells.xs("Excellent", level="predicted")
    excellent, good = called_excellent.sum(), called_excellent[["Excellent", "Good"]].sum()
    distant = sum(cells.get(pair, 0) for pair in DISTANT)
    harmless = [name for name in categories(dimension) if name in ("Fair", "Good", "Excellent")]
    pairs = [(bad, fine) for bad in CRITICAL for fine in harmless if (bad, fine) in cells]
    worst = max(pairs, key=lambda pair: cells[pair] + cells[pair[::-1]], default=())
    return {
        "dimension": dimension,
        "correct": round(own["accuracy"] * own["n"]),
        "total": own["n"],
        "accuracy": own["accuracy"],
        "adjacent": "most" if own["adjacent"] > 0.5 else "not most",
        "distant": distant,
        "distant_percent": 100 * distant / own["n"],
        "predicted_excellent": excellent,
        "excellent_good": good,
        "excellent_good_percent": 100 * good / excellent,
        "commonest": " and ".join(worst),
    }


def unprinted_rows(labelled: pd.DataFrame, printed: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """Search for single rows without which a mean and its deviation become the printed ones.

    labelled: as ``joined`` makes it. printed: Tables 6 and 7 by number. For each label of each annotator with all rows
    whose mean or deviation differs from print, rows are left out one at a time.
    Returns one row per translation that corrects most such cells: KEY, cells (which it corrects), mends (how many), of
    (how many differ), hypothesis, reference, z; empty where none corrects two.
    Caveat: what corrects a rounded number need not be what happened. Read it as a hint where the labels look wrong.
    """
    whole, corrected, differing = len(labelled.drop_duplicates(KEY)), [], 0
    people = dict(iter(labelled.groupby(["dimension", "annotator"])))
    for dimension, numbers in TABLES.items():
        for cell in printed[numbers.means].itertuples():
            person = people.get((dimension, cell.annotator), labelled[:0])
            rows = person[person["label"] == cell.label]
            z = rows["z"].to_numpy()
            if len(person) < whole or len(z) < 3 or _rounds_to(z.mean(), z.std(), cell):
                continue
            differing += 1
            mean = (z.sum() - z) / (len(z) - 1)
            sd = np.sqrt(np.maximum(((z**2).sum() - z**2) / (len(z) - 1) - mean**2, 0))
            corrected.append(
                rows[_rounds_to(mean, sd, cell)].assign(cells=f"{dimension} {cell.annotator} {cell.label}")
            )
    columns = [*KEY, "cells", "mends", "of", "hypothesis", "reference", "z"]
    if not corrected:
        return pd.DataFrame(columns=columns)
    table = pd.concat(corrected).groupby([*KEY, "hypothesis", "reference", "z"], sort=False)["cells"]
    table = table.agg(cells="; ".join, mends="size").reset_index()
    best = table[(table["mends"] == table["mends"].max()) & (table["mends"] > 1)]
    return best.assign(of=differing)[columns].reset_index(drop=True)


def _rounds_to(mean: float | np.ndarray, sd: float | np.ndarray, cell) -> np.ndarray:
    """Tell which means and deviations round to the printed ones."""
    sides = ((mean, cell.mean), (sd, cell.sd))
    return np.logical_and(*(np.abs(value - float(text)) <= half(text) + 1e-9 for value, text in sides))
