"""Compute what Stanchev et al. 2020 print of WMT19, for a reader who has its files (optional data sets)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from evalkit.metrics.metaeval import darr
from evalkit.papers import claims

#: The tables that claims about WMT19 name, and the data sets that each is made of.
NEEDS = {
    "wmt19_sizes": ("wmt19-darr",),
    "wmt19_ties": ("wmt19-darr", "wmt19-metrics"),
    "wmt19_identical": ("wmt19-darr", "wmt19-outputs"),
    "wmt19_ordered": ("wmt19-darr",),
    "wmt19_texts": ("wmt19-outputs",),
    "wmt19_kept": ("wmt19-da",),
}
#: The data sets, each once.
FILES = tuple(dict.fromkeys(name for names in NEEDS.values() for name in names))
_SEGMENT = ["src_lang", "tgt_lang", "segment"]


def tables(printed: pd.DataFrame, files: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Make those tables of ``NEEDS`` that the files at hand allow.

    printed: ``stanchev2020_claims``, whose Table 1 says which systems to look at. files: loaded ``FILES`` by name.
    """
    shown = _shown(printed)
    makers: dict[str, Callable[..., pd.DataFrame]] = {
        "wmt19_sizes": sizes,
        "wmt19_ties": ties,
        "wmt19_identical": identical,
        "wmt19_ordered": lambda ranked: ordered(shown, ranked),
        "wmt19_texts": lambda texts: same_texts(shown, texts),
        "wmt19_kept": kept,
    }
    there = [name for name, needs in NEEDS.items() if set(needs) <= set(files)]
    made = {name: makers[name](*(files[part] for part in NEEDS[name])) for name in there}
    return {name: _asked(printed, name, table) for name, table in made.items()}


