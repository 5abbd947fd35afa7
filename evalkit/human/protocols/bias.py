r"""What may mislead people: marks that a model suggests, how attentive they are, and how long they have worked.

**Scores.** Scores of people and of a model agree because both see the quality of a translation. Suggestions pull if
people who see them agree more with the model than that: more than people without suggestions do, and more than
independent MQM explains. MQM is itself noisy, so what it leaves unexplained is partly quality; two independent MQM
judgements tell how much, for the errors of one say nothing about the other (each is the instrument of the other).

**Marks.** Which marks a model suggested the release tells only of those that people left (``suggested``). But all who
judged a translation were shown the same suggestions, and the model's score is minus their weights: what somebody left
is known to have been suggested, and where the weights of these fall short of the score, nobody left the rest. So the
number of suggestions is known exactly for most translations, and within limits for the others.

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
from scipy import stats

from evalkit import DataError
from evalkit.data.schemas import ITEM, segment_names
from evalkit.human.protocols.agreement import SHORT, drawn_units, partial_correlation
from evalkit.stats.correlation import covariances
from evalkit.stats.inference import column_means, column_ratios, interval, resample
from evalkit.stats.widths import Part, combine, redraw

#: Campaigns without and with suggested marks, the model that suggested them, and independent judgements of quality.
ALONE, ASSISTED, MODEL = ("ESA-1", "ESA-2"), ("ESAAI-1", "ESAAI-2"), "LLM"
QUALITY = ("MQM-1", "WMT-MQM")
#: Judgements that saw suggestions.
SHOWN = (*ASSISTED, "ESAAI-IAA")
#: What two means of campaigns and their difference are called, where each campaign has a row.
MEANS = ("ESA", "ESAAI", "ESAAI less ESA")
#: How campaigns and means are written on pages.
CALLED = {**SHORT, MEANS[1]: "ESA^AI", MEANS[2]: "ESA^AI less ESA"}
#: Weights of errors in the model's score.
WEIGHTS = {"minor": 1, "major": 5}
#: How the agreement of scores with the model's is measured; see ``pull``. The last is not moved by noise in MQM.
PULLS = (
    "correlation with the model",
    "correlation, one MQM held constant",
    "correlation, both MQM held constant",
    "points a major error of the model, one MQM held constant",
    "points a major error of the model, noise of MQM removed",
    "correlation with the model as a multiple of that with MQM",
)
_OF_BOTH = np.array([False, False, True, False, True, True])  # which of them need both MQM
#: What is counted of the marks of each campaign; see ``marking``.
MARKINGS = (
    "marks a translation",
    "share of translations with a mark",
    "share of marks that are major",
    "share with a mark where the model suggests none",
    "share whose marks weigh just what the model says",
)
#: A person passes if degraded items score below their originals with a p-value below this, as at WMT.
PASSED = 0.05
#: What may change over time -> column of the judgements.
MEASURES = {
    "seconds": "seconds",
    "score": "score",
    "marks": "errors",
    "suggestions kept": "share_kept",
    "degraded copies noticed": "noticed",
}
#: What changes are measured over.
EFFECTS = ("from the first to the last item of an account", "in later accounts, against the first")
_WHOSE = ["protocol", *ITEM]
_SPAN = [*ITEM, "start", "end"]


# Scores


def pull(scored: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    r"""Measure how far scores follow the model's, by campaign: measure, protocol, n, estimate, low, high.

    scored: the result of ``protocols.scores``; systems' outputs under ``ALONE``, ``ASSISTED``, ``MODEL`` and
    ``QUALITY`` are used. measure: a name of ``PULLS``; protocol: a campaign, or one of ``MEANS``. Points are the change
    of a score (0 to 100) for one major error more that the model sees. Held constant: partial correlation, or the
    coefficient of the model beside MQM in a least-squares fit. Where the noise of MQM is removed, each MQM is
    instrumented by the other and the mean of both directions is taken: :math:`\beta = (Z'X)^{-1}Z'y` with X = (model,
    one MQM) and Z = (model, the other). The multiple is :math:`2 r_{yL} / (r_{y1} + r_{y2})` for scores y, the model L
    and both MQM: noise in scores weakens all three alike, and noise in MQM is the same for each campaign. If people
    shared nothing but quality with model and MQM, removing the noise would leave no points, and all campaigns would
    have the same multiple.
    Intervals draw documents and people anew (``widths.redraw``). Source: Wooldridge 2010, section 5.3 (several
    indicators of an unobserved variable). Caveat: people and model may err alike for other reasons, such as looking at
    the same kinds of errors, which campaigns without suggestions show, too; the difference counts, and it still
    contains what other people would have made of it.
    """
    parts, sizes = {}, {}
    for name, part in _beside_model(scored).groupby("protocol"):
        values = part[["score", MODEL, *QUALITY]].to_numpy(float)
        known = np.isfinite(values).all(axis=1)
        complete = known[:, None] | ~_OF_BOTH
        parts[str(name)] = Part(partial(_pulls, values, known), drawn_units(part), len(part), complete)
        sizes[str(name)] = complete.sum(axis=0)
    return _campaigns(parts, sizes, PULLS, resamples=resamples, seed=seed)


def beside(measured: pd.DataFrame) -> pd.DataFrame:
    """Put campaigns without and with suggestions side by side: measure, n, esa, esaai, difference, low, high.

    measured: the result of ``pull`` or ``marking``; low and high belong to the difference.

    >>> row = {"measure": "r", "n": 9, "low": 0.1, "high": 0.3}
    >>> three = pd.DataFrame([{**row, "protocol": name, "estimate": x} for name, x in zip(MEANS, (0.4, 0.6, 0.2))])
    >>> beside(three)[["measure", "n", "esa", "esaai", "difference", "low", "high"]].values.tolist()
    [['r', 9, 0.4, 0.6, 0.2, 0.1, 0.3]]
    """
    alone, shown, difference = (measured[measured["protocol"] == name].set_index("measure") for name in MEANS)
    table = difference.drop(columns="protocol").rename(columns={"estimate": "difference"})
    return table.assign(esa=alone["estimate"], esaai=shown["estimate"]).reset_index()


def _campaigns(
    parts: Mapping[str, Part], sizes: Mapping[str, np.ndarray], measures: Sequence[str], *, resamples: int, seed: int
) -> pd.DataFrame:
    """Tabulate measures of campaigns, of both means and of their difference, each with its interval.

    parts, sizes: campaign -> its statistic, and the judgements behind each measure (for means, those without
    suggestions).
    """
    names = [*ALONE, *ASSISTED]
    drawn = redraw([parts[name] for name in names], resamples=resamples, seed=seed)
    without, shown = (np.isin(names, group) / len(group) for group in (ALONE, ASSISTED))
    drawn += [combine(drawn, weights) for weights in (without, shown, shown - without)]
    counts = [sizes[name] for name in names] + [sum(sizes[name] for name in ALONE)] * len(MEANS)
    tables = []
    for name, one, n in zip([*names, *MEANS], drawn, counts, strict=True):
        low, high = one.interval()
        columns = {"measure": measures, "protocol": name, "n": n, "estimate": one.estimate, "low": low, "high": high}
        tables.append(pd.DataFrame(columns))
    order = dict(zip(measures, range(len(measures))))
    return pd.concat(tables).sort_values("measure", key=lambda own: own.map(order), kind="stable", ignore_index=True)


def _beside_model(scored: pd.DataFrame) -> pd.DataFrame:
    """Return the judgements of campaigns beside the model's and MQM's scores of the same translations."""
    campaigns, others = [*ALONE, *ASSISTED], [MODEL, *QUALITY]
    outputs = scored[scored["item_type"].eq("system")]
    if lacking := {*campaigns, *others} - set(outputs["protocol"]):
        raise DataError(f"No score under {', '.join(sorted(lacking))}: who pulls whom needs all of these protocols.")
    wide = outputs.pivot_table(index=ITEM, columns="protocol", values="score", observed=True)
    rows = outputs[outputs["protocol"].isin(campaigns)].join(wide[others], on=ITEM)
    return rows.dropna(subset=["score", MODEL, QUALITY[0]]).reset_index(drop=True)


def _pulls(values: np.ndarray, known: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Compute ``PULLS`` of one campaign under each weighting of rows, (batch, measures).

    values: (rows, score, model and MQM). known: (rows,) whether both MQM are there.
    """
    one, both = covariances(values[:, :3], times), covariances(values[known], times[:, known])
    plain = one[:, 0, 1] / np.sqrt(one[:, 0, 0] * one[:, 1, 1])
    clean = (_slope(both, (1, 2), (1, 3)) + _slope(both, (1, 3), (1, 2))) / 2
    slope = _slope(one, (1, 2), (1, 2))
    spread = np.sqrt(np.diagonal(both, axis1=1, axis2=2))
    r = both[:, 0] / spread  # times the spread of the scores, which the multiple does not know
    multiple = 2 * r[:, 1] / (r[:, 2] + r[:, 3])
    major = WEIGHTS["major"]
    return np.stack(
        [plain, partial_correlation(one), partial_correlation(both), major * slope, major * clean, multiple], axis=1
    )


