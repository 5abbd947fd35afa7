"""A test set to compare metrics on: a folder in mt-metrics-eval's layout, or registered data of the same shape.

``open_testset`` is the door. Nothing about years or languages is built in: what a folder leaves open is chosen by
rules, each choice is told in ``TestSet.notes``, and each system set apart in ``TestSet.apart``.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, languages, load, mtme, schemas
from evalkit.data.mtme import Place, listed
from evalkit.data.names import is_human, plain

#: Kinds of human scores in the order in which the shared tasks have preferred them; others come last, by name.
PREFERRED = ("mqm", "esa", "da-sqm", "wmt-appraise", "wmt", "wmt-raw")
#: What whole systems are ranked by where segments have raw scores (WMT19 to WMT21): the standardised ones.
_OF_SYSTEMS = {"wmt-raw": "wmt-z"}
_CALLED = {"mqm": "MQM", "esa": "ESA", "da-sqm": "DA+SQM"}
_ENDING = re.compile(r"\.(seg|sys)\.score$|\.(score|scores|tsv|csv|txt)$", re.IGNORECASE)
#: What columns of a table are called.
_COLUMNS = {
    "system": ("system", "sys", "system_name", "system_id", "model"),
    "doc": ("doc", "document", "doc_id", "docid"),
    "segment": ("segment", "seg", "segment_id", "seg_id", "segid", "line", "item"),
    "score": ("score", "value"),
}


@dataclass(frozen=True, eq=False)
class TestSet:
    """Metrics' and people's scores of one test set. Tables know where they come from.

    name: of the folder. pair: the language pair that is shown, such as eng-ces_CZ.
    gold, system_gold: which human scores of segments and of systems metrics are compared with; golds: those there are.
    metrics, human: scores of segments, as ``schemas.METRIC_SCORES``; of_systems, human_of_systems: of whole systems.
    documents: domain, doc and segment of each line of the pair, in order. outputs: the texts, or None.
    apart: judged systems that are not compared, with why. notes: what was chosen, assumed or left aside, in sentences.
    yours: what the user's own metric is called, "" where there is none; how: how its lines were matched; added: its
    scores. foreign: whether the data are the user's own folder.
    """

    __test__ = False  # nothing that pytest should collect

    name: str
    pair: str
    gold: str
    system_gold: str
    golds: tuple[str, ...]
    metrics: pd.DataFrame
    human: pd.DataFrame
    of_systems: pd.DataFrame
    human_of_systems: pd.DataFrame
    documents: pd.DataFrame
    outputs: pd.DataFrame | None = None
    apart: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()
    yours: str = ""
    how: str = ""
    foreign: bool = False
    added: tuple[pd.DataFrame, ...] = ()

    @property
    def called(self) -> str:
        """Return what the human scores are called on a page."""
        return _CALLED.get(self.gold, self.gold)

    @property
    def tables(self) -> list[pd.DataFrame]:
        """Return all tables, for sources and signatures."""
        tables = [self.metrics, self.human, self.of_systems, self.human_of_systems]
        return [*tables, *([self.outputs] if self.outputs is not None else []), *self.added]


def open_testset(
    path: str | Path,
    *,
    pair: str = "",
    gold: str = "",
    reference: str = "",
    leave_out: Sequence[str] = (),
    metric: str = "",
    lower_is_better: Sequence[str] = (),
) -> TestSet:
    """Open a test set's folder, WMT15's to WMT25's or one's own, for one language pair.

    path: holds documents/, human-scores/ and, as far as there are, metric-scores/, references/, sources/ and
    system-outputs/. pair: as the folder writes it (en-cs_CZ) or as this suite does (eng-ces_CZ); "" takes the one with
    most human scores. gold, reference: which human scores, and metrics of which reference, are compared; "" chooses:
    human scores as the shared tasks preferred them, the reference that most metrics read. leave_out: systems besides
    human translations. metric: a file of one's own scores, see ``own_metric``. lower_is_better: metrics, "yours",
    or human scores whose low scores are good; their signs are turned, and noted.
    Raises DataError that says what is missing, where, and what to do.
    """
    path = Path(path).expanduser()
    everything = _opened(path)
    pairs = sorted({one.pair for one in everything if one.part == "documents"})
    written, notes = _pair_of(everything, pairs, pair, name=path.name, scored=not is_file(metric))
    places = [one for one in everything if one.pair == written]
    of_people, of_metrics = ([one for one in places if one.part == f"{who}-scores"] for who in ("human", "metric"))
    gold, system_gold = _golds_of(of_people, gold, notes)
    references, systems = (mtme.named(places, part, written) for part in ("references", "system-outputs"))
    called = _of_reference(sorted({one.name for one in of_metrics}), references, reference, notes)
    of_metrics = [one for one in sorted(of_metrics, key=lambda one: one.name) if one.name in called]
    of_golds = [one for one in of_people if (one.name, one.level) in ((gold, "seg"), (system_gold, "sys"))]
    docs = mtme.documents(mtme.named(places, "documents", written)[""])
    human, whole = _scores(of_golds, docs, notes, f"{gold} scores")
    metrics, of_systems = _scores(of_metrics, docs, notes, "metrics' scores", called)
    judged = sorted(_systems(human))
    if systems and (unknown := sorted(_systems(human, whole) - {*systems})):
        raise DataError(
            f"Human scores are of {unknown[0]!r}, and system-outputs/ has {listed(systems)}. Correct the name."
        )
    if others := sorted(_systems(metrics, of_systems) - {*judged} | {*systems} - {*judged}):
        notes.append(f"No {gold} score was given to {listed(others)}: metrics' scores of it are not used.")
    if coarse := sum(one.level in ("doc", "domain") for one in places):
        notes.append(f"Scores of documents or domains ({coarse} files) are not used; those of segments are.")
    texts = mtme.text_table(places, written, docs) if systems else None
    tables = {"metric-scores": [metrics, of_systems], "human-scores": [human, whole], "system-outputs": [texts]}
    for part, own in tables.items():
        files = [one.path for one in places if one.part in (part, "documents")]
        _label([table for table in own if table is not None], f"{path.name}/{part}", files)
    testset = TestSet(
        name=path.name,
        pair=languages.in_full(written),
        gold=gold,
        system_gold=system_gold,
        golds=tuple(ranked({one.name for one in of_people if one.level == "seg"})),
        metrics=metrics,
        human=human,
        of_systems=of_systems,
        human_of_systems=whole[whole["system"].isin(judged)].reset_index(drop=True),
        documents=docs,
        outputs=texts,
        apart=_set_apart(judged, references, leave_out),
        notes=tuple(notes),
        foreign=True,
    )
    return _finished(testset, metric, {*systems}, lower_is_better)


def registered(
    name: str,
    *,
    pair: str = "",
    gold: str = "",
    reference: str = "",
    leave_out: Sequence[str] = (),
    metric: str = "",
    lower_is_better: Sequence[str] = (),
    fallback: bool = False,
) -> TestSet:
    """Return registered data of several language pairs as a test set; options as in ``open_testset``.

    name: the beginning of the names of its data sets, such as wmt23 of wmt23-metrics. pair: "" takes the first by name.
    fallback: see ``data.load``.
    """
    kinds = "metrics human metrics-systems human-systems outputs"
    metrics, human, of_systems, whole, outputs = (load(f"{name}-{kind}", fallback=fallback) for kind in kinds.split())
    golds = ranked(map(str, human["metric"].unique()))
    pairs = sorted(schemas.with_pair(human[["src_lang", "tgt_lang"]].drop_duplicates().astype("str"))["pair"])
    read = sorted(set(map(str, metrics["reference"].unique())) - {"src"})
    for what, asked, there in (("gold", gold, golds), ("reference", reference, read), ("pair", pair, pairs)):
        if asked and asked not in there:
            raise DataError(f"There is no {what} {asked!r} in {name}. Choose among {listed(there)}.")
    pair, gold = pair or pairs[0], gold or golds[0]
    texts = outputs[schemas.with_pair(outputs[["src_lang", "tgt_lang"]].astype("str"))["pair"] == pair]
    testset = TestSet(
        name=name.upper(),
        pair=pair,
        gold=gold,
        system_gold=gold,
        golds=tuple(golds),
        metrics=metrics,
        human=human,
        of_systems=of_systems,
        human_of_systems=whole,
        documents=texts.drop_duplicates("segment")[["domain", "doc", "segment"]].astype("str").reset_index(drop=True),
        outputs=outputs,
        apart=_set_apart(sorted(_systems(human)), (), leave_out),
    )
    return _finished(testset, metric, _systems(texts), lower_is_better)


def ranked(golds: Iterable[str]) -> list[str]:
    """Sort kinds of human scores as they are preferred: MQM, ESA, DA+SQM, other assessments, then all others by name.

    A kind has variants, such as esa-human1 or mqm.merged; the plain name comes before them.

    >>> ranked(["wmt-z", "esa-human2", "esa-human1", "wmt-raw", "mqm", "stars"])
    ['mqm', 'esa-human1', 'esa-human2', 'wmt-raw', 'stars', 'wmt-z']
    """

    def place(name: str) -> tuple[int, bool, str]:
        kind = name.lower()
        near = [number for number, one in enumerate(PREFERRED[:4]) if kind.startswith((f"{one}-", f"{one}."))]
        whole = kind in PREFERRED
        return (PREFERRED.index(kind) if whole else (near or [len(PREFERRED)])[0], not whole, name)

    return sorted(golds, key=place)


def _opened(path: Path) -> list[Place]:
    """Look at a test set's folder. Raises DataError that says what it is instead, or what is missing."""
    if not path.is_dir():
        what = "an archive or another file: unpack it, and name" if path.is_file() else "no folder. Name"
        raise DataError(f"{path} is {what} the folder of a test set, which holds documents/ and human-scores/.")
    lacking = [part for part in ("documents", "human-scores") if not (path / part).is_dir()]
    if lacking:
        above = [place for place in path.resolve().parents[:2] if (place / "human-scores").is_dir()]
        below = [place.parent for depth in ("*", "*/*") for place in sorted(path.glob(f"{depth}/human-scores"))]
        near = [place.name for place in above] or [place.relative_to(path).as_posix() for place in below]
        hint = f"Name {listed(near)}, which is one." if near else "Get them from where the scores are from."
        raise DataError(f"{path.name} is no test set: it has no folder {listed(lacking)}. {hint}")
    return mtme.in_folder(path)