def marked(printed: pd.DataFrame, files: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Mark the claims whose WMT19 files are not at hand: ``lacking`` names all that are not, the note those it needs.

    >>> from evalkit import data
    >>> left = marked(data.published("stanchev2020_claims"), {name: None for name in FILES if name != "wmt19-da"})
    >>> sorted(set(left["lacking"].dropna()))
    ['file not here: wmt19-da', "not in WMT19's archives"]
    """
    lacking = f"file not here: {', '.join(name for name in FILES if name not in files)}"
    for table, needs in NEEDS.items():
        if gone := [name for name in needs if name not in files]:
            because = f"Rests on WMT19's files: `evalkit data fetch {' '.join(gone)}` gets them where they can be had."
            others = set(printed["table"]) - {table}
            printed = claims.unavailable(printed, others, because=because, lacking=lacking)
    return printed


def sizes(ranked: pd.DataFrame) -> pd.DataFrame:
    """Count the pairs that DARR orders in each language pair: pair, pairs, sentences (in thousands, as "31k").

    >>> sizes(pd.DataFrame({"src_lang": ["guj"] * 1501, "tgt_lang": "eng"})).to_numpy().tolist()
    [['guj-eng', 1501, '2k']]
    """
    counted = _by_pair(ranked).size().rename("pairs").reset_index()
    return counted.assign(sentences=(counted["pairs"] / 1000).map("{:.0f}k".format))


def ties(ranked: pd.DataFrame, scored: pd.DataFrame) -> pd.DataFrame:
    """Count the ordered pairs to which a metric gives one score: pair, metric, ties.

    ranked: ``wmt19-darr``; scored: ``wmt19-metrics``. A pair of which a score is missing is no tie; where a metric has
    no scores of a language pair, ties are missing.
    """
    parts = []
    for metric, own in scored.astype({"metric": "str"}).groupby("metric"):
        parts.append(_equal(ranked, own, "score").rename("ties").reset_index().assign(metric=metric))
    return pd.concat(parts, ignore_index=True)


def identical(ranked: pd.DataFrame, texts: pd.DataFrame) -> pd.DataFrame:
    """Count the ordered pairs whose two translations are the same text: pair, identical.

    ranked: ``wmt19-darr``; texts: ``wmt19-outputs``.
    """
    return _equal(ranked, texts, "hypothesis").rename("identical").reset_index()


def ordered(shown: pd.DataFrame, ranked: pd.DataFrame) -> pd.DataFrame:
    """Say of the printed pairs of Table 1 which translation the rankings call better: pair, segment, better, worse.

    shown: pair, segment, first, second (systems as the rankings' file names them); one that they do not have reads
    "not in the rankings".
    """
    rows = ranked.assign(pair=ranked["src_lang"] + "-" + ranked["tgt_lang"])
    found = []
    for one in shown.itertuples():
        here = rows[rows["pair"].eq(one.pair) & rows["segment"].eq(one.segment)]
        names = here[["better_named", "worse_named"]]
        both = names[names.isin([one.first, one.second]).all(axis=1)].to_numpy()
        found.append((one.pair, one.segment, *(both[0] if len(both) else ["not in the rankings"] * 2)))
    return pd.DataFrame(found, columns=["pair", "segment", "better", "worse"])


def same_texts(shown: pd.DataFrame, texts: pd.DataFrame) -> pd.DataFrame:
    """Give the text of the printed pairs of Table 1 where both systems wrote the same: pair, segment, hypothesis."""
    from evalkit.data.wmt19 import canonical

    rows = texts.assign(pair=texts["src_lang"] + "-" + texts["tgt_lang"])
    found = []
    for one in shown.itertuples():
        here = rows[rows["pair"].eq(one.pair) & rows["segment"].eq(one.segment)].set_index("system")["hypothesis"]
        said = here.reindex([canonical(name, one.written) for name in (one.first, one.second)])
        shared = said.iloc[0] if said.notna().all() and said.nunique() == 1 else "not the same text"
        found.append((one.pair, one.segment, shared))
    return pd.DataFrame(found, columns=["pair", "segment", "hypothesis"])


def kept(assessed: pd.DataFrame) -> pd.DataFrame:
    """Say what a threshold does to the mean number of pairs over language pairs (Figure 1): times, share, left.

    assessed: ``wmt19-da``. times: pairs at threshold 1 for each at 50; share: of the pairs at 1 those left at 25; left:
    the same in words, "almost halves" where 50 to 60 % are left.
    """
    counted = darr.kept(darr.each_pair(assessed, assessed), thresholds=[1, 25, 50])
    mean = counted.groupby("threshold")["pairs"].mean()
    share = mean[25] / mean[1]
    left = "almost halves" if 0.5 <= share < 0.6 else f"leaves {share:.0%}"
    return pd.DataFrame([{"times": mean[1] / mean[50], "share": share, "left": left}])


def _shown(printed: pd.DataFrame) -> pd.DataFrame:
    """Lay out the printed Table 1: pair, segment, written (the pair as printed), first and second (the systems)."""
    rows = printed[printed["item"] == "Table 1"]
    place = rows["where"].str.extract(r"pair=(?P<pair>\S+); segment=(?P<segment>\d+)")
    place = place.assign(written=rows["cell"].str.split(",").str[0], system=rows["printed"])
    return place.groupby(["pair", "segment", "written"])["system"].agg(first="first", second="last").reset_index()


def _asked(printed: pd.DataFrame, name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Give a table the rows that claims ask for, also those that the files do not have, whose values are missing."""
    asked = printed.loc[printed["table"] == name, "where"].dropna()
    rows = [dict(part.split("=") for part in where.split("; ")) for where in asked]
    return pd.DataFrame(rows).drop_duplicates().merge(table, how="left") if rows else table


def _by_pair(rows: pd.DataFrame):
    """Group rows by language pair as src-tgt."""
    return rows.groupby((rows["src_lang"].astype("str") + "-" + rows["tgt_lang"].astype("str")).rename("pair"))


def _equal(ranked: pd.DataFrame, values: pd.DataFrame, column: str) -> pd.Series:
    """Count, by language pair, the ranked pairs whose translations have the same value; missing where none has both."""
    keys = [*_SEGMENT, "system"]
    known = values.astype(dict.fromkeys(keys, "str")).set_index(keys)[column]
    better, worse = (
        known.reindex(pd.MultiIndex.from_frame(ranked[[*_SEGMENT, side]].astype("str"))).reset_index(drop=True)
        for side in ("better", "worse")
    )
    both = (better.notna() & worse.notna()).to_numpy()
    same = (better.eq(worse).to_numpy() & both).astype(float)
    counted = _by_pair(ranked.assign(same=same, both=both))[["same", "both"]].sum()
    return counted["same"].where(counted["both"] > 0)
