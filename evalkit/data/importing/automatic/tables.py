"""Read automatic scores from a table of their own: a row per output, with one metric's score or a column for each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import languages
from evalkit.data.importing.automatic.items import NAMED, Metric, further, places
from evalkit.data.importing.automatic.names import is_metric, orientation, signed
from evalkit.data.importing.cells import columns, numbers
from evalkit.data.importing.formats import Head
from evalkit.data.importing.options import Options
from evalkit.data.importing.pseudonyms import Pseudonyms
from evalkit.data.importing.sources import opened
from evalkit.data.names import plain

_KEYS = ("src_lang", "tgt_lang", "pair", "system", "doc", "segment")
_NAMES = ("metric", "metrics", "metricname", "scorer")
_FEW = 3  # names that are shown as examples


def read(path: Path, items: pd.DataFrame, signs: Mapping[str, bool]) -> list[Metric]:
    """Read a table of metrics' scores, and match it with people's items by names.

    path: CSV, TSV, JSON lines or a workbook, with system, segment (and doc, where segments have names in documents)
    and either metric and score, or columns of scores named like their metrics. items: as ``items_of`` lists them.
    signs: name -> whether lower is better, as told.
    Raises DataError where it is no such table, no row belongs to an item, or an output is scored twice.
    """
    frame, typed = _frame(path)
    names = columns.mapped([*frame.columns], {"annotator": "", "item_type": "", "hit": ""}, origin=path.name).names
    if missing := [name for name in ("system", "segment") if name not in names]:
        raise DataError(
            f"{path.name} has no column for {' and '.join(missing)}; it has {', '.join(frame.columns)}. A file of "
            "metrics has the columns system, doc, segment and score, or a column for each metric."
        )
    keys = pd.DataFrame({name: frame[names[name]].map(plain, na_action="ignore") for name in _KEYS if name in names})
    keys = _with_languages(keys, items, path.name)
    used = [theirs for ours, theirs in names.items() if ours in _KEYS]
    scores = _scores(frame, used, names, path, typed, signs)
    return [_matched(name, values, signs.get(name, lower), keys, items, path.name) for name, values, lower in scores]


def _frame(path: Path) -> tuple[pd.DataFrame, bool]:
    sources = opened(path, Options(Pseudonyms(keep=True)))
    if len(sources) > 1:
        titles = ", ".join(source.title for source in sources)
        raise DataError(f"{path.name} has several sheets or tables: {titles}. Write the one of metrics as CSV.")
    if not sources[0].head:
        raise DataError(f"{path.name} has no rows. Check that it is complete.")
    head = Head.of(sources[0])
    rows = sources[0].read(head.header, head.line)
    if rows.broken:
        broken = rows.broken[0]
        raise DataError(f"{path.name}, line {broken.line}: {broken.reason}. Correct the file of metrics.")
    return rows.frame, head.typed


def _scores(
    frame: pd.DataFrame, used: list[str], names: dict[str, str], path: Path, typed: bool, signs: Mapping[str, bool]
) -> list[tuple[str, pd.Series, bool | None]]:
    """Name the metrics of a table, each with its scores and, where its name has a sign, which way is better."""
    free = [name for name in frame if name not in used]
    named = next((name for name in free if columns.plain(name) in _NAMES), None)
    if named is not None:
        column = names.get("score")
        if column is None:
            raise DataError(f"{path.name} names metrics in {named} and has no column called score. Rename it.")
        values, each = _numbers(frame[column], path.name, typed), frame[named].fillna("")
        if not each.ne("").any():
            raise DataError(f"{path.name} has no row that names a metric in {named}. Check that it is complete.")
        return [_entry(str(name), values[each.eq(name)]) for name in each.unique() if name]
    known = [name for name in free if is_metric(name) or name in signs or signed(name)[1] is not None]
    wide = [name for name in known if name != names.get("score")]
    if wide:
        return [_entry(name, _numbers(frame[name], path.name, typed)) for name in wide]
    if "score" in names:
        return [_entry(path.name.partition(".")[0], _numbers(frame[names["score"]], path.name, typed))]
    raise DataError(
        f"{path.name}: no column says whose scores these are; it has {', '.join(frame.columns)}. Name columns like "
        "their metrics, such as COMET, with + (higher is better) or - behind a name that is not well known."
    )


def _entry(text: str, values: pd.Series) -> tuple[str, pd.Series, bool | None]:
    name, lower = signed(text)
    return name, values, lower


def _numbers(cells: pd.Series, origin: str, typed: bool) -> pd.Series:
    values, wrong = numbers.read(numbers.said(cells), typed=typed)
    bad = next((place for place, reason in wrong.items() if reason != numbers.MISSING), None)
    if bad is not None:
        where = f"{origin}, line {cells.index[bad]}, column {cells.name}"
        raise DataError(f"{where}: {cells.iloc[bad][:40]!r} is no number. Correct it, or leave the cell empty.")
    return pd.Series(values, cells.index)


def _with_languages(keys: pd.DataFrame, items: pd.DataFrame, origin: str) -> pd.DataFrame:
    """Give each row its languages: the table's own, or those of people where they judged one language pair."""
    if "pair" in keys and "src_lang" not in keys:
        pairs = keys["pair"].map(languages.split, na_action="ignore")
        keys = keys.assign(**{name: pairs.str[place] for place, name in enumerate(("src_lang", "tgt_lang"))})
    keys = keys.drop(columns="pair", errors="ignore")
    for name in ("src_lang", "tgt_lang"):
        there = items[name].unique()
        if len(there) == 1 and (name not in keys or there[0] == languages.UNKNOWN):
            keys[name] = there[0]
        elif name in keys:
            keys[name] = keys[name].map(lambda text: languages.code(text) or text, na_action="ignore")
        else:
            raise DataError(
                f"{origin} does not say the languages, and people judged several pairs. Add the columns src_lang and "
                "tgt_lang."
            )
    return keys


