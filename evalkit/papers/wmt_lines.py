"""What WMT prints of its lines and of its automatic ranks beside what its own rules give."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evalkit.human.ranking import rules
from evalkit.human.ranking.by_rule import judge
from evalkit.metrics.autorank import GAP, auto_rank
from evalkit.papers import claims
from evalkit.stats.terms import pluralize

#: How WMT23's results call what its metrics task calls otherwise.
NAMES = {"refA": "Human-refA", "ZengHuiMT": "LanguageX"}
_HERE: dict[str, Any] = {
    "absent": "The segments' scores of this language pair are not here.",
    "lacking": "scores not here: WMT23 DA+SQM",
}
_TESTED = (
    "The segments' mean raw scores give another number, whichever test of the scripts is taken. WMT23 printed means of "
    "raw scores and of z-scores, and its wins follow the latter; who judged what is not in what is here."
)


def wmt23_lines(printed: pd.DataFrame, segments: pd.DataFrame) -> pd.DataFrame:
    """Recompute WMT23's scores, wins and lines: pair, system, score, wins, line, line_by_wins, place in the order.

    printed: ``wmt23_clusters`` from ``data.published``. segments: ``wmt23-human``, of whose pairs scores and wins
    follow from the segments by the rule "wmt23"; line from these wins. line_by_wins: from the printed wins, all pairs.
    """
    da = segments[segments["metric"].eq("da-sqm")]
    da = da.assign(item_type="system", system=da["system"].astype("str").replace(NAMES))
    found = [one.table for one in judge(da, rules.named("wmt23"))]
    ours = pd.concat(found, ignore_index=True)
    ours["line"] = ours["cluster"].ne(ours.groupby("pair")["cluster"].shift(-1))
    wins = pd.to_numeric(printed["wins"])
    below = printed.groupby("pair").cumcount(ascending=False)
    by_wins = wins.groupby(printed["pair"]).cummin().eq(below)
    table = printed[["pair", "system"]].assign(line_by_wins=by_wins)
    return table.merge(ours[["pair", "system", "score", "wins", "line"]], on=["pair", "system"], how="left")


def compare_wmt23(printed: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Compare WMT23's printed scores, wins and lines with recomputed ones: rows for ``show.compare``.

    printed: ``wmt23_clusters``. found: the result of ``wmt23_lines``.
    """
    on, here = ["pair", "system"], _HERE
    scores = claims.compare_with_print(
        printed, found, item="mean scores", on=on, values={"score": "score"}, basis="official result", **here
    )
    wins = claims.compare_with_print(
        printed, found, item="wins", on=on, values={"wins": "wins"}, basis="official result", note=_TESTED, **here
    )
    lines = claims.compare_with_print(
        printed,
        found,
        item="lines, from the printed wins",
        on=on,
        values={"line": "line_by_wins"},
        basis="follows from other printed numbers",
    )
    z = claims.listed(
        printed,
        "z",
        item="mean z-scores",
        on=on,
        because="Who judged which segment is not in what is here.",
        lacking="annotators not here: WMT23 DA+SQM",
        basis="official result",
    )
    return pd.concat([scores, wins, lines, z], ignore_index=True)


def compare_autorank(printed: pd.DataFrame) -> pd.DataFrame:
    """Compare WMT24's automatic ranks, and who is past its cutoff, with recomputed ones: rows for ``show.compare``.

    printed: ``wmt24_autorank`` from ``data.published``, text.
    """
    scores = printed[["pair", "system"]].assign(
        metricx=pd.to_numeric(printed["metricx"]), cometkiwi=pd.to_numeric(printed["cometkiwi"])
    )
    ranked = auto_rank(scores)
    ranked["past_cutoff"] = ranked["past_cutoff"].map({True: "yes", False: "no"})
    return claims.compare_with_print(
        printed,
        ranked[["pair", "system", "autorank", "past_cutoff"]],
        item="AutoRank",
        on=["pair", "system"],
        values={"autorank": "autorank", "past_cutoff": "past_cutoff"},
        basis="follows from other printed numbers",
    )


def wins_follow(printed: pd.DataFrame) -> pd.DataFrame:
    """Correlate WMT23's printed wins with its printed raw means and z means: pair, raw, z (Spearman's rho)."""
    numbers = printed.assign(**{name: pd.to_numeric(printed[name]) for name in ("score", "z", "wins")})
    by = {"raw": "score", "z": "z"}
    rows = [
        {"pair": pair} | {name: part["wins"].corr(part[column], method="spearman") for name, column in by.items()}
        for pair, part in numbers.groupby("pair")
    ]
    return pd.DataFrame(rows)


