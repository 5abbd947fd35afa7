"""Read files of automatic scores, tables or mt-metrics-eval's layout, and match them with what people judged."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError, nameable
from evalkit.data import languages, mtme
from evalkit.data.importing import numbers, reading, vocabulary
from evalkit.data.importing.metrics import NAMED, Metric, Ways, items_of, one_score, signed, signs
from evalkit.data.importing.options import Options, Pseudonyms
from evalkit.data.importing.tables import Seen
from evalkit.data.importing.vocabulary import bare, is_metric
from evalkit.data.names import plain

_KEYS = ("src_lang", "tgt_lang", "pair", "system", "doc", "segment")
_NAMES = ("metric", "metrics", "metricname", "scorer")
_FEW = 3  # names that are shown as examples
_FILE = re.compile(r"(?:(?P<pair>[a-z]{2,3}-[a-z]{2,3})\.)?(?P<metric>.+?)\.(?P<level>seg|sys)\.score")
_SCORES = "*.s[ey][gs].score"
_PUT_DOCS = (
    "Put documents/<pair>.docs beside it as mt-metrics-eval does, or pass a table with the columns system, doc, "
    "segment and score."
)


def of_files(paths: Sequence[Path], ratings: pd.DataFrame, *, told: Sequence[str] = ()) -> list[Metric]:
    """Read files of metrics' scores, or folders of mt-metrics-eval, and match them with what people judged.

    ratings: people's judgements. told: names with a sign, + where higher and - where lower is better.
    Raises DataError where a file is not there, or cannot be matched.
    """
    items = items_of(ratings) if paths else pd.DataFrame()
    return [metric for path in paths for metric in _read(path, items, Ways(signs(told)))]


def of_run(texts: Sequence[str], ratings: pd.DataFrame) -> list[Metric]:
    """Read files of metrics as the parameter ``metrics`` of a run names them (see ``path_and_sign``)."""
    items = items_of(ratings) if texts else pd.DataFrame()
    files = [(path, Ways(otherwise=lower, ask=f"-p metrics={path.name}")) for path, lower in map(path_and_sign, texts)]
    return [metric for path, ways in files for metric in _read(path, items, ways)]


def path_and_sign(text: str) -> tuple[Path, bool | None]:
    """Part the path of a file of metrics from the sign behind it.

    It tells which way those of its metrics are better of which nothing else tells it.

    >>> path_and_sign("scores.tsv")[1], path_and_sign("ter.tsv-")[1]
    (None, True)
    """
    name, lower = (text, None) if Path(text).exists() else signed(text)
    return Path(name), lower


def seen(paths: Sequence[Path]) -> list[Seen]:
    """Look at the files of metrics at some places: single ones, or those of folders in mt-metrics-eval's layout."""
    files = [sorted(place.rglob(_SCORES)) if place.is_dir() else [place] for place in paths]
    return [Seen.at(path) for own in files for path in own if path.is_file()]


def _read(path: Path, items: pd.DataFrame, ways: Ways) -> list[Metric]:
    """Read one file or folder."""
    path = nameable(path)
    if not path.exists():
        raise DataError(f"{path} is not there. Check the path of the file of metrics.")
    in_layout = path.is_dir() or bool(_FILE.fullmatch(path.name))
    return (_of_layout if in_layout else _of_table)(path, items, ways)


# Tables: a row per output, with one metric's score or a column for each


def _of_table(path: Path, items: pd.DataFrame, ways: Ways) -> list[Metric]:
    """Read a table of metrics' scores, and match it with people's items by names.

    It has system, segment (and doc, where segments have names in documents) and either metric and score, or columns of
    scores named like their metrics. Raises DataError where it is no such table, no row belongs to an item, or an output
    is scored twice.
    """
    tables = reading.opened(path, Options(Pseudonyms(keep=True)))
    if len(tables) > 1:
        titles = ", ".join(table.title for table in tables)
        raise DataError(f"{path.name} has several sheets or tables: {titles}. Write the one of metrics as CSV.")
    if broken := tables[0].broken:
        raise DataError(f"{path.name}, line {broken[0].line}: {broken[0].reason}. Correct the file of metrics.")
    cells, typed = tables[0].cells, tables[0].typed
    names = vocabulary.mapped([*cells], {"annotator": "", "item_type": "", "hit": ""}, origin=path.name).names
    if missing := [name for name in ("system", "segment") if name not in names]:
        raise DataError(
            f"{path.name} has no column for {' and '.join(missing)}; it has {', '.join(cells)}. A file of metrics has "
            "the columns system, doc, segment and score, or a column for each metric."
        )
    keys = pd.DataFrame({name: cells[names[name]].map(plain, na_action="ignore") for name in _KEYS if name in names})
    keys = _with_languages(keys, items, path.name)
    used = [theirs for ours, theirs in names.items() if ours in _KEYS]
    scores = _scores(cells, used, names.get("score"), path, typed, ways)
    return [_matched(text, values, ways, keys, items, path.name) for text, values in scores]


