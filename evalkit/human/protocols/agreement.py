"""How far people agree under several protocols, on scores and on marks of the same translations.

All collections of judgements lie in one table (``scores``); two runs of a protocol, or any two collections, are held
against each other on the translations that both judged.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, SEGMENT, segment_names
from evalkit.stats import correlation, widths
from evalkit.stats.agreement import PREPARE, coded
from evalkit.stats.correlation import ratio, tau_b

_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: All collections, by the names of the release -> the kind of judgement that it holds: people's, those that WMT made
#: itself, parts judged again, the model.
KINDS: dict[str, str] = _WORDS["kinds"]
ORDER = tuple(KINDS)
#: Names on pages: ESA^AI is how its authors write ESA with suggested marks.
SHORT = {name: name.replace("ESAAI", "ESA^AI").replace("DASQM", "DA+SQM") for name in ORDER}
_OF_WMT = {"mqm": "WMT-MQM", "da-sqm": "WMT-DASQM"}
_COLUMNS = ["protocol", "src_lang", "tgt_lang", *ITEM, "annotator", "hit", "item_type", "score"]
#: Collections of the part that was judged again, whose accounts the release does not map to people, and of all before.
REPEATED = ("ESA-1", "ESA-2", "ESA-IAA", "ESAAI-1", "ESAAI-2", "ESAAI-IAA", "MQM-1", "MQM-IAA")
Pair = tuple[str, str]
#: Two runs of each protocol: in full, and of the part that was judged again. No second run of DA+SQM is public.
SETS: dict[str, tuple[Pair, ...]] = {
    "whole": (("ESA-1", "ESA-2"), ("ESAAI-1", "ESAAI-2"), ("MQM-1", "WMT-MQM")),
    "part": (("ESA-IAA", "ESA-1"), ("ESAAI-IAA", "ESAAI-1"), ("MQM-IAA", "MQM-1")),
}
#: Coefficient -> how a page writes it.
COEFFICIENTS: dict[str, str] = _WORDS["coefficients"]
#: Classes of a translation by the worst error marked on it. A mark whose severity nobody stated counts as minor.
CLASSES = ("none", "minor", "major")
#: Maps how often every item counts, (batch, items), to (batch, ...).
Statistic = Callable[[np.ndarray], np.ndarray]
_ROWS = [*SEGMENT[::-1], "system"]  # their order stays where segments are numbered through
_KEY = ["protocol", *ITEM]
_LANGUAGES = ["src_lang", "tgt_lang"]


def scores(judged: pd.DataFrame, released: pd.DataFrame, human: pd.DataFrame) -> pd.DataFrame:
    """Lay the scores of every collection on top of each other: a row per protocol and translation.

    judged: ``data.load("wmt23-protocols")``; degraded copies are left out. released: its released scores, of which the
    model's (``LLM``) are taken. human: WMT's own scores of segments (``wmt23-human``), of the translations that were
    judged here. Returns protocol (in the ``ORDER``), src_lang, tgt_lang, system, doc, segment, annotator and hit (none
    for WMT's own and the model's), item_type (system or reference) and score, each in its protocol's unit.
    """
    names = ["src_lang", "tgt_lang", *ITEM]
    people = judged[judged["item_type"].isin(["system", "reference"])]
    known = people[[*names, "item_type"]].drop_duplicates()
    wmt = human[human["metric"].isin(list(_OF_WMT))].astype(dict.fromkeys([*names, "metric"], "str"))
    wmt = wmt.assign(protocol=wmt["metric"].replace(_OF_WMT))
    model = released[released["protocol"].astype("str") == "LLM"].astype(dict.fromkeys([*names, "protocol"], "str"))
    others = [table[["protocol", *names, "score"]].merge(known, on=names) for table in (wmt, model)]
    whole = pd.concat([people, *others], ignore_index=True).reindex(columns=_COLUMNS)
    return whole.sort_values("protocol", key=lambda own: own.map(ORDER.index), kind="stable", ignore_index=True)


def counts(scored: pd.DataFrame) -> pd.DataFrame:
    """Count what collections hold: protocol, judgements, people (missing where nobody is named), segments, systems.

    scored: the result of ``scores``. The reference is one of the systems; accounts that nobody maps count as people.

    >>> scored = pd.DataFrame({"protocol": "ESA-1", "system": ["A", "B"], "doc": "d", "segment": "1",
    ...     "annotator": ["x", "y"]})
    >>> counts(scored).to_numpy().tolist()
    [['ESA-1', 2, 2, 1, 2]]
    """
    groups = scored.assign(segment=segment_names(scored)).groupby("protocol", sort=False)
    columns = {"people": "annotator", "segments": "segment", "systems": "system"}
    table = groups.agg(judgements=("system", "size"), **{name: (own, "nunique") for name, own in columns.items()})
    return table.assign(people=table["people"].astype("Int64").replace(0, pd.NA)).reset_index()


def drawn_units(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """Name what is drawn anew of one protocol's judgements, for ``widths.redraw``: documents, and its people.

    rows: protocol, doc, annotator. All protocols judged the same documents; nobody worked under two of them. People are
    drawn where all are known.

    >>> rows = pd.DataFrame({"protocol": "ESA-1", "doc": ["d", "e"], "annotator": ["x", "y"]})
    >>> list(drawn_units(rows)), list(drawn_units(rows.assign(annotator=None)))
    (['documents', 'people of ESA-1'], ['documents'])
    """
    units = {"documents": rows["doc"].to_numpy(str)}
    if rows["annotator"].notna().all():
        units[f"people of {rows['protocol'].iloc[0]}"] = rows["annotator"].to_numpy(str)
    return units


# Two collections


class Laid(NamedTuple):
    """Hold collections of judgements side by side, a row per translation: see ``lay``.

    items: segment, document (numbers from 0 on), system and item_type. scores: a column per protocol, higher is better,
    NaN where not judged. people: the same of numbers of whoever judged; all 0 where that is not known.
    """

    items: pd.DataFrame
    scores: pd.DataFrame
    people: pd.DataFrame

    def shared(self, names: Sequence[str]) -> np.ndarray:
        """Number the items that all of these protocols judged."""
        return np.flatnonzero(self.scores[list(names)].notna().all(axis=1))

    def taken(self, rows: np.ndarray) -> Laid:
        """Keep these items."""
        return Laid(*(table.iloc[rows] for table in self))


def lay(scored: pd.DataFrame) -> Laid:
    """Arrange the table of ``scores`` with a row per translation and a column per protocol.

    scored: protocol, system, doc, segment, annotator (none where unknown), item_type, score; one row per protocol and
    translation.
    """
    named = scored.astype(dict.fromkeys(_KEY, "str"))
    wide = named.pivot(index=_ROWS, columns="protocol", values=["score", "annotator"])
    order = list(named["protocol"].unique())
    people = wide["annotator"][order].apply(lambda own: np.maximum(pd.factorize(own, sort=True)[0], 0))
    first = named.drop_duplicates(_ROWS).set_index(_ROWS).loc[wide.index]
    items = {"segment": first.groupby(_ROWS[:2]).ngroup(), "document": first.groupby("doc").ngroup()}
    items |= {"system": wide.index.get_level_values("system"), "item_type": first["item_type"].astype("str")}
    return Laid(pd.DataFrame(items, wide.index), wide["score"][order].astype(float), people)


def redrawn(
    laid: Laid, groups: Sequence[Pair], statistics: Sequence[Statistic], *, resamples: int, seed: int
) -> list[widths.Redrawn]:
    """Draw statistics of two protocols each anew, the same documents for all, and the people of both.

    groups: the protocols that each of the statistics compares, over items that both judged. People who are not known
    are not drawn. statistics: each maps how often items count, (batch, items), to (batch, values).
    """
    parts = []
    for group, statistic in zip(groups, statistics, strict=True):
        units = {"documents": laid.items["document"].to_numpy()}
        units |= {f"people of {name}": laid.people[name].to_numpy() for name in group}
        complete = laid.scores[list(group)].notna().all(axis=1).to_numpy()[:, None]
        parts.append(widths.Part(statistic, units, len(complete), complete))
    return widths.redraw(parts, resamples=resamples, seed=seed)


def between(
    scored: pd.DataFrame, *, among: Sequence[str] | None = None, resamples: int = 300, seed: int = 7
) -> pd.DataFrame:
    """Correlate every two collections over the translations that both judged.

    among: collections to compare on the translations that all of them judged (such as ``REPEATED``); None for all.
    Returns a, b, n (translations), pearson, kendall_b, spearman, low, high (of pearson, 95 %, documents and both sides'
    people drawn), system_pearson (of the means of the systems over these translations, without the reference).
    Caveat: pooled over segments and systems, so what is agreed on may be which segments are hard; parts that were
    judged again cover fewer translations.
    """
    laid = lay(scored)
    if among is not None:
        laid = laid.taken(laid.shared(among))
    pairs = list(itertools.combinations(among or laid.scores, 2))
    statistics = [partial(_pearson, *laid.scores[list(pair)].to_numpy().T) for pair in pairs]
    rows = []
    for pair, one in zip(pairs, redrawn(laid, pairs, statistics, resamples=resamples, seed=seed), strict=True):
        own = laid.taken(laid.shared(pair))
        x, y = (own.scores[name] for name in pair)
        row = {"a": pair[0], "b": pair[1], "n": len(x), "pearson": float(correlation.pearson(x, y))}
        row |= {"kendall_b": float(correlation.kendall_b(x, y)), "spearman": float(correlation.spearman(x, y))}
        low, high = one.interval()
        systems = own.items["item_type"].eq("system")
        means = own.scores.loc[systems, list(pair)].groupby("system").mean()
        of_means = float(correlation.pearson(*means.to_numpy().T))
        rows.append(row | {"low": float(low[0]), "high": float(high[0]), "system_pearson": of_means})
    return pd.DataFrame(rows)


def _pearson(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return Pearson's r over rows in which both are there, and count so often: (batch, 1) from (batch, rows)."""
    there = np.isfinite(x) & np.isfinite(y)
    sums = correlation.moments(x[there] - x[there].mean(), y[there] - y[there].mean()).T
    return correlation.pearson_of_sums(counts[:, there] @ sums)[:, None]


