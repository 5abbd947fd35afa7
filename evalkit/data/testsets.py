"""A test set to compare metrics on: a folder in mt-metrics-eval's layout, or registered data of the same shape.

``open_testset`` is the door. Nothing about years or languages is built in: what a folder leaves open is chosen by
rules, each choice is told in ``TestSet.notes``, and each system set apart in ``TestSet.apart``.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import DataError
from evalkit.data import languages, load, mtme, registry, schemas
from evalkit.data.mtme import Place, listed
from evalkit.data.names import is_human

#: Kinds of human scores in the order in which the shared tasks have preferred them; others come last, by name.
PREFERRED = ("mqm", "esa", "da-sqm", "wmt-appraise", "wmt", "wmt-raw")
#: What whole systems are ranked by where segments have raw scores (WMT19 to WMT21): the standardised ones.
_OF_SYSTEMS = {"wmt-raw": "wmt-z"}
_CALLED = {"mqm": "MQM", "esa": "ESA", "da-sqm": "DA+SQM"}
_ENDING = re.compile(r"\.(seg|sys)\.score$|\.(score|scores|tsv|csv|txt)$", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class TestSet:
    """Metrics' and people's scores of one test set. Tables know where they come from.

    name: of the folder. pair: the language pair that is shown, such as eng-ces_CZ.
    gold, system_gold: which human scores of segments and of systems metrics are compared with; golds: those there are.
    metrics, human: scores of segments, as ``schemas.METRIC_SCORES``; of_systems, human_of_systems: of whole systems.
    documents: domain, doc and segment of each line of the pair, in order. outputs: the texts, or None.
    apart: judged systems that are not compared, with why. notes: what was chosen, assumed or left aside, in sentences.
    yours: what the user's own metric is called, "" where there is none; added: its scores. foreign: whether the data
    are the user's own folder.
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
    apart: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=["system", "why"]))
    notes: tuple[str, ...] = ()
    yours: str = ""
    foreign: bool = False
    added: tuple[pd.DataFrame, ...] = ()

    @property
    def called(self) -> str:
        """Return what the human scores are called on a page."""
        return _CALLED.get(self.gold, self.gold)

    @property
    def tables(self) -> list[pd.DataFrame]:
        """Return all tables, for sources and signatures."""
        tables = (self.metrics, self.human, self.of_systems, self.human_of_systems, self.outputs, *self.added)
        return [table for table in tables if table is not None]


def open_testset(
    path: str | Path = "",
    *,
    example: str = "",
    fallback: bool = False,
    pair: str = "",
    gold: str = "",
    reference: str = "",
    leave_out: Sequence[str] = (),
    metric: str = "",
    lower_is_better: Sequence[str] = (),
) -> TestSet:
    """Open a test set: a folder of one's own, laid out as WMT15's to WMT25's, or registered data.

    path: holds documents/, human-scores/ and, as far as there are, metric-scores/, references/, sources/ and
    system-outputs/; "" takes the registered data whose names begin with ``example``, such as wmt23, or with fallback
    what stands in for them. pair: as the folder writes it (en-cs_CZ) or as this suite does (eng-ces_CZ); "" takes the
    one with most human scores, or of registered data the first. gold, reference: which human scores, and metrics of
    which reference, are compared; "" chooses: human scores as the shared tasks preferred them, the reference that most
    metrics read. leave_out: systems besides human translations. metric: a file of one's own scores, see ``with_own``.
    lower_is_better: metrics, "yours", or human scores whose low scores are good; their signs are turned, and noted.
    Raises DataError that says what is missing, where, and what to do.
    """
    if path:
        testset, people = _of_folder(Path(path).expanduser(), pair, gold, reference, scored=not is_file(metric))
    else:
        testset, people = _registered(example, pair, gold, reference, fallback=fallback), ()
    testset = replace(testset, apart=_set_apart(sorted(_systems(testset.human)), people, leave_out))
    if is_file(metric):
        testset = with_own(testset, Path(metric))
    testset = _turned(testset, lower_is_better)
    human, apart = schemas.with_pair(testset.human), {*testset.apart["system"]}
    if len(left := sorted(_systems(human[human["pair"] == testset.pair]) - apart)) < 2:
        told = f"{testset.gold} scores of {testset.pair} are of {listed(left) or 'no system'}"
        raise DataError(f"{told} besides {listed(sorted(apart)) or 'nothing'}. Choose scores of two systems or more.")
    return testset


