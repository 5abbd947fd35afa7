"""Official rankings of shared tasks, laid beside recomputed scores: a row for ``show.compare`` each."""

from __future__ import annotations

import pandas as pd

from evalkit import claims
from evalkit.ranking.official import against_official, explain_missing
from evalkit.schemas import with_pair


def official_rows(ratings: pd.DataFrame, official: pd.DataFrame, *, scale: str, paper: str) -> pd.DataFrame:
    """Hold the official scores of one scale, raw or z, against recomputed ones, as rows for ``show.compare``.

    official: text digits as in the ranking files. paper: who published them. Where the files lack judgements that the
    official counts include, the note says what the score would be if those were 0 (see ``explain_missing``). Language
    pairs of which no ratings are here have no computed value. Returns ``claims.COLUMNS``; ``place`` is empty, because
    the rankings stand in data files.
    """
    held = against_official(ratings, official, scale=scale)
    short = explain_missing(ratings, held, scale=scale)
    notes = {(row.pair, row.system): _why(row) for row in short.itertuples()}
    printed = with_pair(official)
    keys = list(zip(printed["pair"], printed["system"], strict=True))
    values = held.set_index(["pair", "system"])["recomputed"].to_dict()
    found = pd.DataFrame({
        "paper": paper, "item": printed["pair"] + f", {scale}", "cell": printed["system"], "printed": printed[scale],
        "computed": pd.Series([values.get(key) for key in keys], index=printed.index, dtype=object),
        "note": [notes.get(key, "") if key in values else "Scores of this language pair are not here." for key in keys],
        "basis": "official result", "place": "",
        "lacking": ["" if key in values else f"scores not here: {paper.split(',')[0]} {key[0]}" for key in keys],
    })  # fmt: skip
    return found[claims.COLUMNS].reset_index(drop=True)


def _why(row) -> str:
    """Say what the missing judgements of one system explain."""
    low, high = f"{row.lowest:.4g}", f"{row.highest:.4g}"
    would = low if low == high else f"{low} to {high}"
    some = "a judgement" if row.missing_judgements == 1 else f"{row.missing_judgements} judgements"
    told = f"The files lack {some} that the official counts include."
    return f"{told} If they were 0, as from annotators with one score throughout, the score would be {would}."