# Every coefficient of two runs of a protocol


def coefficients(
    scored: pd.DataFrame, marked: pd.DataFrame, texts: pd.DataFrame, *, resamples: int = 200, seed: int = 7
) -> pd.DataFrame:
    """Estimate every coefficient of agreement between two runs of each protocol, on the same translations within a set.

    scored: the result of ``scores``. marked, texts: see ``characters``. The runs of each of the ``SETS`` are compared
    on the translations that all of them judged. In ``COEFFICIENTS``: pearson_without_model is the partial correlation
    with the suggesting model's score (LLM) held constant; kendall_b_within compares systems on one segment only; kappa
    and AC1 are of classes of severity (none, minor, major by the worst mark); characters_alpha is Krippendorff's
    nominal alpha of single characters, and characters_own_alpha leaves out marks that the model suggested (needs the
    marks' column ``suggested``).
    Returns protocol, again (the runs), coefficient, estimate, low, high (95 %, documents and people of both runs drawn
    together), first (share of the draws in which it is the highest of its set), n (translations).
    Caveat: two columns of matrices are two runs, each made by several people.
    """
    laid, classes = lay(scored), lay(scored.assign(score=worst(scored, marked)))
    tables = []
    for place, pairs in enumerate(SETS.values()):
        rows = laid.shared([name for pair in pairs for name in pair])
        here, severity = laid.taken(rows), classes.scores.iloc[rows]
        items = here.scores.index.to_frame(index=False)
        on, own = (characters(items, kept, texts) for kept in (marked, own_marks(marked)))
        functions = [partial(_all, together(here, severity, on, own, pair)) for pair in pairs]
        drawn = redrawn(here, pairs, functions, resamples=resamples, seed=seed + place)
        draws = np.stack([one.narrowed(few=True) for one in drawn])
        first = (draws == np.nan_to_num(draws, nan=-np.inf).max(axis=0)).mean(axis=1)
        for pair, one, leads in zip(pairs, drawn, first, strict=True):
            low, high = one.interval()
            columns: dict[str, object] = {"protocol": pair[0], "again": pair[1], "coefficient": list(COEFFICIENTS)}
            columns |= {"estimate": one.estimate, "low": low, "high": high, "first": leads, "n": len(rows)}
            tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def highest(table: pd.DataFrame) -> pd.DataFrame:
    """Say which run of each of the ``SETS`` every coefficient puts first: coefficient, set, protocol (the run), first.

    table: the result of ``coefficients``. first: in which share of the draws it was first. A coefficient that some runs
    of a set lack is left out there.
    """
    sets = {protocol: name for name, pairs in SETS.items() for protocol, _ in pairs}
    rows = table.assign(set=table["protocol"].map(sets))
    rows = rows[rows["estimate"].notna().groupby([rows["set"], rows["coefficient"]]).transform("all")]
    best = rows.loc[rows.groupby(["set", "coefficient"], sort=False)["estimate"].idxmax()]
    return best[["coefficient", "set", "protocol", "first"]].reset_index(drop=True)


