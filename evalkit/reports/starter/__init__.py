"""Folders and files to start from: an annotation campaign of one's own, or a further study of this suite."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from evalkit import CLONE, ROOT, DataError
from evalkit.reports import notebooks

_HERE = Path(__file__).parent


def campaign(name: str, parent: Path, *, fill: Callable[[Path], None] | None = None) -> Path:
    """Write the folder ``name`` below ``parent``: data template, checklist, instructions, report; return its path.

    fill: writes a design and its plan, which take the template's place. The folder appears whole or not at all.
    Raises DataError where the name cannot name a report, or is taken.
    """
    _checked(name)
    target = parent / name
    if target.exists():
        raise DataError(f"{target} is there already, and nothing in it was touched. Choose another name.")
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=parent) as folder:
        for base in (_HERE / "campaign", _HERE / ("designed" if fill else "template")):
            for source in sorted(path for path in base.rglob("*") if path.is_file()):
                text = source.read_text(encoding="utf-8").replace("{{name}}", name)
                notebooks.write_text(Path(folder) / "whole" / source.relative_to(base), text)
        shutil.copyfile(ROOT / "notebooks" / "studies" / "campaign.ipynb", Path(folder) / "whole" / "campaign.ipynb")
        if fill:
            fill(Path(folder) / "whole")
        os.rename(Path(folder) / "whole", target)
    return target


def study(name: str, *, dataset: str, title: str, studies: Path | None = None) -> Path:
    """Write a study that runs at once, to be changed into one's own; return its notebook's path.

    name: of the report. dataset: a registered data set of ratings. studies: the file that gets the study's entry,
    beside whose folder ``studies`` the notebook comes to stand; the suite's own unless told otherwise.
    Raises DataError where the name or the title cannot be used, or the study is there already.

    >>> study("two words", dataset="wmt-slt22", title="A title")
    Traceback (most recent call last):
    evalkit.DataError: 'two words' cannot name a report, which is also a file. Use letters, digits and underscores.
    """
    from evalkit.data import registry

    _checked(name)
    if not (CLONE or studies):
        raise DataError("A study becomes part of the suite, and this is an installation. Clone the project for it.")
    simulated = registry.entry(dataset).stand_in
    if not title.strip() or not title.isprintable() or set(title) & set('"\\'):
        raise DataError("A title is one line without quotation marks and backslashes. Give another with --title.")
    entries = studies or ROOT / "notebooks" / "studies.toml"
    target = entries.parent / "studies" / f"{name}.ipynb"
    listed = entries.read_text(encoding="utf-8")
    if target.exists() or f"\n[{name}]\n" in f"\n{listed}":
        raise DataError(f"There is a study called {name} already, and it was not touched. Choose another name.")
    texts = {"{{title}}": title, "{{dataset}}": dataset}
    skeleton = (_HERE / "study" / "study.ipynb").read_text(encoding="utf-8")
    entry = (_HERE / "study" / "studies.toml").read_text(encoding="utf-8").replace("{{name}}", name)
    for mark, text in texts.items():
        skeleton, entry = skeleton.replace(mark, text), entry.replace(mark, text)
    notebooks.write_text(target, skeleton)
    notebooks.tidy(target)
    stand_in = 'fallback = "simulated"\n' if simulated else ""
    notebooks.write_text(entries, f"{listed.rstrip()}\n\n{entry}{stand_in}")
    return target


def _checked(name: str) -> None:
    if not (name.isidentifier() and name.isascii()):
        raise DataError(f"{name!r} cannot name a report, which is also a file. Use letters, digits and underscores.")