def _slope(covariance: np.ndarray, regressors: Sequence[int], instruments: Sequence[int]) -> np.ndarray:
    """Return the first regressor's coefficient for column 0, (batch,); NaN where it is not determined."""
    left = covariance[:, list(instruments)][:, :, list(regressors)]
    right = covariance[:, list(instruments), 0]
    bad = ~np.isfinite(left).all(axis=(1, 2)) | (np.abs(np.linalg.det(left)) < 1e-12)
    left = np.where(bad[:, None, None], np.eye(left.shape[1]), left)
    return np.where(bad, np.nan, np.linalg.solve(left, right[..., None])[:, 0, 0])


# Marks


def suggestions(marked: pd.DataFrame, released: pd.DataFrame) -> pd.DataFrame:
    """Count the errors that the model suggested in each translation: system, doc, segment, known, least, most.

    marked: ``data.load("wmt23-protocols-spans")``. released: scores as released, of which the model's are taken; a row
    is returned for each of these. known: different suggestions that somebody left standing. least, most: how many there
    were at least and at most, so that their weights (``WEIGHTS``) make the model's score; a suggestion that people left
    with different severities may have had either. Where no number makes the score, as after people changed severities
    alike, nothing is added to those known.
    Caveat: a severity that all who left a suggestion had changed goes unnoticed.
    """
    left = known_suggestions(marked)
    weight = left["severity"].map(WEIGHTS)
    left = left.assign(unsure=weight.isna(), weight=weight.fillna(min(WEIGHTS.values())))
    sums = left.groupby(ITEM).agg(known=("weight", "size"), weight=("weight", "sum"), unsure=("unsure", "sum"))
    table = _model_scores(released).to_frame().join(sums).fillna(0.0)
    limits = [_unseen(*row) for row in zip(-table["model"] - table["weight"], table["unsure"], strict=True)]
    least, most = np.array(limits, float).reshape(-1, 2).T
    table = table.assign(least=table["known"] + least, most=table["known"] + most)
    return table[["known", "least", "most"]].astype(int).reset_index()


