r"""What may mislead people: marks that a model suggests, how attentive they are, and how long they have worked.

**Scores.** Scores of people and of a model agree because both see the quality of a translation. Suggestions pull if
people who see them agree more with the model than that: more than people without suggestions do, and more than
independent MQM explains. MQM is itself noisy, so what it leaves unexplained is partly quality; a multiple of the
correlation with MQM is not moved by that.

**Marks.** Which marks a model suggested the release tells only of those that people left (``suggested``). But all who
judged a translation were shown the same suggestions, and the model's score is minus their weights: what somebody left
is known to have been suggested, and where the weights of these fall short of the score, nobody left the rest. So of
most translations all suggestions are known.

**Time.** Tasks put documents into random order, and each account's task is another random part, so that neither the
place in a task nor the number of the account goes with quality but by chance. That chance is the same in all campaigns,
which had the same tasks: hold the length of the source and the model's score constant. People differ much and are few:
their own levels are taken out, and they are drawn anew for the intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from evalkit.data.schemas import ITEM
from evalkit.human.protocols.agreement import drawn_units, partial_correlation
from evalkit.stats.correlation import covariances, least_squares
from evalkit.stats.inference import column_means, column_ratios
from evalkit.stats.widths import Part, combine, redraw

#: Campaigns without and with suggested marks, the model that suggested them, and independent judgements of quality.
ALONE, ASSISTED, MODEL = ("ESA-1", "ESA-2"), ("ESAAI-1", "ESAAI-2"), "LLM"
QUALITY = ("MQM-1", "WMT-MQM")
#: Weights of errors in the model's score.
WEIGHTS = {"minor": 1, "major": 5}
#: How the agreement of scores with the model's is measured; see ``pull``. The last is not moved by noise in MQM.
PULLS = (
    "correlation with the model",
    "correlation, one MQM held constant",
    "correlation, both MQM held constant",
    "correlation with the model as a multiple of that with MQM",
)
_OF_BOTH = np.array([False, False, True, True])  # which of them need both MQM
#: What is counted of the marks of each campaign; see ``marking``.
MARKINGS = (
    "marks a translation",
    "share of translations with a mark",
    "share of marks that are major",
    "share with a mark where the model suggests none",
    "share whose marks weigh just what the model says",
)
#: What may change over time -> column of the judgements.
MEASURES = {"seconds": "seconds", "score": "score", "marks": "errors"}
#: What changes are measured over.
EFFECTS = ("from the first to the last item of an account", "in later accounts, against the first")
_WHOSE = ["protocol", *ITEM]
_SPAN = [*ITEM, "start", "end"]


# Scores


def pull(scored: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    r"""Measure how far scores follow the model's: measure, n, esa, esaai, difference, low, high (of the difference).

    scored: the result of ``protocols.scores``; systems' outputs under ``ALONE``, ``ASSISTED``, ``MODEL`` and
    ``QUALITY`` are used. measure: a name of ``PULLS``; esa, esaai: means over campaigns. Held constant: partial
    correlation. The multiple is :math:`2 r_{yL} / (r_{y1} + r_{y2})` for scores y, the model L and both MQM: noise in
    scores weakens all three alike, and noise in MQM is the same for each campaign. If people shared nothing but quality
    with model and MQM, all campaigns would have the same multiple.
    Intervals draw documents and people anew (``widths.redraw``). Caveat: people and model may err alike for other
    reasons, such as looking at the same kinds of errors, which campaigns without suggestions show, too; the difference
    counts, and it still contains what other people would have made of it.
    """
    parts, sizes = {}, {}
    for name, part in _beside_model(scored).groupby("protocol"):
        values = part[["score", MODEL, *QUALITY]].to_numpy(float)
        known = np.isfinite(values).all(axis=1)
        complete = known[:, None] | ~_OF_BOTH
        parts[str(name)] = Part(partial(_pulls, values, known), drawn_units(part), len(part), complete)
        sizes[str(name)] = complete.sum(axis=0)
    return _compared(parts, sizes, PULLS, resamples=resamples, seed=seed)


def _compared(
    parts: Mapping[str, Part], sizes: Mapping[str, np.ndarray], measures: Sequence[str], *, resamples: int, seed: int
) -> pd.DataFrame:
    """Tabulate the means of campaigns without and with suggestions, and their difference with its interval.

    parts, sizes: campaign -> its statistic, and the judgements behind each measure, of which those without suggestions
    are told.
    """
    drawn = redraw([parts[name] for name in (*ALONE, *ASSISTED)], resamples=resamples, seed=seed)
    alone, shown = (np.repeat(which, len(ALONE)) / len(ALONE) for which in ([1, 0], [0, 1]))
    esa, esaai, difference = (combine(drawn, weights) for weights in (alone, shown, shown - alone))
    low, high = difference.interval()
    columns = {"measure": measures, "n": sum(sizes[name] for name in ALONE), "esa": esa.estimate}
    columns |= {"esaai": esaai.estimate, "difference": difference.estimate, "low": low, "high": high}
    return pd.DataFrame(columns)


def _beside_model(scored: pd.DataFrame) -> pd.DataFrame:
    """Return the judgements of campaigns beside the model's and MQM's scores of the same translations."""
    outputs = scored[scored["item_type"].eq("system")]
    wide = outputs.pivot_table(index=ITEM, columns="protocol", values="score", observed=True)
    rows = outputs[outputs["protocol"].isin([*ALONE, *ASSISTED])].join(wide[[MODEL, *QUALITY]], on=ITEM)
    return rows.dropna(subset=["score", MODEL, QUALITY[0]]).reset_index(drop=True)


def _pulls(values: np.ndarray, known: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Compute ``PULLS`` of one campaign under each weighting of rows, (batch, measures).

    values: (rows, score, model and MQM). known: (rows,) whether both MQM are there.
    """
    one, both = covariances(values[:, :3], times), covariances(values[known], times[:, known])
    plain = one[:, 0, 1] / np.sqrt(one[:, 0, 0] * one[:, 1, 1])
    spread = np.sqrt(np.diagonal(both, axis1=1, axis2=2))
    r = both[:, 0] / spread  # times the spread of the scores, which the multiple does not know
    multiple = 2 * r[:, 1] / (r[:, 2] + r[:, 3])
    return np.stack([plain, partial_correlation(one), partial_correlation(both), multiple], axis=1)