def _of_folder(path: Path, pair: str, gold: str, reference: str, *, scored: bool) -> tuple[TestSet, Collection[str]]:
    """Read a folder, and name its reference translations. scored: choose a pair that metrics scored."""
    if not all((path / part).is_dir() for part in ("documents", "human-scores")):
        raise DataError(f"{path} is no test set. Name its folder, unpacked, which holds documents/ and human-scores/.")
    every, notes = mtme.in_folder(path), list[str]()
    written = _pair_of(every, pair, notes, name=path.name, scored=scored)
    places = [one for one in every if one.pair == written]
    of_people, of_metrics = ([one for one in places if one.part == f"{who}-scores"] for who in ("human", "metric"))
    golds = ranked({one.name for one in of_people if one.level == "seg"})
    chosen = _chosen("gold", gold, golds)
    system_gold = chosen if gold else _OF_SYSTEMS.get(chosen, chosen)
    if (system_gold, "sys") not in {(one.name, one.level) for one in of_people}:
        system_gold = chosen
    if golds[1:] and not gold:
        rule = "the first in the shared tasks' order: MQM, ESA, DA+SQM, other assessments, others by name"
        notes.append(f"{chosen} was chosen among the human scores ({listed(golds)}): {rule} (-p gold=…).")
    if system_gold != chosen:
        notes.append(f"Whole systems are compared with {system_gold}, as in WMT19 to WMT21.")
    references, systems = (mtme.named(places, part, written) for part in ("references", "system-outputs"))
    called = _of_reference(sorted({one.name for one in of_metrics}), references, reference, notes)
    of_metrics = [one for one in sorted(of_metrics, key=lambda one: one.name) if one.name in called]
    of_golds = [one for one in of_people if (one.name, one.level) in ((chosen, "seg"), (system_gold, "sys"))]
    docs = mtme.documents(mtme.named(places, "documents", written)[""])
    human, whole = _scores(of_golds, docs, notes, f"{chosen} scores")
    metrics, of_systems = _scores(of_metrics, docs, notes, "metrics' scores", called)
    judged = _systems(human)
    if systems and (unknown := sorted(_systems(human, whole) - {*systems})):
        raise DataError(f"People scored {unknown[0]!r}; system-outputs/ has {listed(systems)}. Correct the name.")
    if others := sorted((_systems(metrics, of_systems) | {*systems}) - judged):
        notes.append(f"No {chosen} score was given to {listed(others)}: metrics' scores of it are not used.")
    texts = mtme.text_table(places, written, docs) if systems else None
    testset = TestSet(
        name=path.name,
        pair=languages.in_full(written),
        gold=chosen,
        system_gold=system_gold,
        golds=tuple(golds),
        metrics=metrics,
        human=human,
        of_systems=of_systems,
        human_of_systems=whole[whole["system"].isin(judged)].reset_index(drop=True),
        documents=docs,
        outputs=texts,
        notes=tuple(notes),
        foreign=True,
    )
    _label(testset.tables, path.name, [one.path for one in places])
    return testset, references


def _registered(name: str, pair: str, gold: str, reference: str, *, fallback: bool) -> TestSet:
    """Return registered data of several language pairs as a test set."""
    kinds = "metrics human metrics-systems human-systems outputs"
    metrics, human, of_systems, whole, outputs = (load(f"{name}-{kind}", fallback=fallback) for kind in kinds.split())
    golds = ranked(map(str, human["metric"].unique()))
    pairs = schemas.with_pair(human[["src_lang", "tgt_lang"]].drop_duplicates())["pair"]
    chosen, pair = _chosen("gold", gold, golds), _chosen("pair", pair, sorted(pairs))
    _chosen("reference", reference, sorted({*map(str, metrics["reference"].unique())} - {"src"}))
    texts = outputs[schemas.with_pair(outputs)["pair"] == pair]
    return TestSet(
        name=name.upper(),
        pair=pair,
        gold=chosen,
        system_gold=chosen,
        golds=tuple(golds),
        metrics=metrics,
        human=human,
        of_systems=of_systems,
        human_of_systems=whole,
        documents=texts.drop_duplicates("segment")[["domain", "doc", "segment"]].astype("str").reset_index(drop=True),
        outputs=outputs,
    )


# What is compared: as asked, or by a rule


