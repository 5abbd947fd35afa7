"""Average scores per system, and what the release's two sets of files say about the printed averages (Table 9)."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from evalkit.data.indicmt import SHORT

#: The release's names of systems as the paper prints them.
PRINTED = {
    "IndicTrans_Samanantar": "IndicTrans",
    "bing_api": "Bing API",
    "cvit_iiith": "CVIT-IIITH",
    "google_api": "Google API",
    "mT5": "mT5",
    "NLLB": "NLLB",
}
_MEANS = ["language", "system", "mean_score", "n", "file_set"]


def system_means(ratings: pd.DataFrame, *, file_set: str) -> pd.DataFrame:
    """Average each system's scores: language, system (as printed), mean_score, n, file_set.

    Scores below 0 count as 0, as Table 9's do.
    """
    frame = pd.DataFrame(
        {
            "language": ratings["tgt_lang"].astype("str").map(SHORT),
            "system": ratings["system"].astype("str").replace(PRINTED),
            "score": ratings["score"].clip(lower=0.0),
        }
    )
    means = frame.groupby(["language", "system"], sort=False)["score"].agg(mean_score="mean", n="size").reset_index()
    return means.assign(file_set=file_set)[_MEANS]


def places(ratings: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    """Ask which system stands where among a sentence's translations in the splits, which do not name systems.

    Looked at are sentences with a translation by every system. A row is known where the CSV files (``ratings``) have
    the same sentence and translation, letter for letter. Returns tgt_lang, place (from 0), system (the one that most
    known rows allow), known (rows), share (of these that allow it; texts that several systems share allow each).
    """
    return _places(_matched(ratings, splits), systems=ratings["system"].nunique())


def _places(matched: pd.DataFrame, *, systems: int) -> pd.DataFrame:
    """Do what ``places`` does, from the result of ``_matched``."""
    whole = matched[matched["of"].eq(systems) & matched["systems"].notna()]
    known = whole.groupby(["tgt_lang", "place"], observed=True).size().rename("known")
    allowed = whole.explode("systems").groupby(["tgt_lang", "place", "systems"], observed=True).size().rename("rows")
    best = allowed.reset_index().sort_values("rows", ascending=False, kind="stable")
    best = best.drop_duplicates(["tgt_lang", "place"]).rename(columns={"systems": "system"})
    found = best.join(known, on=["tgt_lang", "place"]).sort_values(["tgt_lang", "place"], ignore_index=True)
    return found.assign(share=found["rows"] / found["known"]).drop(columns="rows")


def combined(ratings: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    """Bring the two sets of files together: the judgements of the CSV files, and those that only the splits have.

    A row of the splits is in the CSV files where these hold the same sentence and translation, letter for letter, as
    often. What else is fresh gets the system of its place (``places``) where at least 95 % of known rows allow it, and
    is else of an "unknown" system.
    Columns tgt_lang, system, segment, score, own_score, reference, hypothesis, fresh.
    """
    matched, systems = _matched(ratings, splits), ratings["system"].nunique()
    theirs = matched[matched["fresh"]].assign(score=matched["formula_score"])
    held = _places(matched, systems=systems).query("share >= 0.95")[["tgt_lang", "place", "system"]]
    theirs = theirs.merge(held, on=["tgt_lang", "place"], how="left")
    whole = theirs["of"].eq(systems)
    theirs["system"] = theirs["system"].where(whole & theirs["system"].notna(), "unknown")
    columns = ["tgt_lang", "system", "segment", "score", "own_score", "reference", "hypothesis"]
    ours = ratings[columns].astype({"tgt_lang": "str", "system": "str"})
    return pd.concat([ours.assign(fresh=False), theirs[columns].assign(fresh=True)], ignore_index=True)


def placement(together: pd.DataFrame) -> pd.DataFrame:
    """Count what ``combined`` could place: language, judgements, only_in_splits, placed, unknown_share (of all)."""
    frame = together.assign(language=together["tgt_lang"].map(SHORT), unknown=together["system"].eq("unknown"))
    found = frame.groupby("language", sort=False).agg(
        judgements=("fresh", "size"), only_in_splits=("fresh", "sum"), unknown=("unknown", "sum")
    )
    found["placed"] = found["only_in_splits"] - found["unknown"]
    found["unknown_share"] = found["unknown"] / found["judgements"]
    return found.drop(columns="unknown").reset_index()


def copies(ratings: pd.DataFrame) -> pd.DataFrame:
    """List systems whose translations are mostly one and the same text: two outputs that are likely one.

    Returns language, system, other, sentences (that both translated), same (share with the same letters, white space
    aside), same_score (share of these sentences with the same score), where ``same`` is at least a half.
    """
    frame = ratings.assign(text=_letters(ratings), language=ratings["tgt_lang"].astype("str").map(SHORT))
    columns = ["language", "segment", "system", "text", "score"]
    both = frame[columns].merge(frame[columns], on=["language", "segment"], suffixes=("", "_other"))
    both = both[both["system"].astype("str") < both["system_other"].astype("str")].replace({"system": PRINTED})
    both = both.assign(same=both["text"].eq(both["text_other"]), same_score=both["score"].eq(both["score_other"]))
    pair = [both["language"], both["system"].astype("str"), both["system_other"].astype("str").replace(PRINTED)]
    found = both.groupby(pair, sort=False).agg(
        sentences=("same", "size"), same=("same", "mean"), same_score=("same_score", "mean")
    )
    return found.rename_axis(["language", "system", "other"]).query("same >= 0.5").reset_index()


def denominators(printed: pd.DataFrame) -> pd.DataFrame:
    """List how many judgements can lie behind a system's printed means: system, n.

    printed: language, system, mean_score as printed with three digits; averages and zeros are left out. Scores are
    multiples of a half, so with n judgements a mean is a multiple of 1 / 2n: n, up to 300, is possible where every
    language's cell rounds from such a multiple.
    """
    cells = printed[printed["language"].ne("average")].assign(value=pd.to_numeric(printed["mean_score"]))
    rows = []
    for system, values in cells[cells["value"] > 0].groupby("system", sort=False)["value"]:
        n = np.arange(1, 301)[:, None]
        nearest = np.round(values.to_numpy() * n / 0.5) * 0.5 / n
        rows += [(system, int(k)) for k in n[(np.abs(nearest - values.to_numpy()) <= 0.5e-3 + 1e-9).all(axis=1), 0]]
    return pd.DataFrame(rows, columns=["system", "n"])


def fitting_counts(printed: pd.DataFrame, totals: pd.Series, *, judgements: int) -> pd.DataFrame:
    """List the numbers of judgements per system that fit printed means and known totals: a column per system.

    totals: per language, the sum of all scores over ``judgements`` judgements; their systems need not be known. Kept
    are the ways to choose a possible number for each system (``denominators``) that add up to ``judgements`` and give
    every total within the rounding of the means.
    """
    systems = list(PRINTED.values())
    means = (
        printed.assign(value=pd.to_numeric(printed["mean_score"]))
        .pivot(index="system", columns="language", values="value")
        .loc[systems, list(totals.index)]
        .to_numpy()
    )
    options = denominators(printed).groupby("system")["n"].agg(list)
    grid = np.array(np.meshgrid(*(options[name] for name in systems), indexing="ij")).reshape(len(systems), -1).T
    grid = grid[grid.sum(axis=1) == judgements]
    fits = (np.abs(grid @ means - totals.to_numpy()) <= 0.5e-3 * judgements).all(axis=1)
    return pd.DataFrame(grid[fits], columns=systems)


def common_sentences(ratings: pd.DataFrame) -> pd.DataFrame:
    """Keep the sentences that all systems of a language translated, so that systems are compared on the same."""
    count = ratings.groupby(["tgt_lang", "segment"])["system"].transform("nunique")
    return ratings[count.eq(len(PRINTED))]


def _matched(ratings: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    """Find each row of the splits among the CSV files' judgements.

    Adds systems (whose translation it is, letter for letter; missing where none is), fresh (whether the CSV files lack
    this judgement), place (among the rows of the sentence in its file, from 0) and of (how many these are).
    """
    key, sentence = ["tgt_lang", "key"], ["tgt_lang", "split", "segment"]
    ours, theirs = (frame.assign(key=_letters(frame)).astype({"tgt_lang": "str"}) for frame in (ratings, splits))
    once = ours[[*key, "system"]].astype("object").drop_duplicates().sort_values("system")
    once.attrs = {}  # pandas would copy them for each of the thousands of groups
    systems = once.groupby(key)["system"].agg(list).rename("systems")
    known = ours.groupby(key).size().rename("held").to_frame().join(systems)
    found = theirs.merge(known[["systems", "held"]].reset_index(), on=key, how="left")
    rows = found.groupby(sentence)["row"]
    fresh = found.groupby(key).cumcount() >= found["held"].fillna(0)
    return found.assign(fresh=fresh, place=rows.cumcount(), of=rows.transform("size"))


def _letters(frame: pd.DataFrame) -> pd.Series:
    """Reduce sentence and translation to what does not change when white space is lost."""
    spaces = re.compile(r"\s")
    return frame["segment"] + "|" + frame["hypothesis"].map(lambda text: spaces.sub("", text))