def together(
    laid: Laid, classes: pd.DataFrame, on: Mapping[str, np.ndarray], own: Mapping[str, np.ndarray], pair: Pair
) -> dict[str, Statistic]:
    """Make every coefficient of two runs a function of how often each item counts, (batch,) from (batch, items).

    laid, classes: the scores and the classes of the same items, all of which both runs judged. on, own: their marked
    characters (see ``characters``), of all marks and of those that nobody suggested.
    """
    x, y = (laid.scores[name].to_numpy() for name in pair)
    with_model = laid.scores.reindex(columns=[*pair, "LLM"]).to_numpy()
    both, severity = laid.scores[list(pair)], classes[list(pair)]
    return {
        "pearson": lambda counts: _pearson(x, y, counts)[:, 0],
        "kendall_b": lambda counts: correlation.kendall_b_of_values(x, y, counts),
        "kendall_b_within": within_of(x, y, laid.items["segment"].to_numpy()),
        "krippendorff_ordinal": _of_matrix(both, "krippendorff_alpha", "ordinal"),
        "fleiss_kappa": _of_matrix(severity, "fleiss_kappa", "none", classes=len(CLASSES)),
        "gwet_ac1": _of_matrix(severity, "gwet_ac1", "none", classes=len(CLASSES)),
        "characters_alpha": characters_alpha(on, pair),
        "characters_own_alpha": characters_alpha(own, pair),
        "pearson_without_model": lambda counts: partial_correlation(correlation.covariances(with_model, counts)),
    }


