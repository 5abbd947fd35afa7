"""Read the parts of a test set's folder for one language pair, as tables that know where they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import mtme, schemas
from evalkit.data.testsets import scores
from evalkit.data.testsets.folder import Folder, listed
from evalkit.data.testsets.model import TestSet


def people(
    people: dict[tuple[str, str], Path], gold: str, ends: tuple[str, str], docs: pd.DataFrame, folder: Folder, pair: str
) -> pd.DataFrame:
    """Read human scores of segments. Raises DataError where no score is there, or a system has no output."""
    file = people[gold, "seg"]
    table = scores.segments(file, docs)
    _check_known(file, table["system"], folder, pair)
    table = table.dropna(subset="score", ignore_index=True)
    if table.empty:
        raise DataError(f"{file.name} has no score, only None. Choose other human scores with -p gold=…")
    return schemas.check(_constant(table, ends, gold), schemas.METRIC_SCORES, origin=file.name, first_line=1)


def _check_known(file: Path, systems: pd.Series, folder: Folder, pair: str) -> None:
    """Refuse human scores of a system that has no output in the folder."""
    known = folder.outputs(pair)
    unknown = [str(name) for name in systems.unique() if name not in known]
    if known and unknown:
        raise DataError(
            f"{file.name} scores the system {unknown[0]!r}, and system-outputs/{pair} has {listed(known)}. Correct the "
            "name, or add its output."
        )


def people_whole(
    people: dict[tuple[str, str], Path],
    gold: str,
    ends: tuple[str, str],
    human: pd.DataFrame,
    folder: Folder,
    pair: str,
) -> pd.DataFrame:
    """Read human scores of systems or, where there are none, take the means of their segments."""
    if not gold:
        means = human.groupby("system", observed=True)["score"].mean().reset_index()
        return schemas.check(
            _constant(means, ends, str(human["metric"].iloc[0])), schemas.SYSTEM_SCORES, origin="means"
        )
    file = people[gold, "sys"]
    table = scores.systems(file)
    _check_known(file, table["system"], folder, pair)
    unknown = [name for name in map(str, table["system"]) if name not in set(human["system"].astype(str))]
    judged = table[~table["system"].isin(unknown)].dropna(subset="score", ignore_index=True)
    if judged.empty:
        raise DataError(f"{file.name} has no score of a system whose segments were judged. Get both files again.")
    return schemas.check(_constant(judged, ends, gold), schemas.SYSTEM_SCORES, origin=file.name, first_line=1)


class Metrics:
    """Read the metrics of a language pair, level by level, and note what cannot be used."""

    def __init__(
        self, folder: Folder, pair: str, ends: tuple[str, str], docs: pd.DataFrame, shown: dict[str, str]
    ) -> None:
        self.ends, self.docs, self.shown, self.notes = ends, docs, shown, list[str]()
        self.files = {key: file for key, file in folder.metrics(pair).items() if key[0] in shown}

    def segments(self) -> pd.DataFrame:
        """Read scores of segments."""
        return self._read("seg", schemas.METRIC_SCORES)

    def systems(self) -> pd.DataFrame:
        """Read scores of systems; where there are none at all, take the means of segments, and note it."""
        found, names = self._read("sys", schemas.SYSTEM_SCORES), ["src_lang", "tgt_lang", "metric", "system"]
        if found.empty and not (each := self.segments()).empty:
            self.notes.append("There are no metrics' scores of whole systems: they are means of segments.")
            found = each.groupby(names, observed=True)["score"].mean().reset_index()
            found = schemas.check(found, schemas.SYSTEM_SCORES, origin="means")
        return found

    def _read(self, level: str, schema) -> pd.DataFrame:
        parts = []
        for (name, of), file in sorted(self.files.items()):
            if of == level:
                table = scores.segments(file, self.docs) if level == "seg" else scores.systems(file)
                parts.append(_constant(table, self.ends, self.shown[name]))
        if not parts:
            columns = [name for name in schema.columns if name != "reference"]
            return pd.DataFrame({name: pd.Series(dtype=float if name == "score" else "category") for name in columns})
        whole = mtme.stacked(parts).dropna(subset="score", ignore_index=True)
        return schemas.check(whole, schema, origin="metric-scores", first_line=1) if len(whole) else whole


def unused(folder: Folder, pair: str, judged: Collection[str], testset: TestSet) -> list[str]:
    """Say what was left aside: scores of documents and domains, metrics' scores of what no human scored."""
    notes = []
    keys = [*folder.people(pair), *folder.metrics(pair)]
    if coarse := sum(level in ("doc", "domain") for _, level in keys):
        notes.append(f"Scores of documents or domains ({coarse} files) are not used; those of segments are.")
    parts = {name for name, level in keys if level in ("seg", "sys")}
    if lone := sorted({name for name, level in keys if level in ("doc", "domain")} - parts):
        notes.append(f"{listed(lone)} have no scores of segments or systems, and are left aside.")
    tables = testset.metrics, testset.of_systems
    scored = {str(name) for table in tables for name in table["system"].unique()} | {*folder.outputs(pair)}
    if others := sorted(scored - set(judged)):
        notes.append(f"No {testset.gold} score was given to {listed(others)}: metrics' scores of it are not used.")
    return notes


def outputs(folder: Folder, pair: str, ends: tuple[str, str], docs: pd.DataFrame) -> pd.DataFrame | None:
    """Read what systems wrote, a row per system and segment, with source and reference where they are; else None."""
    files, count = folder.outputs(pair), len(docs)
    if not files:
        return None
    source, references = folder.source(pair), folder.references(pair)
    frame = docs.assign(source=scores.texts(source, "source", count) if source else "")
    read = [scores.texts(file, "target", count) for file in references.values()]
    frame = frame.assign(reference=read[0] if read else "")
    parts = []
    for name, file in files.items():
        texts = scores.texts(file, "hypothesis", count)
        parts.append(frame.assign(src_lang=ends[0], tgt_lang=ends[1], system=name, hypothesis=texts))
    order = ["src_lang", "tgt_lang", "system", "domain", "doc", "segment", "source", "reference", "hypothesis"]
    return pd.concat(parts, ignore_index=True)[order]


def labelled(testset: TestSet, folder: Folder, pair: str) -> TestSet:
    """Write on each table which part of the folder it is from, and the digest of that part's files."""
    kinds = {"metrics": "metric-scores", "human": "human-scores", "outputs": "system-outputs"}
    files = {
        "metrics": [*folder.metrics(pair).values()],
        "human": [*folder.people(pair).values(), folder.docs(pair)],
        "outputs": [*folder.outputs(pair).values()],
    }
    for kind, part in kinds.items():
        digest = hashlib.sha256()
        for file in files[kind]:
            digest.update(f"{file.name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
        name = f"{folder.name}/{part}"
        label = {"name": name, "source": "real", "origin": name, "digest": f"sha256:{digest.hexdigest()}"}
        frames = [getattr(testset, kind)]
        frames += {"metrics": [testset.of_systems], "human": [testset.human_of_systems]}.get(kind, [])
        for frame in frames:
            if frame is not None:
                frame.attrs |= {"source": label, "scale": None}
    return testset


def _constant(table: pd.DataFrame, ends: tuple[str, str], metric: str, **more: str) -> pd.DataFrame:
    """Add the columns that are the same in all rows of a file."""
    values = dict(zip(("src_lang", "tgt_lang"), ends, strict=True)) | {"metric": metric} | more
    return table.assign(**{name: mtme.constant(value, len(table)) for name, value in values.items()})