# Marks


def fully_known(marked: pd.DataFrame, released: pd.DataFrame) -> pd.MultiIndex:
    """Name the translations of which all suggestions are known: system, doc, segment.

    marked: ``data.load("wmt23-protocols-spans")``. released: scores as released, of which the model's are taken. They
    are those where the weights (``WEIGHTS``) of the suggestions that somebody left standing make the model's score, or
    more, as after people raised severities; one that people left with different severities counts as minor.
    Caveat: a severity that all who left a suggestion had changed goes unnoticed.
    """
    left, model = known_suggestions(marked), _model_scores(released)
    weight = left.assign(weight=left["severity"].map(WEIGHTS).fillna(min(WEIGHTS.values())))
    known = weight.groupby(ITEM)["weight"].sum().reindex(model.index, fill_value=0)
    return model.index[model + known >= 0]


def known_suggestions(marked: pd.DataFrame) -> pd.DataFrame:
    """List the suggestions that somebody left standing: system, doc, segment, start, end, severity.

    severity: with which all who left it did, else missing. Degraded copies are left out.
    """
    levels = _undamaged(marked).query("suggested").groupby(_SPAN, dropna=False)["severity"].agg(["first", "nunique"])
    return levels["first"].where(levels["nunique"] == 1).rename("severity").reset_index()