def ranked(golds: Iterable[str]) -> list[str]:
    """Sort kinds of human scores as they are preferred: MQM, ESA, DA+SQM, other assessments, then all others by name.

    A kind has variants, such as esa-human1 or mqm.merged; the plain name comes before them.

    >>> ranked(["wmt-z", "esa-human2", "esa-human1", "wmt-raw", "mqm", "stars"])
    ['mqm', 'esa-human1', 'esa-human2', 'wmt-raw', 'stars', 'wmt-z']
    """

    def place(name: str) -> tuple[int, bool, str]:
        kind = name.lower()
        if kind in PREFERRED:
            return PREFERRED.index(kind), False, name
        near = [number for number, one in enumerate(PREFERRED[:4]) if kind.startswith((f"{one}-", f"{one}."))]
        return min(near, default=len(PREFERRED)), True, name

    return sorted(golds, key=place)


def _chosen(what: str, wanted: str, there: Sequence[str]) -> str:
    """Return what is asked for, or the first that is there. Raises DataError where it is not there, with what is."""
    if wanted and wanted not in there:
        raise DataError(f"There is no {what} {wanted!r}. Choose among {listed(there) or 'none'}.")
    return wanted or next(iter(there), "")


def _pair_of(places: list[Place], wanted: str, notes: list[str], *, name: str, scored: bool) -> str:
    """Choose a language pair: as asked, or the one with most human scores of segments; and note how, where it chose.

    scored: only pairs that metrics scored. Raises DataError where there is none, or not the one asked for.
    """
    pairs = sorted({one.pair for one in places if one.part == "documents"})
    if wanted:
        written = {languages.in_full(pair): pair for pair in pairs}
        return _chosen("language pair", written.get(wanted, wanted), pairs)
    with_metrics = {one.pair for one in places if one.part == "metric-scores"}
    counts = {}
    for pair in pairs:  # of which documents/<pair>.docs lists each segment's domain and document
        people = mtme.named(places, "human-scores", pair, "seg")
        if people and (pair in with_metrics or not scored):
            counts[pair] = sum("None" not in line for line in mtme.lines(people[ranked(people)[0]]))
    if not counts:
        told = f"{name} has no scores of segments of a pair with documents/<pair>.docs ({listed(pairs) or 'none'})"
        raise DataError(f"{told}. Add human-scores/<pair>.<name>.seg.score and metric-scores/, or -p metric=FILE.")
    best, *others = sorted(counts, key=lambda pair: -counts[pair])
    notes += [f"{best} has most human scores; also there: {listed(others)} (-p pair=…)."] if others else []
    return best


def _of_reference(names: Sequence[str], references: Collection[str], wanted: str, notes: list[str]) -> dict[str, str]:
    """Choose the metrics that read one reference, or none, and name them.

    names: as files name them, such as BLEU-refA. Returns what each is called (``mtme.called``). notes: gets how the
    reference was chosen. Raises DataError where no metric reads the reference that was asked for.
    """
    read = {name: mtme.parted(name, references)[1] for name in names}
    single = Counter(reference for reference in read.values() if reference not in ("", "src", "all"))
    usual = sorted(single, key=lambda name: ("." in name, -single[name], name))  # several joined come last
    reference = _chosen("reference", wanted, usual)
    kept = [name for name in names if not reference or read[name] in ("", "src", reference)]
    if (left := len(names) - len(kept)) and not wanted:
        counts = listed(f"{name}: {count}" for name, count in sorted(single.items()))
        rule = f"Metrics compared are those that read the reference {reference}, or none ({counts})"
        notes.append(f"{rule}; {left} that read others are left out (-p reference=…).")
    return mtme.called(kept, references)


def _set_apart(systems: Sequence[str], references: Collection[str], leave_out: Collection[str]) -> pd.DataFrame:
    """List which of the judged systems are compared with none, and why: system, why.

    references: names of reference translations, which people made. leave_out: as asked. Raises DataError for a name
    that no judged system has.
    """
    for name in leave_out:
        _chosen("judged system", name, systems)
    names = pd.Series([*systems], dtype="str")
    reasons = dict.fromkeys(leave_out, "left out as asked")
    people = is_human(names) | names.str.startswith("synthetic_ref")
    reasons |= dict.fromkeys(names[people], "named as human translations are")
    reasons |= dict.fromkeys(references, "a reference translation")
    return pd.DataFrame({"system": names, "why": names.map(reasons)}).dropna(ignore_index=True)


