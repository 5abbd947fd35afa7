"""Challenge sets: does a metric prefer a good translation to one that is wrong in one known way?

The format is that of ACES (Amrhein et al. 2022): source, good-translation, incorrect-translation, reference,
phenomena, langpair. ACES itself is read from the user's copy; ``perturbed`` makes a small set from annotated data.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.papers.sai2023 import perturbations
from evalkit.stats.inference import column_means, interval, resample

#: The columns of ACES that are read here.
COLUMNS = ("source", "good-translation", "incorrect-translation", "reference", "phenomena", "langpair")
#: What ``perturbed`` degrades.
PHENOMENA = ("negation", "number", "name", "word order")
#: Challenges of a language and phenomenon that ``perturbed`` keeps.
MOST = 40


def read(path: str | Path) -> pd.DataFrame:
    """Read a challenge set in ACES' format: TSV with a header, or one JSON object a line (``.jsonl``).

    Returns ``COLUMNS`` and language, the target of the langpair. Quotes are letters. Raises DataError for a missing
    column, an empty cell, a langpair that is not two codes, or two translations that are the same.
    """
    path = Path(path)
    try:
        if path.suffix == ".jsonl":
            table = pd.read_json(path, lines=True, dtype=False)
        else:
            table = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False, quoting=csv.QUOTE_NONE)
    except FileNotFoundError:
        raise DataError(f"There is no file {path.name}. Give the path of a challenge set in ACES' format.") from None
    except (ValueError, pd.errors.ParserError) as problem:
        raise DataError(f"{path.name} is no challenge set: {problem}. Give a TSV, or JSON lines.") from None
    return checked(table, origin=path.name)


def checked(table: pd.DataFrame, *, origin: str) -> pd.DataFrame:
    """Return a challenge set with its columns checked and its target language; DataError names what is wrong where."""
    missing = [name for name in COLUMNS if name not in table]
    if missing:
        raise DataError(f"{origin} has no column {missing[0]}. A challenge set has {', '.join(COLUMNS)}.")
    if table.empty:
        raise DataError(f"{origin} has no challenges. Give a set with at least one row.")
    table = table[list(COLUMNS)].fillna("").astype(str).reset_index(drop=True)
    for column in COLUMNS:
        blank = table[column].str.strip() == ""
        if blank.any():
            raise DataError(f"{origin}, challenge {blank.idxmax() + 1}, {column} is empty. Fill it in or drop the row.")
    odd = ~table["langpair"].str.fullmatch(r"\w+-\w+")
    if odd.any():
        pair = table.loc[odd.idxmax(), "langpair"]
        raise DataError(f"{origin}, challenge {odd.idxmax() + 1}: the langpair {pair!r} is not like en-hi. Correct it.")
    same = table["good-translation"] == table["incorrect-translation"]
    if same.any():
        raise DataError(f"{origin}, challenge {same.idxmax() + 1}: both translations are the same. Drop the row.")
    return table.assign(language=table["langpair"].str.split("-").str[1])


def perturbed(ratings: pd.DataFrame, *, seed: int = 7) -> pd.DataFrame:
    """Make a challenge set of flawless translations: one per language, sentence and phenomenon that can be degraded.

    ratings: columns language (gu hi mr ml ta), source, hypothesis, reference, score. The good translation is one with
    the language's highest score, drawn where several systems have it; one that equals its reference is left out,
    unless all of them do.
    The incorrect one is the reference, degraded: it shares nearly all words with the reference, the good one does not.
    Of a language and phenomenon, ``MOST`` challenges are kept, drawn at random.
    Returns ``COLUMNS`` (langpair en-gu and so on) and language. Raises DataError where nothing can be made.
    Caveat: the rules of ``perturbations`` were not proofread by speakers, and a good translation is as good as one
    annotator found it.
    """
    top = ratings.groupby("language")["score"].transform("max")
    good = ratings[ratings["score"] == top]
    worded = good["hypothesis"] != good["reference"]
    good = good[worded] if worded.any() else good
    rng = np.random.default_rng(seed)
    good = good.iloc[rng.permutation(len(good))].drop_duplicates(["language", "source"])
    good = good.sort_values(["language", "source"], kind="stable")
    rows = []
    for language, group in good.groupby("language", sort=False):
        texts = group["reference"]
        spelt = [each for text, source in zip(texts, group["source"]) for each in perturbations.spelt(text, source)]
        for text, row in zip(texts, group.to_dict("records")):
            degraded = {
                "negation": perturbations.negation(text, language),
                "number": perturbations.number(text, rng),
                "name": perturbations.name(text, row["source"], spelt, rng),
                "word order": perturbations.order(text, rng),
            }
            rows += [
                (row["source"], row["hypothesis"], wrong, row["reference"], phenomenon, f"en-{language}")
                for phenomenon, wrong in degraded.items()
                if wrong is not None
            ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    kept = table.iloc[rng.permutation(len(table))].groupby(["langpair", "phenomena"]).head(MOST)
    return checked(kept.sort_index(), origin="The perturbed set")


def long(challenges: pd.DataFrame) -> pd.DataFrame:
    """Lay a challenge set out as translations to score: two rows a challenge.

    Returns challenge (its number), side (good | incorrect), language, phenomena, source, hypothesis, reference.
    """
    sides = [
        challenges.assign(challenge=np.arange(len(challenges)), side=side, hypothesis=challenges[f"{side}-translation"])
        for side in ("good", "incorrect")
    ]
    columns = ["challenge", "side", "language", "phenomena", "source", "hypothesis", "reference"]
    return pd.concat(sides, ignore_index=True)[columns]


def kendall_like(
    scored: pd.DataFrame,
    metrics: Sequence[str],
    *,
    lower_is_better: Collection[str] = (),
    resamples: int = 1000,
    seed: int = 7,
) -> pd.DataFrame:
    """Return each metric's Kendall-like τ per phenomenon: (right - wrong) / (right + wrong) preferences.

    scored: as ``long`` lays it out, with a column per metric. A preference is right where the good translation scores
    higher; a tie is wrong. Returns phenomena, metric, tau, low, high (95 %, percentile interval, drawing English
    sentences), n (challenges), ties. -1 to 1; guessing gives 0, never distinguishing them -1.
    Source: Amrhein et al. 2022, section 4.3 (the WMT tasks' formula, with ties as discordant).

    >>> two = pd.DataFrame({"challenge": [0, 1, 2, 0, 1, 2], "side": ["good"] * 3 + ["incorrect"] * 3,
    ...     "phenomena": "number", "source": ["a", "b", "c"] * 2, "m": [0.9, 0.8, 0.5, 0.1, 0.8, 0.2]})
    >>> kendall_like(two, ["m"])[["tau", "n", "ties"]].round(3).values.tolist()
    [[0.333, 3.0, 1.0]]
    """
    missing = [name for name in ("challenge", "side", "source", "phenomena", *metrics) if name not in scored]
    if missing:
        raise DataError(f"The scored challenges have no column {missing[0]}. Score what challenge.long gives.")
    sides = [scored[scored["side"] == side].set_index("challenge").sort_index() for side in ("good", "incorrect")]
    if not sides[0].index.equals(sides[1].index) or not sides[0].index.is_unique:
        raise DataError("Each challenge needs one good and one incorrect translation. Score what challenge.long gives.")
    values = [side[list(metrics)].to_numpy(float) for side in sides]
    if not np.isfinite(values).all():
        raise DataError("Some translation of the challenges has no score. Score all of them, or drop their challenges.")
    apart = (values[0] - values[1]) * [-1 if name in lower_is_better else 1 for name in metrics]
    preferred = np.where(apart > 0, 1.0, -1.0)
    tables = []
    for phenomenon, places in sides[0].reset_index().groupby("phenomena", sort=False).indices.items():
        here = preferred[places]
        sentences = sides[0]["source"].to_numpy()[places]
        low, high = interval(resample(column_means(here), sentences, resamples=resamples, seed=seed))
        table = pd.DataFrame({"metric": list(metrics), "tau": here.mean(0), "low": low, "high": high, "n": len(places)})
        table["ties"] = (apart[places] == 0).sum(0)
        table.insert(0, "phenomena", phenomenon)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)
