"""What the released files of Sai et al. 2023 hold: the weights behind the scores, the systems, and what prose says.

The release has two sets of files: CSV files with systems and errors, and splits without systems.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from evalkit.data.indicmt import SHORT
from evalkit.data.schemas import UNSTATED
from evalkit.data.typology import SCHEMES, SEVERITIES, TYPOLOGIES
from evalkit.human.mqm import KEY, category, errors_per_system, formula_against_own, segment_scores
from evalkit.papers.claims import pivot

_TOP = 25.0  # the shipped score of a translation without errors
#: Points by which a score may miss and still count as equal: the shipped scores are multiples of a half.
_EQUAL = 1e-9
#: The release's names of systems as the paper prints them.
PRINTED = {
    "IndicTrans_Samanantar": "IndicTrans",
    "bing_api": "Bing API",
    "cvit_iiith": "CVIT-IIITH",
    "google_api": "Google API",
    "mT5": "mT5",
    "NLLB": "NLLB",
}
#: How a column answers a question.
_YES = {True: "yes", False: "no"}

#: Kendall's tau between formula and annotators' own scores that the paper says is passed in all languages.
_CONSISTENT = 0.7


def single_errors(ratings: pd.DataFrame, spans: pd.DataFrame) -> pd.DataFrame:
    """Read weights off the judgements with exactly one error: there, 25 less the score is the error's weight.

    Returns kind (non-translation, source error, any other), severity, n, weight (the commonest), agreeing (how many of
    the n show it), smallest, largest. Nothing is assumed about the weights except that errors' weights are subtracted.
    """
    one = spans[~spans.duplicated(KEY, keep=False)]
    names = [*KEY, "error_type", "severity"]
    joined = one[names].astype("str").merge(ratings[[*KEY, "score"]], on=KEY, how="left", validate="one_to_one")
    special = joined["error_type"].isin(["non-translation", "source error"])
    joined = joined.assign(kind=joined["error_type"].where(special, "any other"), weight=_TOP - joined["score"])
    joined["severity"] = pd.Categorical(joined["severity"], [*SEVERITIES, UNSTATED])
    by = ["kind", "severity"]
    usual = joined.groupby(by, observed=True)["weight"].transform(lambda weights: weights.mode().iloc[0])
    agrees = np.isclose(joined["weight"], usual, atol=_EQUAL)
    columns = {"n": ("weight", "size"), "weight": ("usual", "first"), "agreeing": ("agrees", "sum")}
    columns |= {"smallest": ("weight", "min"), "largest": ("weight", "max")}
    found = joined.assign(usual=usual, agrees=agrees).groupby(by, observed=True).agg(**columns)
    return found.reset_index().astype({"severity": "str"})


def explain(ratings: pd.DataFrame, spans: pd.DataFrame, *, by: str = "tgt_lang") -> pd.DataFrame:
    """Count the rows whose shipped score a scheme gives exactly: by, scheme, rows_equal, rows.

    Schemes with another top than the shipped scores' 25 are shifted to it: what is compared are the weights. A row that
    a scheme discards, and that has a shipped score, is not explained.
    """
    rows = []
    for name in SCHEMES:
        scored = segment_scores(ratings, spans, name)
        shift = _TOP - SCHEMES[name].top
        equal = np.isclose(scored["mqm"] + shift, ratings["score"].to_numpy(), rtol=0, atol=_EQUAL)
        counts = pd.Series(equal).groupby(ratings[by].to_numpy(), sort=False).agg(["sum", "size"])
        rows += [(group, name, int(total), int(size)) for group, total, size in counts.itertuples()]
    return pd.DataFrame(rows, columns=[by, "scheme", "rows_equal", "rows"])


def odd_rows(ratings: pd.DataFrame, spans: pd.DataFrame, *, scheme: str = "release") -> pd.DataFrame:
    """Name the rows whose shipped score a scheme does not give, with their errors and what the scheme gives."""
    scored = segment_scores(ratings, spans, scheme)["mqm"].to_numpy() + _TOP - SCHEMES[scheme].top
    odd = ratings[~np.isclose(scored, ratings["score"].to_numpy(), rtol=0, atol=_EQUAL)]
    typed = spans.astype({"error_type": "str", "severity": "str"})
    typed = typed.assign(marked=typed["error_type"] + " (" + typed["severity"] + ")").astype(dict.fromkeys(KEY, "str"))
    marked = typed.groupby(KEY, sort=False)["marked"].agg("; ".join).rename("errors").reset_index()
    columns = [name for name in ("tgt_lang", "row", "system", "segment", "score") if name in odd]
    table = odd[[*dict.fromkeys([*KEY, *columns])]].merge(marked, on=KEY, how="left")
    given = scored[ratings.index.get_indexer(odd.index)]
    return table[[*columns, "errors"]].assign(given=given).fillna({"errors": "none"})


def system_means(ratings: pd.DataFrame, *, file_set: str) -> pd.DataFrame:
    """Average each system's scores: language, system (as printed), mean_score, n, file_set.

    Scores below 0 count as 0, as Table 9's do.
    """
    frame = pd.DataFrame(
        {
            "language": ratings["tgt_lang"].astype("str").map(SHORT),
            "system": ratings["system"].astype("str").replace(PRINTED),
            "score": ratings["score"].clip(lower=0.0),
        }
    )
    means = frame.groupby(["language", "system"], sort=False)["score"].agg(mean_score="mean", n="size").reset_index()
    return means.assign(file_set=file_set)[["language", "system", "mean_score", "n", "file_set"]]


def matched(ratings: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    """Find each row of the splits, which do not name systems, among the CSV files' judgements (``ratings``).

    A row is known where these have the same sentence and translation, letter for letter. Adds systems (whose
    translation it is; missing where it is not known), fresh (whether the CSV files lack this judgement, or have it less
    often), place (among the rows of the sentence in its file, from 0) and whole (whether every system's is there).
    """
    key, sentence = ["tgt_lang", "key"], ["tgt_lang", "split", "segment"]
    ours, theirs = (frame.assign(key=_letters(frame)).astype({"tgt_lang": "str"}) for frame in (ratings, splits))
    once = ours[[*key, "system"]].astype("object").drop_duplicates().sort_values("system")
    once.attrs = {}  # pandas would copy them for each of the thousands of groups
    systems = once.groupby(key)["system"].agg(list).rename("systems")
    known = ours.groupby(key).size().rename("held").to_frame().join(systems)
    found = theirs.merge(known[["systems", "held"]].reset_index(), on=key, how="left")
    rows = found.groupby(sentence)["row"]
    fresh = found.groupby(key).cumcount() >= found["held"].fillna(0)
    whole = rows.transform("size").eq(ratings["system"].nunique())
    return found.assign(fresh=fresh, place=rows.cumcount(), whole=whole)


def places(found: pd.DataFrame) -> pd.DataFrame:
    """Ask which system stands where among a sentence's translations in the splits.

    found: the result of ``matched``, of which whole sentences are looked at. Returns tgt_lang, place (from 0), system
    (the one that most known rows allow), known (rows), share (of these that allow it; texts that several systems share
    allow each).
    """
    known = found[found["whole"] & found["systems"].notna()]
    rows = known.groupby(["tgt_lang", "place"], observed=True).size().rename("known")
    allowed = known.explode("systems").groupby(["tgt_lang", "place", "systems"], observed=True).size().rename("rows")
    best = allowed.reset_index().sort_values("rows", ascending=False, kind="stable")
    best = best.drop_duplicates(["tgt_lang", "place"]).rename(columns={"systems": "system"})
    best = best.join(rows, on=["tgt_lang", "place"]).sort_values(["tgt_lang", "place"], ignore_index=True)
    return best.assign(share=best["rows"] / best["known"]).drop(columns="rows")


def combined(ratings: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Bring the two sets of files together: the judgements of the CSV files, and those that only the splits have.

    found: the result of ``matched``. What is fresh there gets the system of its place (``places``) where at least 95 %
    of known rows allow it, and is else of an "unknown" system.
    Columns tgt_lang, system, segment, score, own_score, reference, hypothesis, fresh.
    """
    held = places(found).query("share >= 0.95")[["tgt_lang", "place", "system"]]
    theirs = found[found["fresh"]].assign(score=found["formula_score"])
    theirs = theirs.merge(held, on=["tgt_lang", "place"], how="left")
    theirs["system"] = theirs["system"].where(theirs["whole"]).fillna("unknown")
    columns = ["tgt_lang", "system", "segment", "score", "own_score", "reference", "hypothesis"]
    ours = ratings[columns].astype({"tgt_lang": "str", "system": "str"})
    return pd.concat([ours.assign(fresh=False), theirs[columns].assign(fresh=True)], ignore_index=True)


def placement(together: pd.DataFrame) -> pd.DataFrame:
    """Count what ``combined`` could place: language, judgements, only_in_splits, placed, unknown_share (of all)."""
    frame = together.assign(language=together["tgt_lang"].map(SHORT), unknown=together["system"].eq("unknown"))
    found = frame.groupby("language", sort=False).agg(
        judgements=("fresh", "size"), only_in_splits=("fresh", "sum"), unknown=("unknown", "sum")
    )
    found["placed"] = found["only_in_splits"] - found["unknown"]
    found["unknown_share"] = found["unknown"] / found["judgements"]
    return found.drop(columns="unknown").reset_index()


def denominators(printed: pd.DataFrame) -> pd.DataFrame:
    """List how many judgements can lie behind a system's printed means: system, n.

    printed: language, system, mean_score as printed with three digits; averages and zeros are left out. Scores are
    multiples of a half, so with n judgements a mean is a multiple of 1 / 2n: n, up to 300, is possible where every
    language's cell rounds from such a multiple.
    """
    cells = printed[printed["language"].ne("average")].set_index("system")["mean_score"].astype(float)
    cells, n = cells[cells > 0], np.arange(1, 301)
    halves = np.round(2 * np.outer(cells, n))
    near = np.abs(halves / (2 * n) - cells.to_numpy()[:, None]) <= 0.5e-3 + 1e-9
    fits = pd.DataFrame(near, index=cells.index, columns=n).groupby("system").all().stack()
    return fits[fits].index.set_names(["system", "n"]).to_frame(index=False)


def fitting_counts(printed: pd.DataFrame, totals: pd.Series, *, judgements: int) -> pd.DataFrame:
    """List the numbers of judgements per system that fit printed means and known totals: a column per system.

    totals: per language, the sum of all scores over ``judgements`` judgements; their systems need not be known. Kept
    are the ways to choose a possible number for each system (``denominators``) that add up to ``judgements`` and give
    every total within the rounding of the means.
    """
    systems = list(PRINTED.values())
    means = pivot(printed, "system", "language", "mean_score").loc[systems, list(totals.index)].to_numpy()
    options = denominators(printed).groupby("system")["n"].agg(list)
    grid = np.array(np.meshgrid(*(options[name] for name in systems), indexing="ij")).reshape(len(systems), -1).T
    grid = grid[grid.sum(axis=1) == judgements]
    fits = (np.abs(grid @ means - totals.to_numpy()) <= 0.5e-3 * judgements).all(axis=1)
    return pd.DataFrame(grid[fits], columns=systems)


def common_sentences(ratings: pd.DataFrame) -> pd.DataFrame:
    """Keep the sentences that all systems of a language translated, so that systems are compared on the same."""
    count = ratings.groupby(["tgt_lang", "segment"])["system"].transform("nunique")
    return ratings[count.eq(len(PRINTED))]


def _letters(frame: pd.DataFrame) -> pd.Series:
    """Reduce sentence and translation to what does not change when white space is lost."""
    spaces = re.compile(r"\s")
    return frame["segment"] + "|" + frame["hypothesis"].map(lambda text: spaces.sub("", text))


def claim_tables(ratings: pd.DataFrame, spans: pd.DataFrame, means: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Make the tables that the claims of ``sai2023_prose`` name, for IndicMT-Eval's judgements and errors.

    means: language, system and mean_score, of all judgements whose system is known.
    """
    judged, marked = (table.assign(language=table["tgt_lang"].astype("str").map(SHORT)) for table in (ratings, spans))
    marked["category"] = category(spans)
    own = formula_against_own(ratings, resamples=0)
    groups = pd.Series(kinds := TYPOLOGIES["Sai et al. 2023, Table 5"]).str.partition("/")[0].value_counts()
    first = marked.groupby("language")["error_type"].agg(lambda kinds: str(kinds.mode()[0])).reset_index()
    singles = single_errors(ratings, spans)
    as_paper = singles["weight"].eq(singles["severity"].map(SCHEMES["paper"].severities))
    best = means.sort_values("mean_score", ascending=False, kind="stable")
    order = means.groupby("system")["mean_score"].mean().sort_values(ascending=False).index
    named = ", ".join(order).replace("CVIT-IIITH", "CVIT")
    return {
        "sizes": _sizes(judged),
        "own": own.assign(above=own["kendall_b"].gt(_CONSISTENT).map(_YES)),
        "own_scores": judged[["language", "own_score"]],
        "typology": pd.DataFrame({"group": ["all", *groups.index], "types": [len(kinds), *groups]}),
        "commonest": first.assign(mistranslation=first["error_type"].eq("accuracy/mistranslation").map(_YES)),
        "majority": _majority(marked),
        "models": _models(judged, marked),
        "best": best.assign(place=best.groupby("language").cumcount() + 1),
        "order": pd.DataFrame({"order": [named], "first": [order[0]]}),
        "weights": singles.assign(as_printed=as_paper.map(_YES)),
        "non_translations": _with(ratings, spans, "non-translation"),
        "source_errors": _with(ratings, spans, "source error").dropna(subset="score"),
        "counts": spans.astype(dict.fromkeys(KEY, "str")).groupby(KEY).size().rename("errors").reset_index(),
    }


def _sizes(judged: pd.DataFrame) -> pd.DataFrame:
    """Count judgements, systems and sentences per language and over all; sentences are those that all systems have."""
    whole, complete = (pd.concat([t, t.assign(language="all")]) for t in (judged, common_sentences(judged)))
    found = whole.groupby("language", sort=False).agg(rows=("score", "size"), systems=("system", "nunique"))
    return found.join(complete.groupby("language")["segment"].nunique().rename("sentences")).reset_index()


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


def _with(ratings: pd.DataFrame, spans: pd.DataFrame, kind: str) -> pd.DataFrame:
    """List the judgements that have an error of a type: score, hits (how many of them), others (of other types)."""
    named = spans.astype(dict.fromkeys([*KEY, "error_type"], "str"))
    hit = named["error_type"].eq(kind)
    counts = named.assign(others=~hit, hits=hit).groupby(KEY)[["others", "hits"]].sum().query("hits > 0")
    return ratings[[*KEY, "score"]].merge(counts.reset_index(), on=KEY)
