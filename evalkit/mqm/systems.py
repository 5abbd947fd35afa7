"""Average scores per system, and what the release's two sets of files say about the printed averages (Table 9)."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from evalkit.data.indicmt import SHORT

#: The release's names of systems as the paper prints them.
PRINTED = {
    "IndicTrans_Samanantar": "IndicTrans", "bing_api": "Bing API", "cvit_iiith": "CVIT-IIITH",
    "google_api": "Google API", "mT5": "mT5", "NLLB": "NLLB",
}  # fmt: skip
_MEANS = ["language", "system", "mean_score", "n", "file_set"]


def system_means(ratings: pd.DataFrame, *, floor: float | None = 0.0, file_set: str) -> pd.DataFrame:
    """Average each system's scores: language, system (as printed), mean_score, n, file_set.

    floor: scores below it count as the floor (Table 9's do; see ``common_sentences``).
    """
    frame = pd.DataFrame({
        "language": ratings["tgt_lang"].astype("str").map(SHORT),
        "system": ratings["system"].astype("str").replace(PRINTED),
        "score": ratings["score"].clip(lower=floor),
    })  # fmt: skip
    means = frame.groupby(["language", "system"], sort=False)["score"].agg(mean_score="mean", n="size").reset_index()
    return means.assign(file_set=file_set)[_MEANS]


def combined(ratings: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    """Bring the two sets of files together: the judgements of the CSV files, and those that only the splits have.

    A row of the splits is in the CSV files where these hold the same sentence and translation, letter for letter, as
    often. The splits do not name systems. Where a sentence has six rows there and none of NLLB in the CSV files, the
    last is taken to be NLLB's, for so it is wherever the CSV files tell; what else is fresh is of an "unknown" system.
    Columns tgt_lang, system, segment, score, fresh.
    """
    place = ["tgt_lang", "segment"]
    ours, theirs = (frame.assign(key=_letters(frame)) for frame in (ratings, splits))
    theirs = theirs.assign(score=theirs["formula_score"], time=theirs.groupby(["tgt_lang", "key"]).cumcount())
    held = theirs[["tgt_lang", "key"]].merge(
        ours.groupby(["tgt_lang", "key"]).size().rename("held").reset_index(), how="left"
    )  # fmt: skip
    theirs = theirs.assign(fresh=theirs["time"].to_numpy() >= held["held"].fillna(0).to_numpy())
    groups = theirs.groupby(place)["row"]
    last = groups.transform("size").eq(6) & groups.cumcount(ascending=False).eq(0)
    named = pd.MultiIndex.from_frame(theirs[place]).isin(
        pd.MultiIndex.from_frame(ours.loc[ours["system"].eq("NLLB"), place])
    )
    theirs["system"] = np.where(last & ~named, "NLLB", "unknown")
    columns = ["tgt_lang", "system", "segment", "score"]
    return pd.concat(
        [ours[columns].assign(fresh=False), theirs.loc[theirs["fresh"], columns].assign(fresh=True)], ignore_index=True
    )


def denominators(printed: pd.DataFrame, *, most: int = 300, grain: float = 0.5) -> pd.DataFrame:
    """List how many judgements can lie behind a system's printed means: system, n.

    printed: language, system, mean_score as printed with three digits; averages and zeros are left out. Scores are
    multiples of ``grain``, so with n judgements a mean is a multiple of grain / n: n is possible where every language's
    cell rounds from such a multiple.
    """
    cells = printed[printed["language"].ne("average")].assign(value=pd.to_numeric(printed["mean_score"]))
    rows = []
    for system, values in cells[cells["value"] > 0].groupby("system", sort=False)["value"]:
        n = np.arange(1, most + 1)[:, None]
        nearest = np.round(values.to_numpy() * n / grain) * grain / n
        rows += [(system, int(k)) for k in n[(np.abs(nearest - values.to_numpy()) <= 0.5e-3 + 1e-9).all(axis=1), 0]]
    return pd.DataFrame(rows, columns=["system", "n"])


def fitting_counts(printed: pd.DataFrame, totals: pd.Series, *, judgements: int) -> pd.DataFrame:
    """List the numbers of judgements per system that fit printed means and known totals: a column per system.

    totals: per language, the sum of all scores over ``judgements`` judgements; their systems need not be known. Kept
    are the ways to choose a possible number for each system (``denominators``) that add up to ``judgements`` and give
    every total within the rounding of the means.
    """
    systems = list(PRINTED.values())
    means = printed.assign(value=pd.to_numeric(printed["mean_score"])).pivot(
        index="system", columns="language", values="value"
    ).loc[systems, list(totals.index)].to_numpy()  # fmt: skip
    options = denominators(printed).groupby("system")["n"].agg(list)
    grid = np.array(np.meshgrid(*(options[name] for name in systems), indexing="ij")).reshape(len(systems), -1).T
    grid = grid[grid.sum(axis=1) == judgements]
    fits = (np.abs(grid @ means - totals.to_numpy()) <= 0.5e-3 * judgements).all(axis=1)
    return pd.DataFrame(grid[fits], columns=systems)


def common_sentences(ratings: pd.DataFrame, *, systems: int = 6) -> pd.DataFrame:
    """Keep the sentences that all systems of a language translated, so that systems are compared on the same."""
    count = ratings.groupby(["tgt_lang", "segment"])["system"].transform("nunique")
    return ratings[count.eq(systems)]


def _letters(frame: pd.DataFrame) -> pd.Series:
    """Reduce sentence and translation to what does not change when white space is lost."""
    spaces = re.compile(r"\s")
    return frame["segment"] + "|" + frame["hypothesis"].map(lambda text: spaces.sub("", text))