def _scores(
    cells: pd.DataFrame, used: list[str], column: str | None, path: Path, typed: bool, ways: Ways
) -> list[tuple[str, pd.Series]]:
    """Name the metrics of a table, each with its scores. column: that of scores, where there is one."""
    free = [name for name in cells if name not in used]
    named = next((name for name in free if bare(name) in _NAMES), None)
    if named is not None:
        if column is None:
            raise DataError(f"{path.name} names metrics in {named} and has no column called score. Rename it.")
        values, each = _numbers(cells[column], path.name, typed), cells[named].fillna("")
        if not each.ne("").any():
            raise DataError(f"{path.name} has no row that names a metric in {named}. Check that it is complete.")
        return [(str(name), values[each.eq(name)]) for name in each.unique() if name]
    known = [name for name in free if is_metric(name) or name in ways.lower or signed(name)[1] is not None]
    if wide := [name for name in known if name != column]:
        return [(name, _numbers(cells[name], path.name, typed)) for name in wide]
    if column is not None:
        return [(path.name.partition(".")[0], _numbers(cells[column], path.name, typed))]
    raise DataError(
        f"{path.name}: no column says whose scores these are; it has {', '.join(cells)}. Name columns like their "
        "metrics, such as COMET, with + (higher is better) or - behind a name that is not well known."
    )


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


def _matched(text: str, values: pd.Series, ways: Ways, keys: pd.DataFrame, items: pd.DataFrame, origin: str) -> Metric:
    """Match one metric's rows with people's items by names. text: its name, perhaps with a sign."""
    name, told = signed(text)
    scored = keys.loc[values.index].assign(score=values).dropna()
    if scored.empty:
        raise DataError(f"{origin}: {name} has no score beside the names of an output. Fill it in, or leave it out.")
    by = [column for column in NAMED if column in scored]
    note, first = "", scored.drop_duplicates(by)
    if "doc" not in by and items.duplicated(by).any():
        raise DataError(
            f"{origin} has no column doc, and people judged segments of the same name in several documents. Add it."
        )
    at = _places(first, items, by)
    if "doc" in by and (at < 0).all():  # documents may be called otherwise, or not at all
        rest = [column for column in by if column != "doc"]
        if not (scored.duplicated(rest).any() or items.duplicated(rest).any()):
            by, note, first = rest, ", because documents are called otherwise", scored
            at = _places(first, items, by)
    if len(first) < len(scored) and (unlike := scored.groupby(by)["score"].nunique()).gt(1).any():
        again = " ".join(map(str, unlike.index[unlike.argmax()][2:]))
        raise DataError(f"{origin}: {name} scored {again} more than once, differently. Keep one of the rows.")
    there = np.flatnonzero(at >= 0)[np.argsort(at[at >= 0])]  # in the order of items
    matched = items.iloc[at[there]].assign(score=first["score"].to_numpy()[there]).reset_index(drop=True)
    if matched.empty:
        raise DataError(
            f"{origin}: none of its {len(scored):,} scores by {name} belongs to an item that people judged. It has "
            f"{_examples(scored, by)}; people have {_examples(items, by)}. Write names as the people's file does."
        )
    lower, why = ways.of(name, values.to_numpy(), told=told)
    how = f"matched by {', '.join(column for column in by if column not in ('src_lang', 'tgt_lang'))}{note}"
    told_of = _summary(name, origin, matched, items, len(scored), how, why, scored["system"])
    others = _further(first[at < 0], items) if set(NAMED) <= set(by) else matched.head(0)
    return Metric(name, lower, pd.concat([matched, others], ignore_index=True), told_of)


def _places(scored: pd.DataFrame, items: pd.DataFrame, by: list[str]) -> np.ndarray:
    """Return which item each row of scores is of, (rows,), by columns that tell all items apart; -1 where of none."""
    numbered = items[by].assign(_place=np.arange(len(items)))
    return scored[by].merge(numbered, on=by, how="left")["_place"].fillna(-1).to_numpy(int)


