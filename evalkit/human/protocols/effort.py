"""How long a judgement, a word and a marked error take under each protocol."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.data.schemas import ITEM, SEGMENT
from evalkit.human import annotators
from evalkit.human.annotators import PAUSE
from evalkit.stats import inference, widths

#: What time is divided by, and what a row of ``time`` is called by.
UNITS = ("segment", "word", "marked error")
#: Pauses that ``sensitivity`` tries, seconds.
PAUSES = (120, 300, 600, 1200, 3600)


def add_times(judged: pd.DataFrame, *, pause: float = PAUSE) -> pd.DataFrame:
    """Add ``seconds``, how long each judgement took; missing where nobody knows.

    judged: judgements with protocol, annotator, hit (account), ended. A judgement takes from the end of the same
    person's previous one to its own end (``annotators.since_last``). Missing for an account's first judgement, which
    follows the tutorial, and after more than ``pause`` seconds.

    >>> two = pd.DataFrame({"protocol": "ESA", "annotator": "a", "hit": "a1", "ended": [0.0, 40.0, 5000.0]})
    >>> add_times(two)["seconds"].tolist()
    [nan, 40.0, nan]
    """
    own = judged.assign(annotator=judged["protocol"] + "\t" + judged["annotator"].astype(str))
    order = judged.groupby(["protocol", "hit"])["ended"].rank(method="first")
    return judged.assign(seconds=annotators.since_last(own, pause=pause).where(order > 1))


def add_words(judged: pd.DataFrame, texts: pd.DataFrame) -> pd.DataFrame:
    """Add ``words``, the number of the source's tokens between white space.

    texts: segment, source and tgt_lang, src_lang where the judgements have them; one source a segment.
    Caveat: punctuation stays with its word, as in most counts that translators are paid by.
    """
    key = [name for name in ("src_lang", "tgt_lang", *SEGMENT) if name in judged and name in texts]
    sources = texts.drop_duplicates(key)[[*key, "source"]]
    found = judged[key].astype(str).merge(sources.astype(str), on=key, how="left")["source"]
    if found.isna().any():
        raise DataError(f"{found.isna().sum()} judgements have no source text. Load the texts of the same test set.")
    return judged.assign(words=found.str.split().str.len().to_numpy())


def time(
    judged: pd.DataFrame, texts: pd.DataFrame, *, pause: float = PAUSE, resamples: int = 200, seed: int = 7
) -> pd.DataFrame:
    """Measure seconds per segment, word and marked error, with 95 % intervals.

    judged: as in ``add_times``, with doc, item_type and errors (marks). Degraded items do not count here.
    Returns protocol, unit, judgements (with a time), median (of judgements; for errors, of those with a mark), low,
    high, and overall (all seconds over all segments, words or marks: what a budget is made of), overall_low,
    overall_high. Intervals draw documents, people, and what one person judged of one document, each with replacement,
    and put these together on the logarithm (``widths.crossed_variance``), with Student's t of people - 1.
    Caveat: with 8 to 13 people a protocol they are rough.
    """
    timed = add_words(add_times(judged, pause=pause), texts)
    timed = timed[timed["seconds"].notna() & (timed["item_type"] != "degraded")]
    rows = [
        {"protocol": protocol, **row}
        for protocol, part in timed.groupby("protocol", sort=False)
        for row in _time(part, resamples=resamples, seed=seed)
    ]
    return pd.DataFrame(rows)


def _time(part: pd.DataFrame, *, resamples: int, seed: int) -> list[dict[str, object]]:
    """Measure one protocol; a row a unit."""
    seconds = part["seconds"].to_numpy()
    sizes = np.stack([np.ones(len(part)), part["words"], part["errors"].fillna(0)])

    def statistic(counts: np.ndarray) -> np.ndarray:
        overall = (counts @ seconds)[:, None] / np.maximum(counts @ sizes.T, 1e-9)
        medians = [_medians(seconds[size > 0] / size[size > 0], counts[:, size > 0]) for size in sizes]
        return np.log(np.concatenate([np.stack(medians, axis=1), overall], axis=1))

    found = statistic(np.ones((1, len(part))))[0]
    document, person = part["doc"].astype(str), part["annotator"].astype(str)
    units = {("document",): document, ("person",): person, ("document", "person"): person + "\t" + document}
    draws = {
        kinds: inference.resample(statistic, own.to_numpy(str), resamples=resamples, seed=seed)
        for kinds, own in units.items()
    }
    square = widths.crossed_variance({kinds: inference.standard_error(own) ** 2 for kinds, own in draws.items()})
    reach = stats.t.ppf(0.975, person.nunique() - 1) * np.sqrt(square)
    centre, low, high = np.exp([found, found - reach, found + reach]).reshape(3, 2, -1)
    return [
        {
            "unit": unit,
            "judgements": int((sizes[n] > 0).sum()),
            "median": centre[0, n],
            "low": low[0, n],
            "high": high[0, n],
            "overall": centre[1, n],
            "overall_low": low[1, n],
            "overall_high": high[1, n],
        }
        for n, unit in enumerate(UNITS)
    ]


def _medians(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the median of values that count so often each, (batch,) from (batch, values)."""
    order = np.argsort(values, kind="stable")
    cumulated = counts[:, order].cumsum(axis=1)
    half = cumulated[:, -1:] / 2
    places = ((cumulated < half).sum(axis=1), (cumulated <= half).sum(axis=1))
    lower, upper = (values[order][np.minimum(place, len(values) - 1)] for place in places)
    return np.asarray((lower + upper) / 2)


