"""Compute the small tables that the paper's sentences are compared with."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from evalkit.data.indicmt import SHORT
from evalkit.data.typology import SCHEMES, TYPOLOGIES
from evalkit.human.mqm.agreement import formula_against_own
from evalkit.human.mqm.scores import KEY, category, errors_per_system
from evalkit.papers import transcribed
from evalkit.papers.sai2023.audit import KINDS, LANGUAGES, STATISTICS, insignificant, subset_means
from evalkit.papers.sai2023.search import single_errors
from evalkit.papers.sai2023.systems import common_sentences
from evalkit.papers.transcribed import pivot

#: How a column answers a question.
_YES = {True: "yes", False: "no"}

#: Kendall's tau between formula and annotators' own scores that the paper says is passed in all languages.
_CONSISTENT = 0.7


def claim_tables(ratings: pd.DataFrame, spans: pd.DataFrame, means: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables that the claims of ``sai2023_prose`` name, for IndicMT-Eval's judgements and errors.

    means: language, system and mean_score, of all judgements whose system is known.
    """
    language = ratings["tgt_lang"].astype("str").map(SHORT)
    judged = ratings.assign(language=language)
    marked = spans.assign(language=spans["tgt_lang"].astype("str").map(SHORT), category=category(spans))
    own = formula_against_own(ratings, resamples=0)
    return {
        "sizes": _sizes(judged),
        "own": own.assign(above=own["kendall_b"].gt(_CONSISTENT).map(_YES)),
        "own_scores": judged[["language", "own_score"]],
        "typology": _typology(),
        "commonest": _commonest(marked),
        "majority": _majority(marked),
        "models": _models(judged, marked),
        "best": _ranked(means),
        "order": _order(means),
        "weights": _weights(ratings, spans),
        "non_translations": _with(ratings, spans, "non-translation"),
        "source_errors": _with(ratings, spans, "source error").dropna(subset="score"),
        "counts": spans.astype(dict.fromkeys(KEY, "str")).groupby(KEY).size().rename("errors").reset_index(),
    }


def said_of_print(tables: Mapping[str, pd.DataFrame], *, annotated: int = 1400) -> dict[str, pd.DataFrame]:
    """Make the tables of printed cells that claims of ``sai2023_prose`` about them name.

    tables, annotated: as for ``misprints``. "print_best": the best metric of each kind, or of all, by language and
    statistic, in Table 1. "print_weak": its cells too small to be significant. "print_learned": Tables 3 and 4, where
    Indic-COMET-MQM beats COMET-MQM, and both baselines, and by how much. "print_subsets": means in Table 10.
    "print_systems": averages in Table 9, the highest first. "print_metrics": metrics of Table 1, variants of BLEU and
    COMET as one. "folds": what appendix B.2's numbers of segments, and of the carbon footprint, follow from.
    """
    first = tables["table1"]["metric"].unique()
    names = pd.Series(first).str.replace(r"^(BLEU|COMET)[ -].*", r"\1", regex=True)
    means = pd.to_numeric(tables["table9"].query("language == 'average'").set_index("system")["mean_score"])
    return {
        "print_best": _best(tables["table1"]),
        "print_weak": transcribed.misprints(insignificant(tables["table1"], annotated=annotated)),
        "print_learned": pd.concat([_learned(tables[name], name) for name in ("table3", "table4")]),
        "print_subsets": subset_means(tables["table10"]).assign(better=lambda t: t["accuracy"] > t["fluency"]),
        "print_systems": means.sort_values(ascending=False).reset_index().assign(place=range(1, len(means) + 1)),
        "print_metrics": names.drop_duplicates().to_frame("metric"),
        "folds": _folds(annotated * len(LANGUAGES)),
    }


def _folds(annotated: int) -> pd.DataFrame:
    """Say what follows for three folds of so many segments, 2,000 of them to test on; and for 10 hours at 140 W."""
    return pd.DataFrame({"training": [annotated - 2000], "testing": annotated / 3, "emissions": 0.432 * 10 * 0.140})


def _best(table: pd.DataFrame) -> pd.DataFrame:
    """Name the best metric of each kind: kind, statistic, language (and the average), metric, family."""
    kinds = {**KINDS, "any": tuple(table["metric"].unique())}
    rows = [
        (kind, statistic, language, cells.idxmax())
        for statistic in STATISTICS
        for kind, metrics in kinds.items()
        for language, cells in pivot(table, "metric", "language", statistic).loc[list(metrics)].items()
    ]
    found = pd.DataFrame(rows, columns=["kind", "statistic", "language", "metric"])
    return found.assign(family=found["metric"].str.partition("-")[0])