def _all(one: Mapping[str, Statistic], counts: np.ndarray) -> np.ndarray:
    return np.stack([one[name](counts) for name in COEFFICIENTS], axis=-1)


def partial_correlation(covariance: np.ndarray) -> np.ndarray:
    r"""Return the partial correlation of the first two columns given the others, (batch,); NaN where one is unknown.

    covariance: (batch, columns, columns). From its inverse P, :math:`-P_{01} / \sqrt{P_{00} P_{11}}`; Whittaker 1990.

    >>> r = np.array([[[1.0, 0.5, 0.5], [0.5, 1.0, 0.5], [0.5, 0.5, 1.0]]])  # (0.5 - 0.25) / (1 - 0.25)
    >>> partial_correlation(r).round(6).tolist()
    [0.333333]
    """
    known = np.isfinite(covariance).all(axis=(1, 2), keepdims=True)
    precision = np.linalg.pinv(np.where(known, covariance, 0.0))
    return ratio(-precision[:, 0, 1], np.sqrt(precision[:, 0, 0] * precision[:, 1, 1]))


def within_of(x: np.ndarray, y: np.ndarray, group: np.ndarray) -> Statistic:
    """Make tau-b over pairs of rows of the same group (segment) only, pooled over groups."""
    order = np.argsort(group, kind="stable")
    blocks = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    first, second = np.concatenate([block[np.stack(np.triu_indices(len(block), 1))] for block in blocks], axis=1)
    signs = [np.sign(values[first] - values[second]) for values in (x, y)]
    parts = np.stack([signs[0] * signs[1], signs[0] ** 2, signs[1] ** 2], axis=1)
    return lambda counts: tau_b(*((counts[:, first] * counts[:, second]) @ parts).T)


