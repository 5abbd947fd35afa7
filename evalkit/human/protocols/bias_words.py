"""What suggested marks, attention and time do to judgements, in sentences."""

from __future__ import annotations

import pandas as pd

from evalkit.human.protocols.pull import ASSISTED, PULLS, QUALITY
from evalkit.human.protocols.scores import SHORT
from evalkit.human.protocols.sessions import EFFECTS
from evalkit.human.protocols.suggestions import MARKINGS
from evalkit.stats.terms import join_names

#: Who keeps at least this share of the suggestions is said to keep nearly all.
NEARLY_ALL = 0.95


def summary(automation: pd.DataFrame, moved: pd.DataFrame) -> str:
    """Say in one sentence what suggestions change for whoever organises an evaluation.

    automation: ``pull.beside`` of ``pull.pull`` and ``suggestions.marking``, one below the other. moved: the result of
    ``pull.favoured``.
    """
    rows = automation.set_index("measure")
    more = "more" if rows.loc[MARKINGS[4], "low"] > 0 else "not surely more"
    clean = rows.loc[PULLS[5]]
    scores = "scores are drawn towards it" if clean["low"] > 0 else "whether scores are drawn towards it stays open"
    bent = moved["p"].lt(0.05).all() and moved["pearson"].gt(0).all()
    ranking = "the ranking favours the systems that it favours" if bent else "the ranking is not shown to follow it"
    return f"Under ESA^AI, people's marks are {more} often just the model's; {scores}, and {ranking}."


def marks(automation: pd.DataFrame, people: pd.DataFrame, sound: pd.DataFrame) -> str:
    """Say how many marks there are, who keeps suggestions, and which of them independent MQM confirms.

    people: the result of ``suggestions.kept`` by annotator. sound: that of ``suggestions.confirmed``.
    """
    rows = automation.set_index("measure")
    known = people[people["protocol"].isin(ASSISTED)]
    low, high = (known["kept"].sum() / known[name].sum() for name in ("suggested_most", "suggested_least"))
    nearly = known[known["share_low"] >= NEARLY_ALL]
    least = known.sort_values("share_high").iloc[0]
    firm, shaky, drawn = sound["confirmed"].iloc[:3]
    alone = sound["confirmed"].iloc[3:]
    number, same = rows.loc[MARKINGS[0]], rows.loc[MARKINGS[4]]
    return (
        f"With suggestions a translation has {number['esaai']:.2f} marks, without {number['esa']:.2f}; the marks weigh "
        f"just what the model says in {same['esaai']:.0%} of translations, without suggestions in {same['esa']:.0%}. "
        f"People keep {low:.0%} to {high:.0%} of suggested marks (the release fixes no more than these limits): one "
        f"person {least['share_low']:.0%} to {least['share_high']:.0%}, while {len(nearly)} of {len(known)} keep "
        f"{NEARLY_ALL:.0%} or more. Independent MQM marks the same place for {firm:.0%} of suggestions that two people "
        f"left, {shaky:.0%} of those that one of the two removed, {drawn:.0%} of marks drawn beside them, and "
        f"{alone.min():.0%} to {alone.max():.0%} of marks drawn without suggestions."
    )


def scores(automation: pd.DataFrame, moved: pd.DataFrame) -> list[str]:
    """Say how far scores and rankings follow the model, and what noise in MQM allows to say."""
    rows = automation.set_index("measure")
    part, clean = rows.loc[PULLS[1]], rows.loc[PULLS[5]]
    told = [f"{row.pearson:.2f} (p {row.p:.2f}) by {SHORT[row.quality]}" for row in moved.itertuples()]
    steady = moved.set_index("quality").loc[QUALITY[0], "steady"]
    verdict = "excludes" if clean["low"] > 0 or clean["high"] < 0 else "does not exclude"
    return [
        f"Scores correlate with the model's, one MQM held constant, by {part['esa']:.2f} without suggestions and by "
        f"{part['esaai']:.2f} with them (difference {part['difference']:+.2f}, {part['low']:+.2f} to "
        f"{part['high']:+.2f}). MQM is noisy, so part of that is quality which it misses. Correlation with the model "
        f"as a multiple of that with MQM, in which this cancels, is {clean['esa']:.2f} and {clean['esaai']:.2f}; the "
        f"interval of their difference, {clean['low']:+.2f} to {clean['high']:+.2f}, {verdict} that suggestions pull "
        "no scores.",
        f"Do suggestions lift the systems that the model ranks above what MQM does? Places gained correlate by "
        f"{join_names(told)}; of the first campaigns with the second, they correlate by {steady:.2f}.",
    ]