def known_suggestions(marked: pd.DataFrame) -> pd.DataFrame:
    """List the suggestions that somebody left standing: system, doc, segment, start, end, severity, and who left them.

    severity: with which all who left it did, else missing. A column for each of ``SHOWN`` tells whether it was left
    there. Degraded copies are left out.
    """
    if "suggested" not in marked:
        raise DataError("The marks lack the column suggested, which tells whose they are. Load wmt23-protocols-spans.")
    left = _undamaged(marked).query("suggested")
    levels = left.groupby(_SPAN, dropna=False)["severity"].agg(["first", "nunique"])
    severity = levels["first"].where(levels["nunique"] == 1).rename("severity")
    who = left.groupby([*_SPAN, "protocol"], dropna=False).size().unstack("protocol").reindex(columns=list(SHOWN))
    return severity.to_frame().join(who.notna()).reset_index()


def counted(judged: pd.DataFrame, marked: pd.DataFrame, released: pd.DataFrame) -> pd.DataFrame:
    """Add to each judgement with suggestions how many there were, were kept, and were drawn: least, most, kept, own.

    judged: ``data.load("wmt23-protocols")``; those of undamaged translations under ``SHOWN`` are returned.
    marked, released: see ``suggestions``.
    """
    shown = judged[judged["protocol"].isin(SHOWN) & judged["item_type"].isin(["system", "reference"])]
    shown = shown.astype(dict.fromkeys(_WHOSE, "str"))
    whose = _undamaged(marked).groupby(_WHOSE)["suggested"].agg(kept="sum", size="size")
    table = shown.join(suggestions(marked, released).set_index(ITEM), on=ITEM)
    table = table.join(whose, on=_WHOSE).fillna({"kept": 0, "size": 0})
    return table.assign(own=table["size"] - table["kept"]).drop(columns=["size", "known"])