def marking(
    judged: pd.DataFrame, marked: pd.DataFrame, released: pd.DataFrame, *, resamples: int = 200, seed: int = 7
) -> pd.DataFrame:
    """Describe marks without and with suggestions: measure, n, esa, esaai, difference, low, high (of the difference).

    measure: a name of ``MARKINGS``, over systems' outputs; marks weigh what the model says if minus their weights
    (``WEIGHTS``) is its score. esa, esaai: means over campaigns. n: judgements without suggestions.
    Intervals draw documents and people anew (``widths.redraw``).
    """
    parts, sizes = {}, {}
    for name, own in _weighed(judged, marked, released).groupby("protocol"):
        one, some, bare = np.ones(len(own)), own["marks"].gt(0), own["model"].eq(0)
        same = own["weight"].eq(-own["model"])
        above = np.stack([own["marks"], some, own["major"], some & bare, same], axis=1).astype(float)
        below = np.stack([one, one, own["marks"], bare, one], axis=1).astype(float)
        parts[str(name)] = Part(column_ratios(above, below), drawn_units(own), len(own), below > 0)
        sizes[str(name)] = np.full(len(MARKINGS), len(own))
    return _compared(parts, sizes, MARKINGS, resamples=resamples, seed=seed)


def _undamaged(marked: pd.DataFrame) -> pd.DataFrame:
    """Return marks in undamaged translations, with plain columns; what is missing lies at -1."""
    marks = marked[marked["item_type"].isin(["system", "reference"])]
    marks = marks.astype(dict.fromkeys((*_WHOSE, "severity"), "str"))
    return marks.astype({"start": float, "end": float}).fillna({"start": -1.0, "end": 0.0}).reset_index(drop=True)


def _model_scores(released: pd.DataFrame) -> pd.Series:
    """Return the model's score of each undamaged translation."""
    model = released[released["protocol"].astype("str") == MODEL].astype(dict.fromkeys(ITEM, "str"))
    return model.drop_duplicates(ITEM).set_index(ITEM)["score"].rename("model")


def _weighed(judged: pd.DataFrame, marked: pd.DataFrame, released: pd.DataFrame) -> pd.DataFrame:
    """Return judgements of systems' outputs with their marks, major marks, weight, and the model's score."""
    rows = judged[judged["protocol"].isin([*ALONE, *ASSISTED]) & judged["item_type"].eq("system")]
    marks = _undamaged(marked)
    marks = marks.assign(weight=marks["severity"].map(WEIGHTS), major=marks["severity"].eq("major"))
    sums = marks.groupby(_WHOSE).agg(marks=("major", "size"), major=("major", "sum"), weight=("weight", "sum"))
    rows = rows[[*_WHOSE, "annotator"]].astype(dict.fromkeys(_WHOSE, "str")).join(sums, on=_WHOSE)
    return rows.fillna({"marks": 0, "major": 0, "weight": 0}).join(_model_scores(released), on=ITEM, how="inner")


# Attention