def _scores(
    places: list[Place], docs: pd.DataFrame, notes: list[str], what: str, called: dict[str, str] | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read scores of segments and of systems; where there are none of systems, means of segments, which is noted."""
    of_segments, of_systems = ([one for one in places if one.level == level] for level in ("seg", "sys"))
    segments = pd.DataFrame(columns=["src_lang", "tgt_lang", "system", "doc", "segment", "metric", "score"])
    if of_segments:
        segments = mtme.score_table(of_segments, {of_segments[0].pair: docs}, called=called)
    if of_systems:
        return segments, mtme.score_table(of_systems, called=called)
    if len(segments):
        notes.append(f"There are no {what} of whole systems: they are means of segments.")
    return segments, means(segments)


def means(scores: pd.DataFrame) -> pd.DataFrame:
    """Average the scores of segments over each metric's and system's."""
    keys = ["src_lang", "tgt_lang", "metric", "system"]
    return scores.groupby(keys, observed=True)["score"].mean().reset_index()


def _systems(*tables: pd.DataFrame) -> set[str]:
    """Return the names of the systems in tables."""
    return {str(name) for table in tables for name in table["system"].unique()}


def _label(tables: list[pd.DataFrame], name: str, files: list[Path]) -> None:
    """Write on each table which files it is from, and their digest."""
    digests = "\n".join(f"{file.name} {registry.digest(file)}" for file in files)
    digest = f"sha256:{hashlib.sha256(digests.encode()).hexdigest()}"
    label = {"name": name, "source": "real", "origin": name, "digest": digest}
    for table in tables:
        table.attrs |= {"source": label, "scale": None}


def _turned(testset: TestSet, lower: Sequence[str]) -> TestSet:
    """Turn the signs of what the user says is good when low, and note it. Raises DataError for an unknown name."""
    if not lower:
        return testset
    names = [testset.yours if name == "yours" and testset.yours else name for name in lower]
    metrics = {str(name) for table in (testset.metrics, testset.of_systems) for name in table["metric"].unique()}
    for name in names:
        _chosen("metric, and no chosen human score,", name, [*sorted(metrics), testset.gold])
    turned, made = [*names, testset.system_gold] if testset.gold in names else names, {}
    for name in ("metrics", "of_systems", "human", "human_of_systems"):
        table = getattr(testset, name)
        made[name] = table.assign(score=table["score"].where(~table["metric"].isin(turned), -table["score"]))
    note = f"Low scores are good in {listed(names)}, as you say: their signs were turned."
    return replace(testset, **made, notes=(*testset.notes, note))


# One's own metric


def is_file(metric: str) -> bool:
    """Tell whether what was asked for is a file of scores, and not the name of a metric that is there.

    >>> is_file("BLEU"), is_file("my.seg.score"), is_file("scores/my")
    (False, True, True)
    """
    return bool(re.search(r"[/\\]", metric) or _ENDING.search(metric) or (metric and Path(metric).is_file()))


def with_own(testset: TestSet, path: Path) -> TestSet:
    """Add one's own scores: ``system<TAB>score``, a line per system and segment in the order of the documents.

    Or a line per system. Raises DataError where the file is neither, names a system that the test set does not have, or
    a system lacks lines.
    """
    if not path.is_file():
        raise DataError(f"metric: {path} is no file. Give the path of your metric's scores, or the name of a metric.")
    systems = mtme.scores(path)["system"]
    known = _systems(*testset.tables)
    if unknown := [name for name in systems.unique() if name not in known]:
        near = f"Did you mean {registry.nearest(unknown[0], known)}?"
        raise DataError(f"{path.name}: the test set has no system {unknown[0]!r}. {near} Correct the file.")
    name = f"{mtme.parted(_ENDING.sub('', path.name))[0]} (yours)"
    several = systems.duplicated().any() or (len(testset.documents) == 1 and not path.name.endswith(".sys.score"))
    place = Place(path, "metric-scores", testset.pair, name, "seg" if several else "sys")
    notes = [*testset.notes, *([] if several else [f"{name} has scores of whole systems only."])]
    segments, whole = _scores([place], testset.documents, notes, f"scores by {name}", {name: name})
    made: dict[str, Any] = {}
    for level, rows in {"metrics": segments, "of_systems": whole}.items():
        if len(rows):
            before = getattr(testset, level)
            columns = [column for column in before if column in rows]
            made[level] = mtme.stacked([before[columns], rows[columns]]) if len(before) else rows
            made[level].attrs = dict(before.attrs)
    _label([whole], path.name, [path])
    return replace(testset, **made, yours=name, notes=tuple(notes), added=(whole,))