def characters_alpha(on: Mapping[str, np.ndarray], pair: Pair) -> Statistic:
    """Make Krippendorff's nominal alpha of the characters that two runs marked; on: the result of ``characters``."""
    a, b = (on.get(name, np.zeros(len(on[""]), object)) for name in pair)
    marked = [[one.bit_count() for one in each] for each in (a, b, a & b)]
    sums = np.stack([on[""], *marked], axis=1)

    def alpha(counts: np.ndarray) -> np.ndarray:
        size, one, other, both = (counts @ sums).T
        share = ratio(one + other, 2 * size)
        by_chance = ratio(2 * size * 2 * share * (1 - share), 2 * size - 1)
        return 1 - np.asarray(ratio(ratio(one + other - 2 * both, size), by_chance))

    return alpha


def _of_matrix(two: pd.DataFrame, name: str, level: str, *, classes: int = 0) -> Statistic:
    """Let ``stats.agreement`` compute a coefficient of a matrix of two columns; classes: how many there are to use."""
    if two.isna().any(axis=None):
        return lambda counts: np.full(len(counts), np.nan)
    table = coded(two, categories=range(classes) if classes else None)
    estimate = PREPARE[name](table, level)
    patterns = len(table.times)
    if patterns == len(table.pattern):
        return estimate
    return lambda counts: estimate(np.stack([np.bincount(table.pattern, each, patterns) for each in counts]))


# Marks


def worst(scored: pd.DataFrame, marked: pd.DataFrame) -> pd.Series:
    """Return the class of every row of ``scored`` by its worst mark, 0 to 2 (see ``CLASSES``); NaN without any marks.

    scored: the table of ``scores``. marked: ``data.load("wmt23-protocols-spans")``, a row per marked error;
    those on degraded copies are left out. A protocol that has no row in it was done without marks: all its classes are
    missing. Critical errors count as major.

    >>> scored = pd.DataFrame({"protocol": ["E", "E", "D"], "system": "s", "doc": "d", "segment": ["1", "2", "1"]})
    >>> marked = scored[:1].assign(severity="major", item_type="system")
    >>> worst(scored, marked).tolist()
    [2.0, 0.0, nan]
    """
    kept = marked[marked["item_type"].astype("str") != "degraded"]
    severity = kept["severity"].astype("str")
    if not severity.isin(["minor", "major", "critical", "unstated"]).all():
        raise DataError(f"Marks have the severities {', '.join(sorted(severity.unique()))}: name them minor or major.")
    level = severity.isin(["major", "critical"]).to_numpy() + 1.0
    highest = kept[_KEY].astype("str").assign(level=level).groupby(_KEY)["level"].max()
    found = highest.reindex(pd.MultiIndex.from_frame(scored[_KEY].astype("str"))).to_numpy()
    there = scored["protocol"].astype("str").isin(kept["protocol"].astype("str").unique()).to_numpy()
    return pd.Series(np.where(there, np.nan_to_num(found), np.nan), index=scored.index, name="worst")