def attention(judged: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """Measure how often degraded copies were noticed, by protocol: noticed when scored below the original.

    judged: ``data.load("wmt23-protocols")``. Each copy is held against the undamaged translation that the same account
    judged. Returns protocol, people, items, above (share of copies that score higher than their originals), drop and
    drop_in_sd (mean of original less copy, in the protocol's points and in standard
    deviations of its scores of systems' outputs), marked (share with more marks than the original), noticed, low, high.
    ``above`` is what inattention and noise do alone, so noticed less above is what the damage does.
    Intervals (of noticed) draw documents and people anew. Caveat: damage was made by mixing in words from another
    translation, so some of it is slight; marks that a model suggested for the original stand in its copy, too.
    """
    own = _copies(judged).groupby("protocol", sort=False)
    parts = [Part(column_means(part[["drop"]].gt(0)), drawn_units(part), len(part)) for _, part in own]
    drawn = redraw(parts, resamples=resamples, seed=seed)
    counts = own.agg(people=("annotator", "nunique"), items=("drop", "size"))
    table = counts.join(own[["above", "drop", "marked"]].mean())
    spread = judged[judged["item_type"].eq("system")].groupby("protocol")["score"].std()
    table["drop_in_sd"] = table["drop"] / spread.reindex(table.index)
    table[["noticed", "low", "high"]] = [np.ravel([one.estimate, *one.interval()]) for one in drawn]
    return table.reset_index()


def _copies(judged: pd.DataFrame) -> pd.DataFrame:
    """Put each degraded copy beside the original in its account: its columns, drop, above and marked.

    drop is original less copy, in points; above tells whether the copy scored higher, marked whether it has more marks.
    Copies whose original the account did not judge are left out.
    """
    key = ["protocol", "annotator", "hit", *ITEM]
    plain = judged.astype(dict.fromkeys(key, "str"))
    own = plain[plain["item_type"].isin(["system", "reference"])].drop_duplicates(key).set_index(key)
    copies = plain[plain["item_type"].eq("degraded")]
    pairs = copies.join(own[["score", "errors"]].add_suffix("_original"), on=key, how="inner")
    drop = pairs["score_original"] - pairs["score"]
    return pairs.assign(drop=drop, above=drop < 0, marked=pairs["errors"] > pairs["errors_original"])


# Time


def sessions(judged: pd.DataFrame, released: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """Estimate what changes along an account and from the first account of a person to later ones.

    judged: protocol, system, doc, segment, annotator, hit, item_type, started, position, words, and the columns of
    ``MEASURES``: seconds (see ``effort.add_times``; missing and 0 are left out), score, errors. released: scores as
    released. The logarithm of ``words`` and the model's score are held constant; degraded copies are left out.
    Returns protocol, measure, effect (see ``EFFECTS``), judgements, estimate, low, high: points of a score, marks a
    translation, and percent of the time.
    The model is least squares with a level for each person; both effects stand in it together. Intervals draw documents
    and people anew. Caveat: who has one account only says nothing about later ones; and with about ten people, the
    interval is rough.
    """
    tables, model = [], judged[ITEM].astype("str").join(_model_scores(released), on=ITEM)["model"]
    placed = placed_in_time(judged.assign(model=model, words=np.log(judged["words"])))
    held = ["along", "later", "words", "model"]
    for name, part in placed[placed["item_type"].ne("degraded")].groupby("protocol", sort=False, observed=True):
        for measure, column in MEASURES.items():
            known, timed = part.dropna(subset=[column, *held]), column == "seconds"
            known = known[known[column] > 0] if timed else known
            values = known[[column, *held]].to_numpy(float)
            values[:, 0] = np.log(values[:, 0]) if timed else values[:, 0]
            people = pd.get_dummies(known["annotator"].astype("str"), dtype=float).to_numpy()
            whole = Part(partial(_effects, values, people), drawn_units(known), len(known))
            [drawn] = redraw([whole], resamples=resamples, seed=seed)
            ends = {"estimate": drawn.estimate} | dict(zip(["low", "high"], drawn.interval()))
            ends = {end: 100 * np.expm1(own) if timed else own for end, own in ends.items()}
            about = {"protocol": name, "measure": measure, "effect": EFFECTS, "judgements": len(known)}
            tables.append(pd.DataFrame(about | ends))
    return pd.concat(tables, ignore_index=True)


def placed_in_time(judged: pd.DataFrame) -> pd.DataFrame:
    """Add to judgements ``along`` (0 to 1, place in the account) and ``later`` (0 or 1).

    later: whether the account is another than the person's first, by its earliest judgement.

    >>> judged = pd.DataFrame({"protocol": "ESA", "annotator": "a", "hit": ["1", "1", "2"], "started": [5.0, 6, 9],
    ...                        "position": [0, 1, 0], "item_type": "system"})
    >>> placed_in_time(judged)[["along", "later"]].values.tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    account = judged.groupby(["protocol", "annotator", "hit"], observed=True)
    begun, last = account["started"].transform("min"), account["position"].transform("max")
    first = judged.groupby(["protocol", "annotator"], observed=True)["started"].transform("min")
    along = judged["position"] / last.where(last > 0, 1)
    return judged.assign(along=along.astype(float), later=begun.gt(first).astype(float)).reset_index(drop=True)


def _effects(values: np.ndarray, people: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the coefficients of along and later beside a level for each person, (batch, 2); NaN where undetermined.

    values: (rows, outcome, along, later, …). people: (rows, people), 1 for who judged. times: (batch, rows).
    """
    spread = values.std(axis=0).clip(1e-9)
    outcome, *held = ((values - values.mean(axis=0)) / spread).T
    found = least_squares(np.column_stack([*held, people]), outcome, times)  # known by what varies within people
    return (found * spread[0])[:, :2] / spread[1:3]