def _pair_of(places: list[Place], pairs: list[str], wanted: str, *, name: str, scored: bool) -> tuple[str, list[str]]:
    """Choose a language pair: as asked, or the one with most human scores of segments; and note how, where it chose.

    scored: only pairs that metrics scored. Raises DataError where there is none, or not the one asked for.
    """
    if wanted:
        for pair in pairs:
            if wanted in (pair, languages.in_full(pair)):
                return pair, []
        raise DataError(f"{name} has no language pair {wanted!r}. Choose among {listed(pairs)}.")
    counts = {}
    for pair in pairs:  # of which documents/<pair>.docs lists each segment's domain and document
        people = mtme.named(places, "human-scores", pair, "seg")
        if people and (not scored or any(one.part == "metric-scores" and one.pair == pair for one in places)):
            counts[pair] = sum("None" not in line for line in mtme.lines(people[ranked(people)[0]]))
    if not counts:
        raise DataError(
            f"{name} has no scores of segments by people, human-scores/<pair>.<name>.seg.score, and by metrics, "
            f"metric-scores/<pair>/<metric>-<reference>.seg.score, of a pair with documents/<pair>.docs: "
            f"{listed(pairs) or 'none'}. Add them, or pass a metric of your own with -p metric=FILE."
        )
    best, *others = sorted(counts, key=lambda pair: -counts[pair])
    return best, [f"{best} has most human scores; also there: {listed(others)} (-p pair=…)."] if others else []


