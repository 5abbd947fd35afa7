"""Read what Appraise's names of documents and systems hold besides the names: marks of showings, systems, test sets."""

import re
from collections.abc import Callable

import numpy as np
import pandas as pd

_MARK = re.compile(r"(bad|duplicate|dup|incomplete)\d*", re.IGNORECASE)
_CUTS = "./:|"  # what may part a test set's name from a system's
_TEST_SET = re.compile(r"[a-z]+[-_]?\d{2,4}([-_.][\w-]+)?[./:|]", re.IGNORECASE)
_TUTORIAL = re.compile(r"(.*[-_ .])?tutorial[-_]?\d*", re.IGNORECASE)


def tutorial(systems: pd.Series, docs: pd.Series | None) -> pd.Series:
    """Tell items of the tutorial, by their system's or their document's name.

    >>> tutorial(pd.Series(["ende-tutorial1", "A", "A"]), pd.Series(["x", "tutorial", "tutorial_on_x"])).tolist()
    [True, True, False]
    """
    found = systems.astype("str").str.contains("tutorial", na=False)
    return found if docs is None else found | docs.str.split("#").str[0].str.fullmatch(_TUTORIAL, na=False)


def filler(docs: pd.Series, degraded: pd.Series) -> pd.Series:
    """Tell items of documents that were shown once more to fill a task (``#duplicate1``); spoilt ones keep their use.

    >>> filler(pd.Series(["d#A#duplicate1", "d#A#bad5#duplicate1", "d#dup"]), pd.Series([False, True, False])).tolist()
    [True, False, False]
    """
    return docs.str.contains(r"#duplicate\d*(?:#|$)", case=False, na=False) & ~degraded


def prefix(systems: pd.Series, docs: pd.Series, human: Callable[[pd.Series], pd.Series]) -> str:
    """Return what stands before all systems' names, such as ``wmt23.``; nothing where it may belong to the names.

    It is taken off where documents name the systems without it (``doc#refA``), or where it reads like the name of a
    test set, or where a reference comes to light. human: tells references by their names.

    >>> told = pd.Series(["wmt23.refA", "wmt23.X"])
    >>> prefix(told, pd.Series(["d", "d"]), lambda names: names.eq("refA")), prefix(told.str[6:], told, pd.isna)
    ('wmt23.', '')
    """
    pairs = pd.DataFrame({"system": systems, "doc": docs}).drop_duplicates()
    names = pairs["system"].unique().tolist()
    found = {_before(system, str(doc).split("#")[1:]) for system, doc in zip(pairs["system"], pairs["doc"])}
    if len(found) == 1 and (only := found.pop()):
        return only
    if len(names) < 2:
        return ""
    low, high = min(names), max(names)
    same = next((place for place, (a, b) in enumerate(zip(low, high)) if a != b), min(len(low), len(high)))
    start = low[: max(low.rfind(cut, 0, same) for cut in _CUTS) + 1]
    rest = pd.Series([name[len(start) :] for name in names], dtype="str")
    if not start or not rest.str.match(r"[^\W\d_]").all():
        return ""
    return start if _TEST_SET.fullmatch(start) or human(rest).any() else ""


def _before(system: str, parts: list[str]) -> str:
    """Return what a system's name has before the name that its document gives it."""
    for part in parts:
        before = system.removesuffix(part)
        if part and before and before != system and before[-1] in _CUTS:
            return before
    return ""


def read(docs: pd.Series, systems: pd.Series) -> pd.DataFrame:
    """Part documents' names: ``doc`` without system and marks of showings, and these marks, without their numbers.

    systems: without what stands before their names.

    >>> read(pd.Series(["d#A#bad7", "d#51-62#dup", "e"]), pd.Series(["A", "A", "A"])).values.tolist()
    [['d', 'bad'], ['d#51-62', 'dup'], ['e', '']]
    """
    pairs = pd.DataFrame({"system": systems.to_numpy(), "doc": docs.to_numpy()})
    codes, distinct = pd.factorize(pd.MultiIndex.from_frame(pairs))
    found = [_read(str(doc), str(system)) for system, doc in distinct]
    table = pd.DataFrame(found, columns=["doc", "mark"]).astype("str")
    return table.iloc[np.asarray(codes)].set_axis(docs.index)


def _read(doc: str, system: str) -> tuple[str, str]:
    name, *parts = doc.split("#")
    marks = [
        part.casefold().rstrip("0123456789").replace("duplicate", "dup") for part in parts if _MARK.fullmatch(part)
    ]
    kept = [part for part in parts if part != system and not _MARK.fullmatch(part)]
    return "#".join([name, *kept]), "#".join(marks)