def _matched(
    name: str, values: pd.Series, told: bool | None, keys: pd.DataFrame, items: pd.DataFrame, origin: str
) -> Metric:
    """Match one metric's rows with people's items by names."""
    scored = keys.loc[values.index].assign(score=values).dropna()
    if scored.empty:
        raise DataError(f"{origin}: {name} has no score beside the names of an output. Fill it in, or leave it out.")
    by = [column for column in NAMED if column in scored]
    note, first = "", scored.drop_duplicates(by)
    if "doc" not in by and items.duplicated(by).any():
        raise DataError(
            f"{origin} has no column doc, and people judged segments of the same name in several documents. Add it."
        )
    at = places(first, items, by)
    if "doc" in by and (at < 0).all():  # documents may be called otherwise, or not at all
        rest = [column for column in by if column != "doc"]
        if not (scored.duplicated(rest).any() or items.duplicated(rest).any()):
            by, note, first = rest, ", because documents are called otherwise", scored
            at = places(first, items, by)
    if len(first) < len(scored) and (unlike := scored.groupby(by)["score"].nunique()).gt(1).any():
        again = unlike.index[unlike.argmax()]
        where = " ".join(map(str, again[2:]))
        raise DataError(f"{origin}: {name} scored {where} more than once, differently. Keep one of the rows.")
    there = np.flatnonzero(at >= 0)[np.argsort(at[at >= 0])]  # in the order of items
    found = items.iloc[at[there]].assign(score=first["score"].to_numpy()[there]).reset_index(drop=True)
    if found.empty:
        raise DataError(
            f"{origin}: none of its {len(scored):,} scores by {name} belongs to an item that people judged. It has "
            f"{_examples(scored, by)}; people have {_examples(items, by)}. Write names as the people's file does."
        )
    lower, why = orientation(name, values.to_numpy(), told=told)
    how = f"matched by {', '.join(column for column in by if column not in ('src_lang', 'tgt_lang'))}{note}"
    summary = describe(name, origin, found, items, len(scored), how, why, scored["system"])
    unknown = first[at < 0]
    others = further(unknown, items) if len(unknown) and set(NAMED) <= set(by) else found.head(0)
    return Metric(name, lower, pd.concat([found, others], ignore_index=True), summary)


def describe(
    name: str, origin: str, found: pd.DataFrame, items: pd.DataFrame, rows: int, how: str, why: str, systems: pd.Series
) -> str:
    """Say how many items of people a metric scored, how they were matched, and which rows are left over."""
    text = f"{name}: {origin}, {len(found):,} of {len(items):,} items, {how}; {why}"
    if left := rows - len(found):
        text += f"; {left:,} further scores are of nothing that people judged"
    others = sorted(set(systems) - set(items["system"]))
    text += f", such as those of {', '.join(others[:_FEW])}{' …' * (len(others) > _FEW)}" if left and others else ""
    absent = sorted(set(items["system"]) - set(found["system"]))
    return text + (f"; it scores nothing of {', '.join(absent)}" if absent else "")


def _examples(table: pd.DataFrame, by: list[str]) -> str:
    shown = [column for column in by if column not in ("src_lang", "tgt_lang")]
    return ", ".join(f"{column} {table[column].iloc[0]!r}" for column in shown)