def _learned(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Say how Indic-COMET-MQM does against the baselines: table, statistic, language, gain, beats, beats_both."""
    parts, spelt = [], table.assign(metric=table["metric"].str.replace("-", ""))
    for statistic in [name for name in STATISTICS if name in table]:
        wide = pivot(spelt, "metric", "language", statistic)[LANGUAGES]
        ours, base = wide.loc["IndicCOMETMQM"], wide.loc[["COMETDA", "COMETMQM"]]
        gain = ours - base.loc["COMETMQM"]
        won = {"gain": gain, "largest": gain.eq(gain.max()), "beats": gain > 0, "beats_both": ours > base.max()}
        parts.append(pd.DataFrame(won).rename_axis("language").reset_index().assign(statistic=statistic, table=name))
    return pd.concat(parts, ignore_index=True)


def _sizes(judged: pd.DataFrame) -> pd.DataFrame:
    """Count judgements, systems and sentences per language and over all; sentences are those that all systems have."""
    everything = pd.concat([judged, judged.assign(language="all")])
    complete = common_sentences(judged)
    found = everything.groupby("language", sort=False).agg(rows=("score", "size"), systems=("system", "nunique"))
    sentences = pd.concat([complete, complete.assign(language="all")]).groupby("language")["segment"].nunique()
    return found.join(sentences.rename("sentences")).reset_index()


def _typology() -> pd.DataFrame:
    """Count the types that the paper's own Table 5 lists, by group."""
    kinds = pd.Series(TYPOLOGIES["Sai et al. 2023, Table 5"])
    groups = kinds.str.partition("/")[0].value_counts()
    return pd.DataFrame({"group": ["all", *groups.index], "types": [len(kinds), *groups]})


def _commonest(marked: pd.DataFrame) -> pd.DataFrame:
    """Name each language's commonest type of error, and say whether that is mistranslation."""
    first = marked.groupby("language")["error_type"].agg(lambda kinds: str(kinds.mode()[0])).reset_index()
    return first.assign(mistranslation=first["error_type"].eq("accuracy/mistranslation").map(_YES))


def _weights(ratings: pd.DataFrame, spans: pd.DataFrame) -> pd.DataFrame:
    """Read the errors' weights off the shipped scores, and say whether each is the one that the paper prints."""
    found = single_errors(ratings, spans)
    printed = found["severity"].map(SCHEMES["paper"].severities)
    return found.assign(as_printed=found["weight"].eq(printed).map(_YES))


def _majority(marked: pd.DataFrame) -> pd.DataFrame:
    """Weigh accuracy against fluency errors in each language, and name its commonest severity.

    Errors of terminology count as accuracy, as in the authors' figures.
    accuracy_share: of accuracy and fluency errors together, which are all that the paper's Figure 1 shows.
    balanced: the smaller of the two counts is more than four fifths of the larger, which is our reading of "almost
    equal proportions".
    """
    pair = marked.groupby("language")["category"].value_counts().unstack(fill_value=0)[["accuracy", "fluency"]]
    severity = marked.groupby("language")["severity"].agg(lambda levels: str(levels.mode()[0]))
    more = pair["accuracy"].gt(pair["fluency"]).map(_YES)
    share = pair["accuracy"] / pair.sum(axis=1)
    balanced = (pair.min(axis=1) / pair.max(axis=1)).gt(0.8).map(_YES)
    found = {"accuracy_share": share, "more_accuracy": more, "balanced": balanced, "severity": severity}
    return pair.assign(**found).reset_index()


def _models(judged: pd.DataFrame, marked: pd.DataFrame) -> pd.DataFrame:
    """Ask of each language whether NLLB and IndicTrans have fewer errors a translation than CVIT."""
    each = errors_per_system(judged, marked, by="language").pivot(
        index="language", columns="system", values="per_segment"
    )
    each = each.reindex(columns=["NLLB", "IndicTrans_Samanantar", "cvit_iiith"])
    fewer = each[["NLLB", "IndicTrans_Samanantar"]].max(axis=1) < each["cvit_iiith"]
    return fewer.map(_YES).rename("fewer").reset_index()


def _ranked(means: pd.DataFrame) -> pd.DataFrame:
    """Rank the systems of each language by their mean score, the best first: language, system, place."""
    best = means.sort_values("mean_score", ascending=False, kind="stable")
    return best.assign(place=best.groupby("language").cumcount() + 1)[["language", "system", "place"]]


def _order(means: pd.DataFrame) -> pd.DataFrame:
    """Name the systems in descending order of the mean of their languages' means, as the paper does."""
    order = means.groupby("system")["mean_score"].mean().sort_values(ascending=False).index
    return pd.DataFrame({"order": [", ".join(order).replace("CVIT-IIITH", "CVIT")], "first": [order[0]]})


def _with(ratings: pd.DataFrame, spans: pd.DataFrame, kind: str) -> pd.DataFrame:
    """List the judgements that have an error of a type: score, hits (how many of them), others (of other types)."""
    named = spans.astype(dict.fromkeys([*KEY, "error_type"], "str"))
    hit = named["error_type"].eq(kind)
    counts = named.assign(others=~hit, hits=hit).groupby(KEY)[["others", "hits"]].sum().query("hits > 0")
    return ratings[[*KEY, "score"]].merge(counts.reset_index(), on=KEY)
