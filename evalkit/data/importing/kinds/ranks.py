"""Import ranks of several translations in one row: a judgement of each system, minus its rank."""

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing.cells import columns
from evalkit.data.importing.judgements import Converted, constant, converted, human
from evalkit.data.importing.options import Options
from evalkit.data.importing.report import Report

_SYSTEM, _SCREEN, _RANKED = "(system)", "(screen)", "(rank)"
_SHOWN = 20  # systems whose shares are told


def by_system(frame: pd.DataFrame, ranks: dict[str, str], report: Report) -> pd.DataFrame:
    """Write a column of ranks per system as a row per rank, with its system."""
    parts = [
        frame.assign(**{_SYSTEM: constant(system, frame.index), _RANKED: frame[name]}) for name, system in ranks.items()
    ]
    report.orientation = f"lower is better by the headings ({', '.join(ranks)}): the score is minus the rank"
    return pd.concat(parts)


def by_place(frame: pd.DataFrame, slots: list[tuple[str, str]], report: Report) -> pd.DataFrame:
    """Write columns of systems with their ranks as a row per rank; -1 is no rank, as WMT wrote it."""
    parts = [
        frame.assign(**{_SYSTEM: frame[name], _RANKED: frame[rank].mask(frame[rank].isin(["-1", "-1.0"]))})
        for name, rank in slots
    ]
    headings = ", ".join(rank for _, rank in slots)
    report.orientation = f"lower is better by the headings ({headings}): the score is minus the rank"
    both = pd.concat(parts)
    return both[both[_SYSTEM].notna() | both[_RANKED].notna()]


def ranked(
    long: pd.DataFrame, most: int, names: dict[str, str], values: dict[str, str], options: Options, report: Report
) -> Converted:
    """Read a judgement per system of each row: minus its rank. most: how many systems a row has."""
    if options.lower_is_better is False:
        raise DataError(
            "Ranks are better the lower they are, 1 the best. Drop --higher-is-better, or rename the columns."
        )
    ours = {name: theirs for name, theirs in names.items() if name in (*columns.OURS, *columns.EXTRAS)}
    given = {name: value for name, value in values.items() if name in columns.OURS}
    part = long[long[_RANKED].notna()]
    report.blank_cells += len(long) - len(part)
    part = part.assign(**{_SCREEN: pd.array([f"row {line}" for line in part.index], dtype="str")})
    made = {"system": _SYSTEM, "score": _RANKED, "screen": names.get("screen", _SCREEN)}
    made["hit"] = names.get("hit", made["screen"])  # one person may rank other systems on the same segment again
    found = converted(part, ours | made, given, options, scale=(1, most), note=report.note)
    ratings = found.ratings.sort_index(kind="stable")
    kinds = np.where(human(ratings["system"], report.note), "reference", "system")
    rejected = sorted(found.rejected, key=lambda row: row.line)
    ratings = ratings.assign(score=0.0 - ratings["score"], item_type=kinds)
    _tell_ranks(ratings, report)
    return Converted(
        ratings,
        rejected,
        {"annotator": names.get("annotator", "")},
        (-float(most), -1.0),
        read=len(ratings) + len(rejected),
    )


def _tell_ranks(ratings: pd.DataFrame, report: Report) -> None:
    """Tell how many screens there are, and which share of its untied comparisons on them each system won."""
    met = ratings[["screen", "annotator", "system", "score"]].merge(
        ratings[["screen", "annotator", "system", "score"]], on=["screen", "annotator"]
    )
    met = met[met["system_x"].ne(met["system_y"]) & met["score_x"].ne(met["score_y"])]
    won = met["score_x"].gt(met["score_y"]).groupby(met["system_x"]).mean().sort_values(ascending=False)
    told = ", ".join(f"{name} {share:.3f}" for name, share in won.head(_SHOWN).items())
    report.note(
        f"{ratings['screen'].nunique():,} screens; share of untied comparisons on a screen that each system won: {told}"
    )