def noticing(table: pd.DataFrame, people: pd.DataFrame, strict: pd.DataFrame, least: float) -> str:
    """Say who notices degraded copies, and what screening by them would change.

    table, people, strict: the results of ``attention.attention``, ``attention.people`` and ``attention.screened`` with
    ``least``.
    """
    best, worst = table.sort_values("noticed").iloc[[-1, 0]].to_dict("records")
    failed = people[~people["passed"]]
    out = strict[strict["failed"] > 0].sort_values("failed", ascending=False, kind="stable")
    more = f"; {len(out) - 2} more protocols lose people" if len(out) > 2 else ""
    moves = [
        f"{SHORT[row.protocol]} {row.failed} of {row.people} people, τ-b {row.kendall_b:.2f} "
        f"(as many at random: {row.random_low:.2f} to {row.random_high:.2f})"
        for row in out.dropna(subset="kendall_b").head(2).itertuples()
    ]
    names = f" ({join_names(failed['annotator'])})" if len(failed) else ""
    return (
        f"Degraded copies score below their originals in {worst['noticed']:.0%} ({SHORT[worst['protocol']]}) to "
        f"{best['noticed']:.0%} ({SHORT[best['protocol']]}) of cases, and above them, which noise alone explains, in "
        f"{table['above'].min():.0%} to {table['above'].max():.0%}. The usual t-test fails {len(failed)} of "
        f"{len(people)} people{names}. Asking for {least:.0%} of the copies would take out "
        f"{'; '.join(moves) or 'nobody'}{more}."
    )


def changing(effects: pd.DataFrame) -> str:
    """Say what changes along an account, and after a person's first one.

    effects: the result of ``sessions.sessions``.
    """
    along = effects[effects["effect"] == EFFECTS[0]].set_index("measure")
    later = effects[effects["effect"] == EFFECTS[1]].set_index("measure")
    time, after, number = along.loc[["seconds"]], later.loc[["seconds"]], along.loc[["marks"]]
    score, kept = along.loc[["score"]], along.loc[along.index == "suggestions kept"]
    fewer = number[number["high"] < 0]["protocol"].map(SHORT).tolist()
    clear = score[(score["low"] > 0) | (score["high"] < 0)]["protocol"].map(SHORT).tolist()
    used = kept[(kept["low"] > 0) | (kept["high"] < 0)]["protocol"].map(SHORT).tolist()
    return (
        f"At the last item of an account, judgements take {_faster(time)} than at the first; in later accounts of a "
        f"person, {_faster(after)} than in the first one. The number of marks falls along an account in "
        f"{join_names(fewer) or 'no protocol'}, scores change in {join_names(clear) or 'no protocol'}, and the share "
        f"of suggestions kept in {join_names(used) or 'neither'}, by intervals that exclude 0."
    )


def _faster(rows: pd.DataFrame) -> str:
    """Say by how much time falls, at least and at most over protocols, and where that is sure.

    >>> _faster(pd.DataFrame({"estimate": [-30.0, -50.0], "high": [-5.0, 2.0]}))
    '30% to 50% less time (clearly in 1 of 2 protocols)'
    """
    sure = int((rows["high"] < 0).sum())
    least, most = -rows["estimate"].max() / 100, -rows["estimate"].min() / 100
    return f"{least:.0%} to {most:.0%} less time (clearly in {sure} of {len(rows)} protocols)"