def _golds_of(people: list[Place], wanted: str, notes: list[str]) -> tuple[str, str]:
    """Choose the human scores of segments and of systems: as asked, or as they are preferred.

    notes: gets how they were chosen where there was a choice. Raises DataError where there are none of segments.
    """
    golds, whole = (ranked({one.name for one in people if one.level == level}) for level in ("seg", "sys"))
    if not golds or (wanted and wanted not in golds):
        raise DataError(
            f"There are no human scores {wanted!r} of segments, human-scores/<pair>.<name>.seg.score. Choose among "
            f"{listed(golds) or 'none: add them, or choose another language pair with -p pair=…'}."
        )
    gold = wanted or golds[0]
    system_gold = _OF_SYSTEMS.get(gold, gold) if not wanted else gold
    system_gold = system_gold if system_gold in whole else gold
    if golds[1:] and not wanted:
        rule = "the first in the shared tasks' order: MQM, ESA, DA+SQM, other assessments, others by name"
        notes.append(f"{gold} was chosen among the human scores ({listed(golds)}): {rule} (-p gold=…).")
    if system_gold != gold:
        notes.append(f"Whole systems are compared with {system_gold}, as in WMT19 to WMT21.")
    return gold, system_gold


def _of_reference(names: Sequence[str], references: Collection[str], wanted: str, notes: list[str]) -> dict[str, str]:
    """Choose the metrics that read one reference, or none, and name them.

    names: as files name them, such as BLEU-refA. Returns what each is called: by its plain name, or by the whole one
    where the metric is there with and without a reference. notes: gets how the reference was chosen.
    Raises DataError where no metric reads the reference that was asked for.
    """
    parts = {name: mtme.parted(name, references) for name in names}
    single = Counter(reference for _, reference in parts.values() if reference not in ("", "src", "all"))
    if wanted and wanted not in single:
        raise DataError(f"No metric reads the reference {wanted!r}. Choose among {listed(sorted(single)) or 'none'}.")
    alone = sorted(name for name in single if "." not in name) or sorted(single)
    reference = wanted or max(alone, key=lambda name: single[name], default="")
    kept = [name for name, (_, read) in parts.items() if not reference or read in ("", "src", reference)]
    bases = Counter(parts[name][0] for name in kept)
    if (left := len(names) - len(kept)) and not wanted:
        counts = listed(f"{name}: {count}" for name, count in sorted(single.items()))
        notes.append(
            f"Metrics compared are those that read the reference {reference}, or none ({counts}); {left} that read "
            "others are left out (-p reference=…)."
        )
    return {name: parts[name][0] if bases[parts[name][0]] == 1 else name for name in kept}