def with_wmt(marked: pd.DataFrame, merged: pd.DataFrame) -> pd.DataFrame:
    """Add WMT's own MQM marks to those of the protocols, as protocol WMT-MQM.

    merged: ``data.load("wmt23-mqm-spans")``; kept are marks of language pairs and translations that ``marked`` names.
    Marks in the source keep no place, so they count for severity alone.
    """
    names = [*_LANGUAGES, *SEGMENT]
    known = marked[names].astype("str").drop_duplicates()
    columns = [*names, "system", "severity", "side", "start", "end"]
    text = dict.fromkeys(columns[:-2], "str")
    theirs = merged[columns].astype(text).merge(known, on=names)
    placed = theirs["side"] == "target"
    theirs = theirs.assign(start=theirs["start"].where(placed), end=theirs["end"].where(placed))
    ours = marked.reindex(columns=[*columns, "protocol", "item_type", "suggested"]).astype(text)
    theirs = theirs.assign(protocol="WMT-MQM", item_type="system", suggested=False)
    return pd.concat([ours, theirs], ignore_index=True)


def own_marks(marked: pd.DataFrame) -> pd.DataFrame:
    """Leave a place only to marks that people drew themselves, not ``suggested``."""
    drawn = ~marked["suggested"].astype(bool)
    return marked.assign(start=marked["start"].where(drawn), end=marked["end"].where(drawn))


def masks(marked: pd.DataFrame, key: Sequence[str]) -> pd.Series:
    """Turn the marks of each place (``key``) into one whole number, whose bit n is set where character n is marked.

    marked: key, start, and end, which is excluded; marks may overlap. Marks without a place (omissions), and those of
    degraded copies, are left out.

    >>> marked = pd.DataFrame({"doc": "d", "item_type": "system", "start": [0, 1, 5], "end": [2, 3, 6]})
    >>> bin(masks(marked, ["doc"])["d"])
    '0b100111'
    """
    placed = (marked["start"] >= 0) & (marked["end"] > marked["start"])
    kept = marked[placed & marked["item_type"].astype("str").ne("degraded")].astype(
        {**dict.fromkeys(key, "str"), "start": int, "end": int}
    )
    bits = [(1 << end) - (1 << start) for start, end in zip(kept["start"], kept["end"])]
    places = pd.Series(bits, kept.index, dtype=object).groupby([kept[name] for name in key])
    return places.agg(partial(reduce, or_)).astype(object)  # however many bits they have


def characters(items: pd.DataFrame, marked: pd.DataFrame, texts: pd.DataFrame) -> dict[str, np.ndarray]:
    """Say which characters of the items' translations a protocol marked: protocol -> (items,), see ``masks``.

    items: system, doc and segment, one row per translation, in the order wanted. texts: their hypothesis and reference.
    Marks that run past the end of the text are cut there. Under the empty name stand the translations' lengths.
    """
    place = pd.MultiIndex.from_frame(items[ITEM].astype("str"))
    size = _lengths(place, marked, texts)
    whole = np.array([(1 << int(length)) - 1 for length in size], object)
    wide = masks(marked, _KEY).unstack("protocol", fill_value=0).reindex(place, fill_value=0)
    return {"": size} | {str(name): own.to_numpy() & whole for name, own in wide.items()}


def _lengths(items: pd.MultiIndex, marked: pd.DataFrame, texts: pd.DataFrame) -> np.ndarray:
    """Count the characters of every item's translation; of a system without any text it is the reference itself."""
    here = texts.astype(dict.fromkeys([*_LANGUAGES, *items.names], "str"))
    here = here.merge(marked[_LANGUAGES].astype("str").drop_duplicates(), on=_LANGUAGES)
    own = here.set_index(list(items.names))["hypothesis"].str.len().reindex(items).to_numpy()
    reference = here.drop_duplicates([*SEGMENT]).set_index([*SEGMENT])["reference"].str.len()
    unknown = ~items.get_level_values("system").isin(here["system"].unique())
    size = np.where(unknown, reference.reindex(items.droplevel("system")).to_numpy(), own)
    if np.isnan(size).any():
        raise DataError("Some translations have no text. Load the texts of the same test set.")
    return size.astype(int)