def reproduced(
    wmt23: pd.DataFrame, printed23: pd.DataFrame, official: pd.DataFrame, autoranks: pd.DataFrame
) -> pd.DataFrame:
    """Sum up what of each year's printed tables comes out: printed, what, rule, systems, equal, why.

    wmt23: the result of ``wmt23_lines``; printed23: ``wmt23_clusters``. official: the result of
    ``ranking.compare_clusters`` for WMT21 and WMT22 into English. autoranks: that of ``compare_autorank``.
    """
    rows = [
        (name, what, "wmt21-into-english", len(part), int(part[f"equal_{column}"].sum()), _why(part))
        for name, part in official.groupby("data")
        for what, column in (("wins", "wins"), ("lines", "line"))
    ]
    joined = wmt23.merge(printed23, on=["pair", "system"], suffixes=("", "_printed"))
    lines = joined["line_printed"].eq("True")
    here = joined[joined["score"].notna()]
    of = f"in {pluralize(here['pair'].nunique(), 'pair')} whose segments' scores are here"
    rows += [
        (
            "wmt23",
            "lines, from the printed wins",
            "wmt23",
            len(joined),
            int((lines == joined["line_by_wins"]).sum()),
            "",
        ),
        ("wmt23", f"mean scores, {of}", "wmt23", len(here), _equal(here["score"], here["score_printed"], 0.005), ""),
        (
            "wmt23",
            f"wins, {of}",
            "wmt23",
            len(here),
            _equal(here["wins"], here["wins_printed"], 0.1),
            "they follow z-scores, for which who judged is needed",
        ),
        (
            "wmt23",
            f"lines, {of}",
            "wmt23",
            len(here),
            int((here["line"].eq(True) == here["line_printed"].eq("True")).sum()),
            "the same",
        ),
        (
            "wmt24",
            "AutoRank and cutoff",
            "AutoRank",
            len(autoranks),
            int((_as_text(autoranks["computed"], autoranks["printed"]) == autoranks["printed"]).sum()),
            "",
        ),
    ]
    return pd.DataFrame(rows, columns=["printed", "what", "rule", "numbers", "equal", "why"])


def what_came(came: pd.DataFrame, printed: pd.DataFrame) -> list[str]:
    """Say what came out, and why not all. came: the result of ``reproduced``; printed: ``wmt23_clusters``."""
    follow = wins_follow(printed)
    closer = int((follow["z"] > follow["raw"] + 1e-12).sum())
    return [
        f"{came['equal'].sum()} of {came['numbers'].sum()} printed numbers come out. What does not are WMT23's wins in "
        "the pairs whose segments' scores are here, and lines that rest on them. Its printed wins follow its printed "
        f"z-scores more closely than its means in {closer} of {len(follow)} pairs, and never less; z-scores need to "
        "know who judged, which is not here.",
        "WMT24's AutoRank draws no line: it averages two metrics, each stretched from 1 for the best system to one "
        "more than the number of systems for the worst (its report says to that number), and nobody below the first "
        f"gap of more than {GAP:g} was judged by people.",
    ]


def _equal(ours: pd.Series, printed: pd.Series, within: float) -> int:
    return int(((ours.astype(float) - pd.to_numeric(printed)).abs() <= within + 1e-9).sum())


def _as_text(computed: pd.Series, printed: pd.Series) -> pd.Series:
    """Write computed numbers with six digits, and words as they are."""
    number = pd.to_numeric(computed, errors="coerce")
    return number.map("{:.6f}".format).where(number.notna(), computed)


def _why(part: pd.DataFrame) -> str:
    return "" if part[["equal_wins", "equal_line"]].all(axis=None) else "see the study of calibration HITs"


def with_domains(esa: pd.DataFrame) -> pd.DataFrame:
    """Add ``domain`` to WMT24's judgements, by the names of its documents, such as test-en-news_….

    >>> frame = pd.DataFrame({"doc": ["test-en-news_a.1", "test-en-speech_b_0"]})
    >>> with_domains(frame)["domain"].tolist()
    ['news', 'speech']
    """
    return esa.assign(domain=esa["doc"].str.extract(r"^[^-]+-[^-]+-([a-z]+)_", expand=False).fillna("other"))