def work(judged: pd.DataFrame, *, pause: float = PAUSE) -> pd.DataFrame:
    """Sum up each campaign's work: protocol, people, judgements, useful, breaks, hours, seconds, hours_each.

    useful: judgements of systems and references. breaks: share of judgements without a known time, which count with
    the mean of the others. hours: of all judgements, degraded items too. seconds: hours over useful judgements, so
    what the degraded items cost is charged to the others. hours_each: hours a person. Tutorials are not in the data.
    """
    timed = add_times(judged, pause=pause)
    rows = [{"protocol": name, **sum_up(part)} for name, part in timed.groupby("protocol", sort=False)]
    return pd.DataFrame(rows)


def sum_up(timed: pd.DataFrame) -> dict[str, float]:
    """Sum up one campaign's ``work`` from its rows of ``add_times``."""
    judgements, useful = len(timed), int((timed["item_type"] != "degraded").sum())
    people, hours = timed["annotator"].nunique(), float(timed["seconds"].mean()) * judgements / 3600
    return {
        "people": people,
        "judgements": judgements,
        "useful": useful,
        "breaks": float(timed["seconds"].isna().mean()),
        "hours": hours,
        "seconds": hours * 3600 / useful,
        "hours_each": hours / people,
    }


def sensitivity(judged: pd.DataFrame, *, pauses: Sequence[float] = PAUSES) -> pd.DataFrame:
    """Compute what the longest time that counts as work changes.

    pauses: seconds. Returns protocol, pause, breaks (share of judgements without a time), median and mean (seconds a
    judgement, degraded items too), hours (of the campaign, as in ``work``) and per_error (all seconds over all marks).
    """
    parts = []
    for pause in pauses:
        timed = add_times(judged, pause=pause).dropna(subset="seconds")
        groups = timed.groupby("protocol", sort=False)
        table = groups["seconds"].agg(["median", "mean"])
        table["per_error"] = groups["seconds"].sum() / groups["errors"].sum()
        whole = work(judged, pause=pause).set_index("protocol")
        parts.append(table.assign(pause=pause, breaks=whole["breaks"], hours=whole["hours"]).reset_index())
    return pd.concat(parts, ignore_index=True)[["protocol", "pause", "breaks", "median", "mean", "hours", "per_error"]]


def spared(released: pd.DataFrame, judged: pd.DataFrame, *, model: str = "LLM", fewest: int = 5) -> dict[str, float]:
    """Compute the work that leaving out what the model finds faultless would spare, as shares.

    released: protocol, system, segment, score. judged: the campaigns whose time is meant. outputs: of all outputs,
    those without an error by the model (score 0). time: the seconds that they took of all known ones. segments: of
    all source segments, those of which at least ``fewest`` outputs have no error, and which would not be judged at all
    (the paper's second way). Source: filtering_with_gemba.py of the release (Zouhar et al. 2025).
    """
    clean = released[released["protocol"] == model].assign(clean=lambda table: table["score"] == 0)
    if clean.empty:
        raise DataError(f"No scores of {model}. There are {', '.join(map(str, released['protocol'].unique()))}.")
    timed = add_times(judged).query("item_type != 'degraded'").dropna(subset="seconds")
    seconds = timed[[*ITEM, "seconds"]].astype(dict.fromkeys(ITEM, str)).merge(clean, on=ITEM)
    easy = clean.groupby([*SEGMENT])["clean"].sum() >= fewest
    share = float(seconds.loc[seconds["clean"], "seconds"].sum() / seconds["seconds"].sum())
    return {"outputs": float(clean["clean"].mean()), "time": share, "segments": float(easy.mean())}