def _further(scored: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Keep scores of systems that people judged, of segments on which people judged nothing of them.

    They stand in for judgements (prediction-powered inference), and enter no comparison with people.
    """
    who = ["src_lang", "tgt_lang", "system"]
    systems = items.loc[items["item_type"].eq("system"), who].drop_duplicates()
    own = scored[_places(scored, systems, who) >= 0]
    return own.assign(item_type="system")[[*NAMED, "item_type", "score"]]


def _summary(
    name: str, origin: str, found: pd.DataFrame, items: pd.DataFrame, rows: int, how: str, why: str, systems: pd.Series
) -> str:
    """Say how many items of people a metric scored, how they were matched, and which rows are left over."""
    text = f"{name}: {origin}, {len(found):,} of {len(items):,} items, {how}; {why}"
    others = sorted(set(systems) - set(items["system"]))
    if left := rows - len(found):
        text += f"; {left:,} further scores are of nothing that people judged"
        text += f", such as those of {', '.join(others[:_FEW])}{' …' * (len(others) > _FEW)}" if others else ""
    absent = sorted(set(items["system"]) - set(found["system"]))
    return text + (f"; it scores nothing of {', '.join(absent)}" if absent else "")


def _examples(table: pd.DataFrame, by: list[str]) -> str:
    shown = [column for column in by if column not in ("src_lang", "tgt_lang")]
    return ", ".join(f"{column} {table[column].iloc[0]!r}" for column in shown)


# mt-metrics-eval's layout: lines in the order of the test set


def _of_layout(path: Path, items: pd.DataFrame, ways: Ways) -> list[Metric]:
    """Read a metric's file of segments, or all metrics of a folder, with scores of whole systems where they are.

    A file is ``<metric>-<reference>.seg.score``: a line ``system<TAB>score`` for each segment in their order, None for
    no score; of systems, ``….sys.score``, a line for each.
    Raises DataError where nothing tells which segment a line is of, or a system lacks lines.
    """
    pairs = [*items[["src_lang", "tgt_lang"]].drop_duplicates().astype(str).itertuples(index=False, name=None)]
    files = [path]
    if path.is_dir():
        every = [nameable(file) for file in sorted(path.rglob(_SCORES)) if file.parent.name != "human-scores"]
        if not every:
            raise DataError(f"{path} holds no files like COMET-refA.seg.score. Name the file of metrics.")
        unknown = any(languages.UNKNOWN in pair for pair in pairs)
        files = [file for file in every if unknown or (name := _pair(file)) is None or languages.split(name) in pairs]
        if not files:
            raise DataError(f"{path} has no metrics of {', '.join(map('-'.join, pairs))}. Name the files.")
    stems = {file: _FILE.sub(r"\g<metric>", file.name) for file in files}
    bases = Counter(mtme.parted(stem)[0] for stem in {*stems.values()})
    metrics: dict[str, list[Path]] = {}
    for file, stem in stems.items():  # named with the reference only where a metric has several
        base = mtme.parted(stem)[0]
        metrics.setdefault(stem if bases[base] > 1 else base, []).append(file)
    return [_metric(name, own, items, pairs, ways) for name, own in metrics.items()]


def _pair(file: Path) -> str | None:
    """Read the language pair from a file's name, or from its folder's."""
    named = _FILE.fullmatch(file.name)
    return next((name for name in (named and named["pair"], file.parent.name) if name and languages.split(name)), None)


def _metric(name: str, files: list[Path], items: pd.DataFrame, pairs: list[tuple[str, str]], ways: Ways) -> Metric:
    """Read one metric's files. pairs: the language pairs that people judged."""
    tables = {file: mtme.scores(file).astype({"system": "str"}) for file in files}
    values = np.concatenate([table["score"].to_numpy(float) for table in tables.values()])
    lower, why = ways.of(name, values, kept=True)
    found, told, whole = items.assign(score=0.0).head(0), f"{name}: scores of whole systems only; {why}", []
    for file, table in tables.items():
        source, target = _pair_of(file, pairs)
        own = items[(items["src_lang"] == source) & (items["tgt_lang"] == target)]
        if file.name.endswith(".sys.score"):
            judged = table[table["system"].isin(own["system"])].dropna()
            whole.append(judged.assign(src_lang=source, tgt_lang=target))
            continue
        how, matched = _in_order(file, table, own)
        part = one_score(matched[[*NAMED, "score"]].dropna(subset="score"), own)
        there = int(table["score"].notna().sum())
        told = _summary(name, file.name, part, own, there, how, why, table["system"])
        found = pd.concat([found, part], ignore_index=True)
    if not whole or len(whole) < len(files):
        note = "; its scores of whole systems are not used, because they rest on other texts than people judged"
        return Metric(name, lower, found, told + note * bool(whole))
    return Metric(name, lower, found, told, pd.concat(whole, ignore_index=True))


def _pair_of(file: Path, pairs: list[tuple[str, str]]) -> tuple[str, str]:
    """Say which language pair a file is of: by its name or folder, or people's only one."""
    name = _pair(file)
    stated = languages.split(name) if name else None
    if stated in pairs:
        return stated
    if len(pairs) == 1 and (stated is None or languages.UNKNOWN in pairs[0]):
        return pairs[0]
    raise DataError(
        f"{file.name} {f'is of {name}' if name else 'does not say its language pair'}, and people judged "
        f"{', '.join(map('-'.join, pairs))}. Name the file like en-de.COMET-refA.seg.score."
    )


def _in_order(file: Path, table: pd.DataFrame, items: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Find out which line of a system is which of people's segments; say how, and give people's items their scores.

    Raises DataError where systems have different numbers of lines, or nothing tells the order, or two ways fit alike.
    """
    counts = table["system"].value_counts()
    if counts.nunique() > 1:
        raise DataError(
            f"{file.name}: {counts.index[-1]} has {counts.iloc[-1]:,} lines, {counts.index[0]} {counts.iloc[0]:,}. In "
            "this layout every system has a line for each segment: get the file again."
        )
    if not table["system"].isin(items["system"]).any():
        raise DataError(
            f"{file.name} scores {', '.join(counts.index[:3])} …, and people judged "
            f"{', '.join(items['system'].unique()[:3])} …: no system has the same name. Rename them in one of them."
        )
    place, fitting = table.groupby("system", sort=False).cumcount().to_numpy(), []
    for how, keys in _orders(file, int(counts.iloc[0]), items):
        named = table.assign(**{name: keys[name].to_numpy()[place] for name in keys})
        there = items.merge(named, on=["system", *keys])
        if len(there):  # people's items that have a line, and those of them that have a score
            fitting.append(((len(there), there["score"].notna().sum()), how, there))
    fitting.sort(key=lambda one: one[0], reverse=True)
    if not fitting:
        names = ", ".join(map(repr, items["segment"].unique()[:3]))
        raise DataError(
            f"{file.name} gives scores in the order of the test set, and nothing says which line people's segments "
            f"({names}) are. {_PUT_DOCS}"
        )
    if len(fitting) > 1 and fitting[0][0] == fitting[1][0]:
        raise DataError(
            f"{file.name}: people's segments may be its lines {fitting[0][1]} or {fitting[1][1]}, and nothing tells "
            f"which. {_PUT_DOCS}"
        )
    return fitting[0][1:]


def _orders(file: Path, lines: int, items: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """List the ways in which people may name the lines, and the names: by their numbers, or those within documents."""
    docs = _documents(file, lines)
    known = docs is not None and docs.isin(items["doc"]).any()
    numbered = items["segment"].str.fullmatch(r"\d{1,9}").all() and not items.duplicated(["system", "segment"]).any()
    for start in (1, 0):
        keys = pd.DataFrame({"segment": np.arange(start, start + lines).astype(str)})
        counted = f"counted from {start}"
        if known and docs is not None:
            yield f"matched by the order of lines, {counted}, as the documents say", keys.assign(doc=docs)
            within = (docs.groupby(docs).cumcount() + start).astype(str)
            if not within.equals(keys["segment"]):
                yield (
                    f"matched by the order within documents, {counted}",
                    pd.DataFrame({"segment": within, "doc": docs}),
                )
        elif numbered and items["segment"].astype(int).between(start, start + lines - 1).all():
            yield f"matched by the order of lines, {counted}", keys


def _documents(file: Path, lines: int) -> pd.Series | None:
    """Read the document of each line, where the layout's file of documents is to be found; None where not."""
    pair = _pair(file)
    folders = [file.parent, *file.parents[1:4]]
    places = [folder / "documents" / f"{pair}.docs" for folder in folders] + [file.parent / f"{pair}.docs"]
    place = next((one for one in places if pair and one.is_file()), None)
    if place is None:
        return None
    docs = mtme.documents(place)["doc"]
    if len(docs) != lines:
        raise DataError(f"{place.name} has {len(docs):,} lines, {file.name} {lines:,} a system. Get both again.")
    return docs
