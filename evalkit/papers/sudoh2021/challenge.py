"""Score a small challenge set: does a metric put a harmless paraphrase above every critical error?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import delimited
from evalkit.metrics.lexical import exact
from evalkit.papers import claims
from evalkit.stats.verdicts import verdict

#: The columns of a challenge set, a CSV in UTF-8 with a header and a row per hypothesis. ``harmless`` is yes for a
#: translation that means what the reference means, no for one that does not; every reference needs one of each.
COLUMNS = ("id", "reference", "hypothesis", "harmless", "phenomenon")
#: What is wrong with the hypotheses of Table 1, in the words of section 3.
PHENOMENA = {
    "hyp1": "paraphrase",
    "hyp2": "unit",
    "hyp3": "unit",
    "hyp4": "negation",
    "hyp5": "number",
    "hyp6": "named entity",
    "hyp7": "named entity",
    "hyp8": "shuffled words",
    "hyp9": "unrelated",
}
#: Words without which the printed BLEU comes out, and with which it does not. The caption speaks of strikethroughs,
#: which the plain text of the page does not show.
STRUCK = {"hyp1": " situated", "hyp3": " situated"}
METRICS = ("bleu", "chrf", "bertscore", "bleurt")
#: Ways to read Table 1: options of ``rescored``. The first is what print follows.
READINGS: dict[str, dict[str, bool]] = {
    "with attention to case, without the struck word": {},
    "in lower case, without the struck word": {"lowercase": True},
    "with attention to case, with the struck word": {"struck": False},
}
_MOST = 10_000


def of_table1(printed: pd.DataFrame, *, struck: bool = True) -> pd.DataFrame:
    """Make the nine hypotheses of Table 1 a challenge set: ``COLUMNS``.

    printed: the transcription, with id and hypothesis, and the reference in the row ``ref``. struck: leave out the word
    that is struck through in hyp1 and hyp3, as the scoring did; False keeps what plain text shows.
    """
    texts = printed.set_index("id")["hypothesis"]
    if "ref" not in texts:
        raise DataError("Table 1 has no row 'ref' with the reference. Load it with evalkit.data.published.")
    rows = [
        (
            name,
            texts["ref"],
            texts[name].replace(STRUCK.get(name, ""), "", 1) if struck and name in STRUCK else texts[name],
            "yes" if name == "hyp1" else "no",
            PHENOMENA[name],
        )
        for name in texts.index
        if name in PHENOMENA
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def read(path: str | Path) -> pd.DataFrame:
    """Read a challenge set of one's own: a CSV with ``COLUMNS``, at most 10,000 rows.

    Raises DataError, with the line, for a missing column, an empty cell, a harmless that is neither yes nor no, an id
    that occurs twice, and a reference without a harmless or without a harmful hypothesis.
    """
    path = Path(path)
    return checked(delimited.table(delimited.content(path), origin=path.name), origin=path.name)


def checked(table: pd.DataFrame, *, origin: str = "the challenge set") -> pd.DataFrame:
    """Check a challenge set as ``read`` does; its index counts as lines.

    >>> row = {"id": "1", "reference": "Stay.", "hypothesis": "Go.", "harmless": "maybe", "phenomenon": "x"}
    >>> checked(pd.DataFrame([row]))
    Traceback (most recent call last):
    evalkit.DataError: the challenge set, line 0: harmless is 'maybe'. Write yes or no.
    """
    if lacking := [name for name in COLUMNS if name not in table]:
        raise DataError(f"{origin} has no column {lacking[0]}. A challenge set has {', '.join(COLUMNS)}.")
    if not 0 < len(table) <= _MOST:
        raise DataError(f"{origin} has {len(table):,} rows. Give between 1 and {_MOST:,}.")
    table = table[list(COLUMNS)]
    for name in COLUMNS:
        if (empty := table[name].isna() | (table[name].astype(str).str.strip() == "")).any():
            raise DataError(f"{origin}, line {empty.idxmax()}: {name} is empty. Fill it in, or drop the row.")
    if (odd := ~table["harmless"].isin(["yes", "no"])).any():
        raise DataError(
            f"{origin}, line {odd.idxmax()}: harmless is {table.at[odd.idxmax(), 'harmless']!r}. Write yes or no."
        )
    if (twice := table["id"].duplicated()).any():
        raise DataError(f"{origin}, line {twice.idxmax()}: id {table.at[twice.idxmax(), 'id']!r} occurs twice. Rename.")
    kinds = table.groupby("reference", sort=False)["harmless"].nunique()
    if (kinds < 2).any():
        raise DataError(f"{origin}: {kinds.index[kinds < 2][0]!r} needs a harmless and a harmful hypothesis. Add one.")
    return table.reset_index(drop=True)


def scored(challenges: pd.DataFrame, *, lowercase: bool = False) -> pd.DataFrame:
    """Add bleu and chrf, 0-1, of each hypothesis against its reference.

    BLEU-4 of the sentence with exponential smoothing on 13a tokens and effective order, chrF2 of up to 6 characters
    without spaces, both sacrebleu's (1.4.8, which the paper used, scores Table 1 the same with these settings).
    Caveat: BLEU of one short sentence is mostly smoothing and length.

    >>> one = pd.DataFrame({"reference": ["It is not far."], "hypothesis": ["It is not far."]})
    >>> scored(one)[["bleu", "chrf"]].iloc[0].round(6).tolist()
    [1.0, 1.0]
    """
    from sacrebleu.metrics import BLEU, CHRF

    pairs = list(zip(challenges["hypothesis"], challenges["reference"], strict=True))
    bleu = BLEU(lowercase=lowercase, smooth_method="exp", tokenize="13a", effective_order=True)
    chrf = CHRF(lowercase=lowercase, char_order=6, word_order=0, beta=2, whitespace=False)
    return challenges.assign(
        bleu=[exact(bleu.sentence_score(said, [meant]), effective=True) / 100 for said, meant in pairs],
        chrf=[chrf.sentence_score(said, [meant]).score / 100 for said, meant in pairs],
    )


def preferred(challenges: pd.DataFrame, *, metrics: Sequence[str] = ("bleu", "chrf")) -> pd.DataFrame:
    """Tell which metric puts each reference's worst harmless hypothesis above its harmful ones.

    challenges: ``COLUMNS`` and a column of scores per metric (higher is better), such as ``scored`` adds.
    Returns metric, id, phenomenon, harmful (its score), harmless (the lowest one of its reference), preferred (yes
    where harmless is higher, tie where they are equal, no elsewhere).
    """
    if lacking := [name for name in metrics if name not in challenges]:
        raise DataError(f"The challenge set has no scores {lacking[0]!r}. Add a column with that name.")
    rows = []
    for metric in metrics:
        values = pd.to_numeric(challenges[metric])
        harmless = challenges["harmless"] == "yes"
        least = values[harmless].groupby(challenges["reference"]).min()
        for row, value in zip(challenges[~harmless].itertuples(), values[~harmless]):
            best = float(least[row.reference])
            better = "yes" if best > value else "tie" if best == value else "no"
            rows.append((metric, row.id, row.phenomenon, float(value), best, better))
    return pd.DataFrame(rows, columns=["metric", "id", "phenomenon", "harmful", "harmless", "preferred"])


def rescored(printed: pd.DataFrame, *, lowercase: bool = False, struck: bool = True) -> pd.DataFrame:
    """Score Table 1 again: bleu and chrf of each row, with its id as the index; the reference is scored, too.

    printed: the transcription of Table 1. lowercase: as in ``scored``. struck: as in ``of_table1``.
    """
    table = of_table1(printed, struck=struck)
    reference = table.iloc[:1].assign(id="ref", hypothesis=table["reference"].iloc[0])
    both = scored(pd.concat([reference, table], ignore_index=True), lowercase=lowercase)
    return both.set_index("id").reindex(printed["id"])[["bleu", "chrf"]]


def readings(printed: pd.DataFrame) -> pd.DataFrame:
    """Count the cells of BLEU and chrF that come out under each reading of Table 1: reading, cells, matches."""
    rows = []
    for name, options in READINGS.items():
        ours = rescored(printed, **options)
        cells = [(row[name], ours.at[row["id"], name]) for row in printed.to_dict("records") for name in ours]
        rows.append((name, len(cells), [verdict(*cell) for cell in cells].count("match")))
    return pd.DataFrame(rows, columns=["reading", "cells", "matches"])


def compare_with_print(printed: pd.DataFrame) -> pd.DataFrame:
    """Compare the scores of Table 1 with ours: rows for ``show.compare``.

    printed: the transcription of Table 1. BERTScore and BLEURT need models that are not here, so they stay empty. The
    note says what a cell turns on: the case of letters, or the struck-through word.
    """
    ours, lower, whole = (rescored(printed, **options) for options in READINGS.values())
    parts = []
    for metric in METRICS:
        notes = ["Needs a trained model, which is not part of this suite."] * len(printed)
        if metric in ours:
            notes = [_turns_on(*three) for three in zip(ours[metric], lower[metric], whole[metric])]
        parts.append(
            claims.rows(
                printed,
                metric,
                computed=ours.get(metric),
                item="Table 1",
                cell=printed["id"] + f", {metric}",
                note=notes,
                basis="definition",
                lacking="needs a neural model",
            )
        )
    return pd.concat(parts, ignore_index=True)


def _turns_on(value: float, lower: float, whole: float) -> str:
    """Say which other reading of Table 1 gives another score."""
    notes = []
    if abs(lower - value) > 1e-9:
        notes.append(
            f"Scored with attention to case; else {lower:.3f}. The fingerprint in footnotes 6 and 7 says case.lc."
        )
    if abs(whole - value) > 1e-9:
        notes.append(f"Scored without the struck-through 'situated'; else {whole:.3f}.")
    return " ".join(notes)
