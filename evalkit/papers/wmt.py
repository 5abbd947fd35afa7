"""What WMT prints of scores, wins, lines and automatic ranks beside what its own rules give, and why it differs.

``claims.compare("shared_tasks", tables)`` sets ``wmt23_lines`` and ``automatic_ranks`` beside print, cell by cell.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import segment_names, with_pair
from evalkit.human.ranking.lines import pairwise_tests, rule_clusters, significance_clusters
from evalkit.human.ranking.scores import COUNTED, system_scores
from evalkit.papers import claims
from evalkit.stats.terms import pluralize
from evalkit.stats.verdicts import verdict

#: Decimals that WMT's ranking files print for each scale.
DIGITS = {"z": 3, "raw": 1}
#: Significant digits of WMT's files of segment scores, which decide what counts as a tie.
FILE_DIGITS = 15
_COLUMN = {"raw": "score", "z": "z"}
#: How WMT23's results call what its metrics task calls otherwise.
NAMES = {"refA": "Human-refA", "ZengHuiMT": "LanguageX"}
#: A gap between neighbours' automatic ranks from which on WMT24 had nobody below judged.
GAP = 1.5


def compare_with_official(ratings: pd.DataFrame, official: pd.DataFrame, *, scale: str = "z") -> pd.DataFrame:
    """Compare recomputed scores of systems with the official ones, with and without degraded-context repeats.

    official: text digits as in the ranking files. Returns pair, system, official (number), recomputed, equal (they
    agree in the printed digits), without_repeats, change (without_repeats - recomputed), rank, rank_without, moved
    (places; positive is up), judgements and official_judgements, in the official order. Official pairs without ratings
    are left out.
    """
    column = _COLUMN[scale]
    without = system_scores(ratings, score=column, item_types=("system",))
    both = system_scores(ratings, score=column).merge(
        without, on=["pair", "system"], suffixes=("", "_without"), how="left"
    )
    printed = with_pair(official)[["pair", "system", scale, "segments", "judgements"]]
    found = _beside(printed, both).rename(columns={"score": "recomputed", "score_without": "without_repeats"})
    found["official"] = pd.to_numeric(found[scale])
    found = found.assign(
        equal=_rounds_to(found["recomputed"], found["official"], DIGITS[scale]),
        change=found["without_repeats"] - found["recomputed"],
        moved=found["rank"] - found["rank_without"],
    )
    columns = "pair system official recomputed equal without_repeats change rank rank_without moved"
    counts = "judgements official_judgements segments official_segments"
    return found[[*columns.split(), *counts.split()]]


def official_scores(ratings: Mapping[str, pd.DataFrame], official: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Compare several rankings with the official ones, on z and on raw scores.

    Returns scale, data, and the columns of ``compare_with_official``. ratings, official: name of the data -> table.
    """
    parts = [
        compare_with_official(ratings[name], official[name], scale=scale).assign(data=name, scale=scale)
        for scale in DIGITS
        for name in ratings
    ]
    return pd.concat(parts, ignore_index=True)