def _set_apart(systems: Sequence[str], references: Collection[str], leave_out: Collection[str]) -> pd.DataFrame:
    """List which of the judged systems are compared with none, and why: system, why.

    references: names of reference translations, which people made. leave_out: as asked. Raises DataError for a name
    that no judged system has.
    """
    if unknown := [name for name in leave_out if name not in systems]:
        raise DataError(f"leave_out: people judged no system {unknown[0]!r}. Choose among {listed(systems)}.")
    table = pd.DataFrame({"system": pd.Series(list(systems), dtype="str")})
    named = is_human(table["system"]) | table["system"].str.startswith("synthetic_ref")
    conditions = [table["system"].isin([*references]), named, table["system"].isin([*leave_out])]
    reasons = ["a reference translation", "named as human translations are", "left out as asked"]
    table["why"] = pd.Series(np.select(conditions, reasons, ""), dtype="str")
    return table[table["why"] != ""].reset_index(drop=True)


def _scores(
    places: list[Place], docs: pd.DataFrame, notes: list[str], what: str, called: dict[str, str] | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read scores of segments and of systems; where there are none of systems, means of segments, which is noted."""
    of_segments, of_systems = ([one for one in places if one.level == level] for level in ("seg", "sys"))
    if of_segments:
        segments = mtme.score_table(of_segments, {of_segments[0].pair: docs}, called=called)
    else:
        columns = [name for name in schemas.METRIC_SCORES.columns if name != "reference"]
        segments = pd.DataFrame({name: pd.Series(dtype=float if name == "score" else "category") for name in columns})
    if of_systems:
        return segments, mtme.score_table(of_systems, called=called)
    if len(segments):
        notes.append(f"There are no {what} of whole systems: they are means of segments.")
    return segments, means(segments)


def _systems(*tables: pd.DataFrame) -> set[str]:
    """Return the names of the systems in tables."""
    return {str(name) for table in tables for name in table["system"].unique()}


def _label(tables: list[pd.DataFrame], name: str, files: list[Path]) -> None:
    """Write on each table which files it is from, and their digest."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    label = {"name": name, "source": "real", "origin": name, "digest": f"sha256:{digest.hexdigest()}"}
    for table in tables:
        table.attrs |= {"source": label, "scale": None}


def _finished(testset: TestSet, metric: str, outputs: set[str], lower: Sequence[str]) -> TestSet:
    """Add one's own metric, turn the signs that are to be turned, and refuse what cannot be compared."""
    testset = _with_own(testset, Path(metric), outputs) if is_file(metric) else testset
    testset = _turned(testset, lower)
    apart = [] if testset.apart is None else [*testset.apart["system"]]
    source, _, target = testset.pair.partition("-")
    human = testset.human[(testset.human["src_lang"] == source) & (testset.human["tgt_lang"] == target)]
    left = sorted(_systems(human) - {*apart})
    if len(left) < 2:
        raise DataError(
            f"Human scores {testset.gold} of {testset.pair} are of {listed(left) or 'no system'} besides "
            f"{listed(sorted(apart)) or 'nothing'}. A comparison needs at least two systems: choose others."
        )
    return testset


def _with_own(testset: TestSet, file: Path, outputs: set[str]) -> TestSet:
    """Add one's own metric to the scores of the pair that is shown."""
    known = outputs | _systems(testset.metrics, testset.human)
    mine = own_metric(file, testset.documents, known, pair=testset.pair)
    made: dict[str, Any] = {}
    for field, rows in (("metrics", mine.segments), ("of_systems", mine.systems)):
        table = getattr(testset, field)
        columns = [name for name in table if name in rows]
        both = mtme.stacked([table[columns], rows[columns]]) if len(table) else rows[columns]
        both.attrs = dict(table.attrs)
        made[field] = both
    added = mine.segments if len(mine.segments) else mine.systems
    _label([added], file.name, [file])
    return replace(testset, **made, yours=mine.name, how=mine.how, added=(added,))


def _turned(testset: TestSet, lower: Sequence[str]) -> TestSet:
    """Turn the signs of what the user says is good when low, and note it. Raises DataError for an unknown name."""
    names = [testset.yours if name == "yours" and testset.yours else name for name in lower]
    metrics = {str(name) for table in (testset.metrics, testset.of_systems) for name in table["metric"].unique()}
    if unknown := [name for name in names if name not in metrics | {testset.gold}]:
        raise DataError(
            f"lower_is_better: there is no metric, and no chosen human score, called {unknown[0]!r}. Choose among "
            f"{listed(sorted(metrics))}, {testset.gold}."
        )
    if not names:
        return testset
    turned, made = [*names, testset.system_gold] if testset.gold in names else names, {}
    for field in ("metrics", "of_systems", "human", "human_of_systems"):
        table = getattr(testset, field)
        made[field] = table.assign(score=table["score"].where(~table["metric"].isin(turned), -table["score"]))
    note = f"Low scores are good in {listed(names)}, as you say: their signs were turned."
    return replace(testset, **made, notes=(*testset.notes, note))


# One's own metric: scores in the order of the test set's lines, or by the names of its segments


@dataclass(frozen=True)
class Own:
    """A metric of one's own. name: as the page calls it. segments, systems: its scores, empty where it has none.

    how: in words, how its lines were matched.
    """

    name: str
    segments: pd.DataFrame
    systems: pd.DataFrame
    how: str


def is_file(metric: str) -> bool:
    """Tell whether what was asked for is a file of scores, and not the name of a metric that is there.

    >>> is_file("BLEU"), is_file("my.seg.score"), is_file("scores/my")
    (False, True, True)
    """
    return bool(re.search(r"[/\\]", metric) or _ENDING.search(metric) or (metric and Path(metric).is_file()))


def own_metric(path: Path, documents: pd.DataFrame, known: Collection[str], *, pair: str) -> Own:
    """Read one's own scores: ``system<TAB>score``, a line per system and segment, or per system; or a table.

    A table has a first line with the names of its columns: system, score, and segment (its number in the test set,
    counted from 1; or, with doc, within the document). documents: domain, doc, segment. known: the test set's systems.
    pair: the language pair. Raises DataError where the file is none of these, names a system that the test set does
    not have, or a system lacks lines.
    """
    if not path.is_file():
        raise DataError(f"metric: {path} is no file. Give the path of your metric's scores, or the name of a metric.")
    header = _header(mtme.lines(path)[0])
    table, how = _of_table(path, header, documents) if header else _of_lines(path, documents)
    if unknown := [str(name) for name in table["system"].unique() if name not in known]:
        near = difflib.get_close_matches(unknown[0], list(known), n=1)
        remedy = f"Is it {near[0]}?" if near else f"It has {listed(sorted(known))}."
        raise DataError(f"{path.name}: the test set has no system {unknown[0]!r}. {remedy} Correct the file.")
    source, _, target = pair.partition("-")
    name = f"{mtme.parted(_ENDING.sub('', path.name))[0]} (yours)"
    table = table.dropna(subset="score").assign(src_lang=source, tgt_lang=target, metric=name)
    table = table.astype({column: "str" for column in table if column != "score"})
    table = table.astype({column: "category" for column in table if column != "score"}).reset_index(drop=True)
    if "segment" not in table:
        return Own(name, table.head(0).assign(doc="", segment=""), table, how)
    return Own(name, table, means(table), f"{how}; a system's score is the mean of its segments' scores")


def means(scores: pd.DataFrame) -> pd.DataFrame:
    """Average the scores of segments over each metric's and system's."""
    keys = ["src_lang", "tgt_lang", "metric", "system"]
    return scores.groupby(keys, observed=True)["score"].mean().reset_index()


def _of_lines(path: Path, documents: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Read lines of a system and a score, of segments or of systems."""
    table = mtme.scores(path)
    if not table["system"].duplicated().any() and (len(documents) > 1 or path.name.endswith(".sys.score")):
        return table, "scores of whole systems only"
    return mtme.lined_up(table, documents, path), f"{len(documents):,} lines a system, in the order of the documents"


def _header(line: str) -> dict[str, str]:
    """Match the names of columns in a first line with ours: their name -> ours; empty where it is no header."""
    cells = [plain(cell).strip('"') for cell in re.split(r"[\t,;]", line)]
    by_name = {cell.casefold(): cell for cell in cells}
    found = {ours: by_name[name] for ours, names in _COLUMNS.items() for name in names[::-1] if name in by_name}
    return {theirs: ours for ours, theirs in found.items()} if {"system", "score"} <= found.keys() else {}


def _of_table(path: Path, header: dict[str, str], documents: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Read a table with a header, of segments or of systems."""
    raw = delimited.table(delimited.content(path), origin=path.name)
    if lost := [theirs for theirs in header if theirs not in raw]:
        raise DataError(
            f"{path.name}, line 1: there are the columns {listed(raw.columns)}, and {lost[0]} is none by itself. "
            "Separate all names and cells alike, by tabs or by commas."
        )
    table = raw[list(header)].set_axis(list(header.values()), axis=1)
    if table.empty or (empty := table.drop(columns="score").isna().any(axis=1)).any():
        line = "" if table.empty else f", line {empty.idxmax()}"
        raise DataError(f"{path.name}{line}: a row without names of system or segment. Check that it is complete.")
    cells = table["score"].fillna("None").str.strip()
    scores = mtme.numbers(cells.tolist(), origin=path.name, lines=table.index)
    table = table.assign(score=scores, system=table["system"].map(plain), place=0)
    how = "scores of whole systems only"
    if "segment" in table:
        table["place"], how = _places(table, documents, path.name)
    if (twice := table.duplicated(["system", "place"])).any():
        system = table["system"][twice.idxmax()]
        raise DataError(f"{path.name}, line {twice.idxmax()}: {system} more than once for this segment. Keep one row.")
    if "segment" in table:
        place = table["place"].to_numpy()
        table = table.assign(**{name: documents[name].to_numpy()[place] for name in ("doc", "segment")})
    return table.drop(columns="place"), how


def _places(table: pd.DataFrame, documents: pd.DataFrame, origin: str) -> tuple[np.ndarray, str]:
    """Find the line of the test set that each row is of, by the number of its segment or by document and number."""
    order, segment = pd.Series(np.arange(len(documents))), table["segment"].str.strip()
    place = segment.map(order.set_axis(documents["segment"]))
    how = "matched by the number of the segment in the test set"
    if "doc" in table:
        doc = table["doc"].map(plain)
        if not doc.eq(place.map(documents["doc"])).all():
            within = (documents.groupby("doc", sort=False).cumcount() + 1).astype(str)
            keys = pd.Series(zip(doc, segment, strict=True), table.index)
            place = keys.map(order.set_axis([*zip(documents["doc"], within, strict=True)]))
            how = "matched by the document and the number of the segment within it"
    if place.isna().any():
        line = place.isna().idxmax()
        named = " ".join(table.loc[line].filter(["doc", "segment"]))
        raise DataError(
            f"{origin}, line {line}: the test set has no segment {named}. Number segments from 1 to "
            f"{len(documents):,} in its order or, with the column doc, within their documents."
        )
    return place.to_numpy(int), how
