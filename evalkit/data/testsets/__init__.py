"""A test set to compare metrics on: a folder in mt-metrics-eval's layout, or registered data of the same shape.

``open_testset`` is the door. Nothing about years or languages is built in: what a folder leaves open is chosen by rules
(``choice``), each choice is told in ``TestSet.notes``, and each system set apart in ``TestSet.apart``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from evalkit import DataError
from evalkit.data import load, schemas
from evalkit.data.testsets import choice, own, reading, scores
from evalkit.data.testsets.folder import listed, opened
from evalkit.data.testsets.model import TestSet, finished

__all__ = ["TestSet", "open_testset", "registered"]


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
    most human scores. gold, reference: which human scores, and metrics of which reference, are compared; "" chooses,
    see ``choice``. leave_out: systems besides human translations. metric: a file of one's own scores, see ``own.read``.
    lower_is_better: metrics, "yours", or human scores whose low scores are good; their signs are turned, and noted.
    Raises DataError that says what is missing, where, and what to do.
    """
    folder = opened(path)
    file = Path(metric) if own.is_file(metric) else None
    written, why = choice.pair_of(folder, pair, scored=file is None)
    before = folder.stamps(written)
    people, docs, ends = folder.people(written), scores.documents(folder.docs(written)), choice.codes(written)
    chosen, of_systems, why_gold = choice.golds_of(people, gold, written)
    human = reading.people(people, chosen, ends, docs, folder, written)
    references, names = {*folder.references(written)}, sorted({name for name, _ in folder.metrics(written)})
    shown, why_reference = choice.of_reference(names, references, reference)
    found, judged = reading.Metrics(folder, written, ends, docs, shown), sorted(map(str, human["system"].unique()))
    testset = TestSet(
        name=folder.name,
        pair="-".join(ends),
        pairs=folder.pairs,
        gold=chosen,
        system_gold=of_systems or chosen,
        golds=_golds(people),
        metrics=found.segments(),
        human=human,
        of_systems=found.systems(),
        human_of_systems=reading.people_whole(people, of_systems, ends, human, folder, written),
        documents=docs,
        outputs=reading.outputs(folder, written, ends, docs),
        apart=choice.set_apart(judged, references, leave_out),
        foreign=True,
    )
    notes = [why, why_gold, why_reference, *found.notes, *reading.unused(folder, written, judged, testset)]
    notes += [] if of_systems else [f"There are no {chosen} scores of whole systems: they are means of segments."]
    testset = reading.labelled(replace(testset, notes=tuple(filter(None, notes))), folder, written)
    if folder.stamps(written) != before:
        raise DataError(f"{folder.name} changed while it was read. Open it again when nothing writes to it any more.")
    return finished(testset, file, {*folder.outputs(written)}, lower_is_better)


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
    golds, pairs = (
        choice.ranked(map(str, human["metric"].unique())),
        sorted(schemas.with_pair(human[["src_lang", "tgt_lang"]].drop_duplicates().astype("str"))["pair"]),
    )
    read = sorted(set(map(str, metrics["reference"].unique())) - {"src"})
    for what, asked, there in (("gold", gold, golds), ("reference", reference, read), ("pair", pair, pairs)):
        if asked and asked not in there:
            raise DataError(f"There is no {what} {asked!r} in {name}. Choose among {listed(there)}.")
    pair = pair or pairs[0]
    texts = outputs[schemas.with_pair(outputs[["src_lang", "tgt_lang"]].astype("str"))["pair"] == pair]
    docs = texts.drop_duplicates("segment")[["domain", "doc", "segment"]].astype("str").reset_index(drop=True)
    people = sorted(map(str, human["system"].unique()))
    testset = TestSet(
        name=name.upper(),
        pair=pair,
        pairs=tuple(pairs),
        gold=gold or golds[0],
        system_gold=gold or golds[0],
        golds=tuple(golds),
        metrics=metrics,
        human=human,
        of_systems=of_systems,
        human_of_systems=whole,
        documents=docs,
        outputs=outputs,
        apart=choice.set_apart(people, (), leave_out),
    )
    file = Path(metric) if own.is_file(metric) else None
    return finished(testset, file, set(map(str, texts["system"].unique())), lower_is_better)


def _golds(people: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(choice.ranked({name for name, level in people if level == "seg"}))