def _beside(official: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Lay ours beside official numbers, in their order; pairs of which the two share no system are left out.

    Official columns that ours has, too, are called official_…. Raises DataError for a system that only one side has.
    """
    key = ["pair", "system"]
    shared = official.merge(ours, on=key)["pair"].unique()
    official, ours = (table[table["pair"].isin(shared)] for table in (official, ours))
    if lost := {*official[key].itertuples(index=False, name=None)} ^ {*ours[key].itertuples(index=False, name=None)}:
        raise DataError(f"{', '.join(min(lost))}: only one of ratings and official table has this system.")
    theirs = {name: f"official_{name}" for name in official.columns.intersection(ours.columns).difference(key)}
    return official.rename(columns=theirs).merge(ours, on=key, validate="one_to_one")


def _rounds_to(values: pd.Series, printed: pd.Series, digits: int) -> pd.Series:
    """Tell whether values round to printed ones; a tie may round either way."""
    return (values - printed).abs() <= 0.5 * 10.0**-digits + 1e-9


def compare_clusters(ratings: Mapping[str, pd.DataFrame], official: pd.DataFrame) -> pd.DataFrame:
    """Compare recomputed wins and cluster lines with WMT's published ones.

    ratings: name of the data -> table. official: data, pair, system, wins and line (True where a cluster ends below the
    system) as text, in the published order, such as ``data.published("wmt_clusters")``.
    Returns data, pair, system, official_wins, wins, equal_wins, official_line, line (recomputed by the files' rule),
    equal_line, line_all (by the findings' rule, see ``significance_clusters``), rank_top and rank_bottom, in the
    published order. Pairs of which ratings and publication share no system are left out, so simulated ratings give an
    empty table.
    """
    parts = []
    for data, table in ratings.items():
        ours = significance_clusters(table, score="z", digits=FILE_DIGITS, line="own", upsets=True)
        strict = significance_clusters(table, score="z", digits=FILE_DIGITS)
        for name, clusters in (("line", ours), ("line_all", strict)):
            ours[name] = clusters["cluster"].ne(clusters.groupby("pair")["cluster"].shift(-1))
        printed = official[official["data"] == data].astype({"wins": int})
        printed = printed.assign(line=printed["line"].eq("True"))[["pair", "system", "wins", "line"]]
        parts.append(_beside(printed, ours).assign(data=data))
    found = pd.concat(parts, ignore_index=True)
    found = found.assign(**{f"equal_{name}": found[f"official_{name}"] == found[name] for name in ("wins", "line")})
    counts = ["official_wins", "wins", "equal_wins", "official_line", "line", "equal_line", "line_all"]
    return found[["data", "pair", "system", *counts, "rank_top", "rank_bottom"]]


def compare_p_values(ratings: pd.DataFrame, official: pd.DataFrame) -> pd.DataFrame:
    """Compare recomputed p-values of the one-sided Mann-Whitney tests with WMT's published ones.

    official: pair, better, worse and p as text, such as ``data.published("wmt22_pvalues")``; tests without a published
    p-value were not significant.
    Returns pair, better, worse, official, p, off (relative difference) and significant, all tests of the pairs shared.
    """
    ours = pairwise_tests(ratings, score="z", digits=FILE_DIGITS)
    joined = ours.merge(official, on=["pair", "better", "worse"], how="left", suffixes=("", "_official"))
    joined = joined[joined["pair"].isin(joined.loc[joined["p_official"].notna(), "pair"])].reset_index(drop=True)
    printed = pd.to_numeric(joined["p_official"])
    return joined[["pair", "better", "worse"]].assign(
        official=printed, p=joined["p"], off=(joined["p"] / printed - 1).abs(), significant=joined["significant"]
    )


def tally(compared: pd.DataFrame) -> pd.DataFrame:
    """Count, by scale, data and language pair, the systems that equal print and those that move without the repeats.

    compared: the result of ``official_scores``. ``missing_judgements`` are official ones that
    the ratings lack; ``furthest`` is the most places that a system moves.
    """
    missing = compared["official_judgements"] - compared["judgements"]
    frame = compared.assign(missing=missing, up=compared["moved"].ne(0), size=compared["change"].abs())
    counts = frame.groupby(["scale", "data", "pair"], sort=False).agg(
        systems=("system", "size"),
        equal=("equal", "sum"),
        missing_judgements=("missing", "sum"),
        systems_that_move=("up", "sum"),
        furthest=("moved", lambda moved: int(moved.abs().max())),
        largest_change=("size", "max"),
    )
    return counts.reset_index()


def by_test(ratings: pd.DataFrame, *, seed: int = 7) -> pd.DataFrame:
    """Count clusters and significant wins over all language pairs by WMT22's test and others: test, clusters, wins."""
    found = {
        "Mann-Whitney, as WMT22": significance_clusters(ratings, score="z"),
        "Wilcoxon signed-rank, matched segments": significance_clusters(ratings, score="z", test="wilcoxon"),
        "permutation of segments": significance_clusters(ratings, score="z", test="permutation", seed=seed),
        "Mann-Whitney, Holm-corrected": significance_clusters(ratings, score="z", correction="holm"),
    }
    by_pair = pd.concat(found, names=["test"]).groupby(["test", "pair"], sort=False)
    counts = by_pair.agg(clusters=("cluster", "max"), wins=("wins", "sum"))
    return counts.groupby("test", sort=False).sum().reset_index()


def missing_scores(ratings: Mapping[str, pd.DataFrame], compared: pd.DataFrame) -> pd.DataFrame:
    """Bound each official score that rests on judgements missing from the ratings, if those were all 0.

    Annotators who gave one score throughout have standard deviation 0, hence no z-score, hence no row among the
    standardised ratings; the official files count them, raw as given and z as 0. How many judgements and segments each
    system lacks follows from the official counts. A lacking segment adds a 0; a lacking judgement of a segment that is
    here pulls its mean towards 0, by an amount that depends on which segment it is: hence an interval, taking at most
    one missing judgement a segment. ratings: name of the data -> table. compared: the result of ``official_scores``.
    Returns the rows with missing judgements: scale, data, pair, system, official, recomputed, missing_judgements,
    missing_segments, lowest and highest (the score if the missing ones were 0), explained.
    """
    short = compared[compared["official_judgements"] > compared["judgements"]]
    counted = {name: with_pair(table[table["item_type"].isin(COUNTED)]) for name, table in ratings.items()}
    rows = []
    for row in short.itertuples():
        own = counted[row.data].query("pair == @row.pair and system == @row.system")
        segments = own.groupby(segment_names(own))[_COLUMN[row.scale]]
        mean, size = segments.mean(), segments.size()
        judgements = row.official_judgements - row.judgements
        absent = row.official_segments - row.segments
        pulls = np.sort((mean / (size + 1)).to_numpy())  # what one 0 more takes from the segment's mean
        pulled = judgements - absent
        most, least = pulls[len(pulls) - pulled :].sum(), pulls[:pulled].sum()
        low, high = ((mean.sum() - taken) / row.official_segments for taken in (most, least))
        half = 0.5 * 10.0 ** -DIGITS[row.scale] + 1e-9
        rows.append((judgements, absent, low, high, low - half <= row.official <= high + half))
    names = ["missing_judgements", "missing_segments", "lowest", "highest", "explained"]
    found = short[["scale", "data", "pair", "system", "official", "recomputed"]]
    return found.join(pd.DataFrame(rows, columns=names, index=short.index)).reset_index(drop=True)


def flat_annotators(workers: pd.DataFrame) -> pd.DataFrame:
    """Count, per language pair, the annotators without z-scores: one score throughout, or a single judgement.

    workers: the data set ``wmt22-mturk-annotators``. Returns pair, annotators, without_spread, and ``scores``, the
    means of these annotators, which are the scores that they gave.
    """
    frame = with_pair(workers)
    flat = frame[~frame["sd"].gt(0)].groupby("pair")["mean"]
    table = frame.groupby("pair").size().rename("annotators").to_frame()
    table["without_spread"] = flat.size().reindex(table.index, fill_value=0)
    scores = flat.agg(lambda means: ", ".join(f"{score:g}" for score in sorted(set(means))))
    table["scores"] = scores.reindex(table.index).fillna("")
    return table.reset_index()


def wmt23_lines(printed: pd.DataFrame, segments: pd.DataFrame) -> pd.DataFrame:
    """Recompute WMT23's scores, wins and lines: pair, system, score, wins, line, line_by_wins, place in the order.

    printed: ``wmt23_clusters`` from ``data.published``. segments: ``wmt23-human``, of whose pairs scores and wins
    follow from the segments by the rule "wmt23"; line from these wins. line_by_wins: from the printed wins, all pairs.
    """
    da = segments[segments["metric"].eq("da-sqm")]
    da = da.assign(item_type="system", system=da["system"].astype("str").replace(NAMES))
    ours = rule_clusters(da, rule="wmt23")
    ours["line"] = ours["cluster"].ne(ours.groupby("pair")["cluster"].shift(-1))
    below = printed.groupby("pair").cumcount(ascending=False)
    by_wins = pd.to_numeric(printed["wins"]).groupby(printed["pair"]).cummin().eq(below)
    table = printed[["pair", "system"]].assign(line_by_wins=by_wins)
    return table.merge(ours[["pair", "system", "score", "wins", "line"]], on=["pair", "system"], how="left")


def auto_rank(scores: pd.DataFrame) -> pd.DataFrame:
    """Rank the systems of each language pair by metrics: adds autorank, 1 for a system that is best by all of them.

    scores: pair, system, metricx and cometkiwi, of which lower is better. Each metric is stretched from 1, its best
    system, to systems + 1, its worst; AutoRank is their mean. past_cutoff: below the first gap of more than ``GAP``.
    Source: WMT24's workbook humeval/AutoRank.xlsx. Its report says that scores are stretched from 1 to the number of
    systems; the workbook has one more.  Caveat: one system far behind squeezes all others together, and no line
    follows from it: it has no test.

    >>> scores = pd.DataFrame({"pair": "eng-jpn", "system": list("ABC"), "metricx": [1.0, 2, 5],
    ...     "cometkiwi": [-1.0, -0.9, -0.2]})
    >>> auto_rank(scores)["autorank"].round(3).tolist()
    [1.0, 1.562, 4.0]
    """
    columns = scores[["metricx", "cometkiwi"]]
    by_pair = columns.groupby(scores["pair"])
    low, high = by_pair.transform("min"), by_pair.transform("max")
    systems = scores.groupby("pair")["system"].transform("size")
    rank = ((columns - low) / (high - low)).mul(systems, axis=0).add(1).mean(axis=1)
    found = scores.assign(autorank=rank)
    ordered = found.sort_values(["pair", "autorank"], kind="stable")
    gap = ordered.groupby("pair")["autorank"].diff().gt(GAP)
    return found.assign(past_cutoff=gap.groupby(ordered["pair"]).cummax().reindex(found.index).to_numpy(bool))


def automatic_ranks(printed: pd.DataFrame) -> pd.DataFrame:
    """Recompute WMT24's automatic ranks, and who is past its cutoff ("yes", "no"), from the printed metrics.

    printed: ``wmt24_autorank`` from ``data.published``, text.
    """
    metrics = {name: pd.to_numeric(printed[name]) for name in ("metricx", "cometkiwi")}
    ranked = auto_rank(printed[["pair", "system"]].assign(**metrics))
    return ranked.assign(past_cutoff=ranked["past_cutoff"].map({True: "yes", False: "no"}))


def reproduced(
    wmt23: pd.DataFrame, printed23: pd.DataFrame, official: pd.DataFrame, autoranks: pd.DataFrame
) -> pd.DataFrame:
    """Sum up what of each year's printed tables comes out: printed, what, rule, numbers, equal, why.

    wmt23: the result of ``wmt23_lines``; printed23: ``wmt23_clusters``. official: the result of ``compare_clusters``
    for WMT21 and WMT22 into English. autoranks: ``automatic_ranks`` compared with print.
    """
    rows = [
        (name, what, "wmt21-into-english", part[f"equal_{column}"], "")
        for name, part in official.groupby("data")
        for what, column in (("wins", "wins"), ("lines", "line"))
    ]
    joined = wmt23.merge(printed23, on=["pair", "system"], suffixes=("", "_printed"))
    lines, here = joined["line_printed"].eq("True"), joined["score"].notna()
    of = f"in {pluralize(joined.loc[here, 'pair'].nunique(), 'pair')} whose segments' scores are here"
    off = {name: (joined[name] - pd.to_numeric(joined[f"{name}_printed"])).abs() for name in ("score", "wins")}
    match = [verdict(*pair) == "match" for pair in zip(autoranks["printed"], autoranks["computed"], strict=True)]
    z = "they follow z-scores, for which who judged is needed"
    rows += [
        ("wmt23", "lines, from the printed wins", "wmt23", lines == joined["line_by_wins"], ""),
        ("wmt23", f"mean scores, {of}", "wmt23", off["score"][here] <= 0.005 + 1e-9, ""),
        ("wmt23", f"wins, {of}", "wmt23", off["wins"][here] < 0.5, z),
        ("wmt23", f"lines, {of}", "wmt23", (lines == joined["line"].eq(True))[here], "the same"),
        ("wmt24", "AutoRank and cutoff", "AutoRank", pd.Series(match), ""),
    ]
    table = pd.DataFrame(rows, columns=["printed", "what", "rule", "equal", "why"])
    table.insert(3, "numbers", table["equal"].map(len))
    return table.assign(equal=table["equal"].map(sum).astype(int))


def with_domains(esa: pd.DataFrame) -> pd.DataFrame:
    """Add ``domain`` to WMT24's judgements, by the names of its documents, such as test-en-news_….

    >>> frame = pd.DataFrame({"doc": ["test-en-news_a.1", "test-en-speech_b_0"]})
    >>> with_domains(frame)["domain"].tolist()
    ['news', 'speech']
    """
    return esa.assign(domain=esa["doc"].str.extract(r"^[^-]+-[^-]+-([a-z]+)_", expand=False).fillna("other"))


def compare_scores(
    compared: pd.DataFrame, missing: pd.DataFrame, official: Mapping[str, pd.DataFrame], *, called: Mapping[str, str]
) -> pd.DataFrame:
    """Set official scores of systems, z and raw, beside recomputed ones: rows for ``show.compare``.

    compared: the result of ``official_scores``. missing: that of ``missing_scores``. official: name of the data ->
    table, text digits as in the ranking files. called: name of the data -> who published it. Language pairs of which no
    ratings are here have no computed value.
    Returns ``claims.COLUMNS``; ``place`` is empty, because the rankings stand in data files.
    """
    key = ["scale", "data", "pair", "system"]
    each = {(scale, name): with_pair(table) for scale in DIGITS for name, table in official.items()}
    printed = pd.concat([t.assign(scale=s, data=n, printed=t[s]) for (s, n), t in each.items()])[[*key, "printed"]]
    table = printed.merge(compared[[*key, "recomputed", "equal"]], on=key, how="left")
    table = table.merge(missing[[*key, "explained"]], on=key, how="left").astype({"recomputed": object})
    absent, paper = table["recomputed"].isna(), table["data"].map(called)
    explained, unexplained = (table["explained"].eq(answer) for answer in (True, False))
    short = "The official number counts judgements that the released ratings lack (see the table of these systems). "
    fits = "That fits annotators who gave one score throughout: with 0 for them the printed number is possible."
    notes = {
        "Scores of this language pair are not here.": absent,
        short + fits: explained,
        f"{short}Zeros for them do not give it: something else differs, too.": unexplained,
        "": table["equal"].eq(True),
    }
    found = table.assign(
        paper=paper + ", official ranking",
        item=table["pair"] + ", " + table["scale"],
        cell=table["system"],
        computed=table["recomputed"].where(~absent, None),
        note=np.select(list(notes.values()), list(notes), "The cause is not known."),
        basis="official result",
        place="",
        lacking=("scores not here: " + paper + " " + table["pair"]).where(absent, ""),
    )
    return found[claims.COLUMNS]