def kept(counts: pd.DataFrame, *, by: str = "protocol") -> pd.DataFrame:
    """Sum up how many suggestions people kept: by, protocol, judgements, suggested_least, suggested_most, kept, own, ….

    counts: the result of ``counted``. by: ``protocol``, ``annotator`` or ``hit``. kept: left standing, whatever their
    severity. own: marks that people drew themselves. share_low, share_high: kept over suggested, which is known within
    limits only (see ``suggestions``).
    """
    groups = counts.groupby(list(dict.fromkeys([by, "protocol"])), sort=False)
    sums = {"suggested_least": "least", "suggested_most": "most", "kept": "kept", "own": "own"}
    table = groups.agg(judgements=("kept", "size"), **{name: (column, "sum") for name, column in sums.items()})
    least, most = (table[name].where(table[name] > 0) for name in ("suggested_least", "suggested_most"))
    return table.assign(share_low=table["kept"] / most, share_high=table["kept"] / least).reset_index()


def confirmed(marked: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """Tell which marks independent MQM confirms: kind, marks, characters, confirmed, low, high.

    kind: suggestions that the people of both ``ASSISTED`` campaigns left, or of one only, marks that these people drew
    themselves, and those of ``ALONE``. characters: mean length. confirmed: share that shares a character with a mark of
    the first ``QUALITY`` in the same translation; what was found missing is confirmed by anything missing. What both
    left and what one removed were both left by somebody, so their difference is what removing tells. Intervals draw
    segments anew.
    Caveat: longer marks are confirmed more easily; and suggestions that everybody removed are not in the release.
    """
    marks, known = _undamaged(marked), known_suggestions(marked)
    times = known[list(ASSISTED)].sum(axis=1)
    kinds = {
        "suggested, both left it": known[times == len(ASSISTED)],
        "suggested, one of two removed it": known[times == 1],
        "drawn beside suggestions": marks[marks["protocol"].isin(ASSISTED) & ~marks["suggested"]],
        **{f"drawn under {name}": marks[marks["protocol"] == name] for name in ALONE},
    }
    sound = marks.loc[marks["protocol"] == QUALITY[0], _SPAN]
    rows = []
    for kind, some in kinds.items():
        pairs = some[_SPAN].reset_index(names="number").merge(sound, on=ITEM, suffixes=("", "_other"))
        met = pairs[(pairs["start"] < pairs["end_other"]) & (pairs["start_other"] < pairs["end"])]
        hit = some.index.isin(met["number"]).astype(float)
        draws = resample(column_means(hit[:, None]), segment_names(some).to_numpy(str), resamples=resamples, seed=seed)
        low, high = interval(draws[:, 0])
        rows.append((kind, len(some), (some["end"] - some["start"]).mean(), hit.mean(), float(low), float(high)))
    return pd.DataFrame(rows, columns=["kind", "marks", "characters", "confirmed", "low", "high"])


def marking(
    judged: pd.DataFrame, marked: pd.DataFrame, released: pd.DataFrame, *, resamples: int = 200, seed: int = 7
) -> pd.DataFrame:
    """Describe the marks of campaigns without and with suggestions: measure, protocol, n, estimate, low, high.

    measure: a name of ``MARKINGS``, over systems' outputs; marks weigh what the model says if minus their weights
    (``WEIGHTS``) is its score. protocol: a campaign, or one of ``MEANS``. n: judgements.
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
    return _campaigns(parts, sizes, MARKINGS, resamples=resamples, seed=seed)


def _undamaged(marked: pd.DataFrame) -> pd.DataFrame:
    """Return marks in undamaged translations, with plain columns; what is missing lies at -1."""
    marks = marked[marked["item_type"].isin(["system", "reference"])]
    marks = marks.astype(dict.fromkeys((*_WHOSE, "severity"), "str"))
    return marks.astype({"start": float, "end": float}).fillna({"start": -1.0, "end": 0.0}).reset_index(drop=True)


def _model_scores(released: pd.DataFrame) -> pd.Series:
    """Return the model's score of each undamaged translation."""
    model = released[released["protocol"].astype("str") == MODEL].astype(dict.fromkeys(ITEM, "str"))
    return model.drop_duplicates(ITEM).set_index(ITEM)["score"].rename("model")


def _unseen(short: float, unsure: float) -> tuple[int, int]:
    """Return how few and how many more suggestions make up for missing weight, where some may weigh 4 more.

    >>> _unseen(0, 0), _unseen(1, 0), _unseen(6, 0), _unseen(5, 1), _unseen(-2, 0)
    ((0, 0), (1, 1), (2, 6), (1, 5), (0, 0))
    """
    minor, major = sorted(WEIGHTS.values())
    rests = [rest for rest in (short - (major - minor) * n for n in range(int(unsure) + 1)) if rest >= 0]
    counts = [(int(rest // major + rest % major), int(rest)) for rest in rests] or [(0, 0)]
    return min(low for low, _ in counts), max(high for _, high in counts)


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
    judged. Returns protocol, people, items, equal, above (shares of copies that score the same as, and higher than
    their originals), drop and drop_in_sd (mean of original less copy, in the protocol's points and in standard
    deviations of its scores of systems' outputs), marked (share with more marks than the original), noticed, low, high.
    ``above`` is what inattention and noise do alone, so noticed less above is what the damage does.
    Intervals (of noticed) draw documents and people anew. Caveat: damage was made by mixing in words from another
    translation, so some of it is slight; marks that a model suggested for the original stand in its copy, too.
    """
    copies = _copies(judged)
    copies = copies.assign(equal=copies["drop"].eq(0), above=copies["drop"].lt(0))
    own = copies.groupby("protocol", sort=False)
    parts = [Part(column_means(part[["drop"]].gt(0)), drawn_units(part), len(part)) for _, part in own]
    drawn = redraw(parts, resamples=resamples, seed=seed)
    means = {"equal": "equal", "above": "above", "drop": "drop", "marked": "more_marks"}
    counted = {"people": ("annotator", "nunique"), "items": ("drop", "size")}
    table = own.agg(**counted, **{name: (column, "mean") for name, column in means.items()})
    spread = judged[judged["item_type"].eq("system")].groupby("protocol")["score"].std()
    table["drop_in_sd"] = table["drop"] / spread.reindex(table.index)
    table[["noticed", "low", "high"]] = [np.ravel([one.estimate, *one.interval()]) for one in drawn]
    return table.reset_index()


def attention_of_people(judged: pd.DataFrame) -> pd.DataFrame:
    """Test each person's degraded copies: protocol, annotator, items, noticed, drop, p, passed.

    p: of a one-sided paired t-test, as in WMT's quality control, missing for one copy alone; passed where it is below
    ``PASSED``.
    """
    copies = _copies(judged).assign(noticed=lambda table: table["drop"].gt(0))
    own = copies.groupby(["protocol", "annotator"], sort=False)
    table = own.agg(items=("drop", "size"), noticed=("noticed", "mean"), drop=("drop", "mean"))
    table["p"] = stats.t.sf(table["drop"] / own["drop"].sem(), table["items"] - 1)
    return table.assign(passed=table["p"] < PASSED).reset_index()


def _copies(judged: pd.DataFrame) -> pd.DataFrame:
    """Put each degraded copy beside the original in its account: its columns, drop and more_marks.

    drop is original less copy, in points; more_marks tells whether the copy has more of them. Copies whose original the
    account did not judge are left out.
    """
    key = ["protocol", "annotator", "hit", *ITEM]
    plain = judged.astype(dict.fromkeys(key, "str"))
    own = plain[plain["item_type"].isin(["system", "reference"])].drop_duplicates(key).set_index(key)
    copies = plain[plain["item_type"].eq("degraded")]
    pairs = copies.join(own[["score", "errors"]].add_suffix("_original"), on=key, how="inner")
    drop, more = pairs["score_original"] - pairs["score"], pairs["errors"] > pairs["errors_original"]
    return pairs.assign(drop=drop, more_marks=more)


# Time


def with_changing(judged: pd.DataFrame, released: pd.DataFrame, counts: pd.DataFrame) -> pd.DataFrame:
    """Add to judgements what may change while people work, and what ``sessions`` holds constant.

    released: scores as released. counts: the result of ``counted`` for these judgements. Adds model (the model's score
    of the undamaged translation), share_kept (of the suggestions known, missing where there are none) and noticed (of
    degraded copies that have an original: 1 where they score below it, else 0).
    """
    model = judged[ITEM].astype("str").join(_model_scores(released), on=ITEM)["model"]
    share = counts["kept"] / counts["least"].where(counts["least"] > 0)
    return judged.assign(model=model, share_kept=share, noticed=_copies(judged)["drop"].gt(0).astype(float))


def sessions(judged: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """Estimate what changes along an account and from the first account of a person to later ones.

    judged: protocol, system, doc, segment, annotator, hit, item_type, started, position, and the columns of
    ``MEASURES``, those that are there: seconds (see ``effort.add_times``; missing and 0 are left out), score, errors,
    share_kept and noticed (see ``with_changing``; noticed of degraded copies, while the others are of undamaged
    translations). ``words`` (its logarithm) and ``model``, those that are there, are held constant.
    Returns protocol, measure, effect (see ``EFFECTS``), judgements, people (whose accounts tell), rising (people with a
    positive effect of their own), estimate, low, high: points of a score, marks a translation, share of suggestions or
    copies, and percent of the time.
    The model is least squares with a level for each person; both effects stand in it together. Intervals draw documents
    and people anew. Caveat: who has one account only says nothing about later ones; and with about ten people, the
    interval is rough.
    """
    tables = []
    for name, part in placed_in_time(judged).groupby("protocol", sort=False, observed=True):
        for measure, column in MEASURES.items():
            if column in part and part[column].notna().any():
                known, values = _regressed(part, column)
                people = pd.get_dummies(known["annotator"].astype("str")).to_numpy()
                whole = Part(partial(_effects, values, people.astype(float)), drawn_units(known), len(known))
                [drawn] = redraw([whole], resamples=resamples, seed=seed)
                each = [(values[own], np.ones((own.sum(), 1)), np.ones((1, own.sum()))) for own in people.T]
                alone = np.concatenate([_effects(*one) for one in each])
                columns = {"protocol": name, "measure": measure, "effect": EFFECTS, "judgements": len(known)}
                columns |= {"people": np.isfinite(alone).sum(axis=0), "rising": (alone > 1e-9).sum(axis=0)}
                ends = {"estimate": drawn.estimate} | dict(zip(["low", "high"], drawn.interval()))
                percent = {end: 100 * np.expm1(own) if column == "seconds" else own for end, own in ends.items()}
                tables.append(pd.DataFrame(columns | percent))
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


def _regressed(part: pd.DataFrame, column: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the rows that have a value, and their columns outcome, along, later and what is held constant."""
    held = [name for name in ("words", "model") if name in part]
    known = part[part["item_type"].eq("degraded") == (column == "noticed")].dropna(subset=[column, *held])
    known = (known[known[column] > 0] if column == "seconds" else known).reset_index(drop=True)
    values = known[[column, "along", "later", *held]].astype(float)
    logs = [name for name in ("seconds", "words") if name in values]
    values[logs] = np.log(values[logs])
    return known, values.to_numpy()


def _effects(values: np.ndarray, people: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the coefficients of along and later beside a level for each person, (batch, 2); NaN where undetermined.

    values: (rows, outcome, along, later, …). people: (rows, people), 1 for who judged. times: (batch, rows).
    """
    spread = values.std(axis=0).clip(1e-9)
    outcome, *held = ((values - values.mean(axis=0)) / spread).T
    design = np.column_stack([*held, people])
    size = design.shape[1]
    products = (times @ (design[:, :, None] * design[:, None]).reshape(len(design), -1)).reshape(-1, size, size)
    inverse = np.linalg.pinv(products, rcond=1e-10, hermitian=True)
    known = np.diagonal(inverse @ products, axis1=1, axis2=2) > 1 - 1e-6  # by what varies within people
    found = (inverse @ (times @ (design * outcome[:, None]))[..., None])[..., 0]
    return (np.where(known, found, np.nan) * spread[0])[:, :2] / spread[1:3]
