"""Find the parts of a test set in mt-metrics-eval's layout: which language pairs, which files of which level."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from evalkit import DataError, nameable, one_line
from evalkit.data import languages
from evalkit.data.files import stamp

#: The folders of a test set; people's scores and the list of documents are needed, the others are used where they are.
PARTS = (
    "documents",
    "sources",
    "references",
    "system-outputs",
    "human-scores",
    "metric-scores",
    "metric-outputs",
    "metadata",
)
LEVELS = ("seg", "sys", "doc", "domain")
_ARCHIVES = (".tgz", ".tar", ".gz", ".zip", ".xz", ".bz2", ".7z")
_PAIR = re.compile(r"[^\W_]+(?:_\w+)?-[^\W_]+(?:_\w+)?")
_REFERENCE = re.compile(r"(ref|post|syn|std|hyp|newstest)\w*(\.\w+)*|src|all", re.IGNORECASE)


@dataclass(frozen=True)
class Folder:
    """A test set's folder, and how its language pairs are written in the names of its files."""

    path: Path
    pairs: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return what the folder is called."""
        return self.path.name

    def docs(self, pair: str) -> Path:
        """Return the file that lists a line for each segment, its domain and its document."""
        return self.path / "documents" / f"{pair}.docs"

    def people(self, pair: str) -> dict[tuple[str, str], Path]:
        """Return the files of people's scores by their name, such as mqm, and level: ``PAIR.NAME.LEVEL.score``."""
        found = {}
        for file in files(self.path / "human-scores"):
            parts = file.name.split(".")
            if len(parts) >= 4 and parts[0] == pair and parts[-1] == "score" and parts[-2] in LEVELS:
                found[".".join(parts[1:-2]), parts[-2]] = file
        return found

    def metrics(self, pair: str) -> dict[tuple[str, str], Path]:
        """Return the files of metrics' scores by their name, such as COMET-refA, and level: ``NAME.LEVEL.score``."""
        found = {}
        for file in files(self.path / "metric-scores" / pair):
            parts = file.name.rsplit(".", 2)
            if len(parts) == 3 and parts[2] == "score" and parts[1] in LEVELS and parts[0]:
                found[parts[0], parts[1]] = file
        return found

    def references(self, pair: str) -> dict[str, Path]:
        """Return the reference translations by name: ``PAIR.NAME.txt``, or ``.jsonl``."""
        found = {}
        for file in files(self.path / "references"):
            parts = file.name.split(".")
            if len(parts) == 3 and parts[0] == pair and parts[2] in ("txt", "jsonl"):
                found[parts[1]] = file
        return found

    def outputs(self, pair: str) -> dict[str, Path]:
        """Return the files of what systems wrote, by their names."""
        found = files(self.path / "system-outputs" / pair)
        return {file.name.removesuffix(file.suffix): file for file in found if file.suffix in (".txt", ".jsonl")}

    def stamps(self, pair: str) -> dict[Path, tuple[int, ...]]:
        """Say what the file system knows of all files that are read for a language pair, to notice that they change."""
        groups = (self.people(pair), self.metrics(pair), self.references(pair), self.outputs(pair))
        alone = [place for place in (self.docs(pair), self.source(pair)) if place is not None]
        found = [*alone, *(file for group in groups for file in group.values())]
        return {file: stamp(file) for file in found if file.is_file()}

    def source(self, pair: str) -> Path | None:
        """Return the file of the sources, None where there is none."""
        places = [self.path / "sources" / f"{pair}{ending}" for ending in (".txt", ".jsonl")]
        return next((place for place in places if place.is_file()), None)


def parted(name: str, references: Iterable[str]) -> tuple[str, str]:
    """Part a metric's name from the references that it read: src for none, all, or names joined by dots.

    references: those that the test set has. A name that tells no reference has "".

    >>> parted("UniTE-src-src", ["refA"]), parted("cometoid22-wmt23-src", []), parted("BLEU", ["refA"])
    (('UniTE-src', 'src'), ('cometoid22-wmt23', 'src'), ('BLEU', ''))
    """
    base, dash, reference = name.rpartition("-")
    known = bool(reference) and set(reference.split(".")) <= {*references}
    return (base, reference) if dash and base and (known or _REFERENCE.fullmatch(reference)) else (name, "")


def opened(path: str | Path) -> Folder:
    """Look at a test set's folder. Raises DataError that says what it is instead, or what is missing."""
    path = Path(path).expanduser()
    _check_place(path)
    missing = [part for part in ("documents", "human-scores") if not (path / part).is_dir()]
    if missing:
        raise DataError(
            f"{path.name} has no folder {listed(missing)}; it has {listed(_parts(path))}. "
            + " ".join(_WHY[part] for part in missing)
        )
    pairs = [file.stem for file in files(path / "documents") if file.suffix == ".docs"]
    pairs = [pair for pair in pairs if _PAIR.fullmatch(pair)]
    if not pairs:
        raise DataError(f"{path.name}/documents has no file <pair>.docs, such as en-de.docs. {_WHY['documents']}")
    return Folder(path, tuple(sorted(pairs)))


_WHY = {
    "documents": "It lists each segment's domain and document: get it from where the scores are from.",
    "human-scores": "It has people's scores, <pair>.<name>.seg.score, which metrics are compared with: get it from "
    "where the scores are from.",
}


def listed(names: Iterable[object]) -> str:
    """Name things for a message: all of a dozen, else the first of them and how many others.

    >>> listed("AB"), listed(range(14))
    ('A, B', '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 others')
    """
    texts = [str(name) for name in names]
    return ", ".join(texts[:12]) + (f" and {len(texts) - 12} others" if len(texts) > 12 else "")


def files(folder: Path) -> list[Path]:
    """List a folder's files in the order of their names; none where there is no such folder.

    Hidden ones, and names with letters that cannot be seen, are left aside. Raises DataError where the folder cannot be
    read, or a name in it is no text.
    """
    if not folder.is_dir():
        return []
    try:
        found = [nameable(folder / name) for name in sorted(os.listdir(folder)) if not name.startswith(".")]
        return [path for path in found if path.name.isprintable() and path.is_file()]
    except OSError as problem:
        raise DataError(f"{folder.name} cannot be read: {one_line(problem)}. Check its permissions.") from problem


def _parts(folder: Path) -> list[str]:
    """List which of a test set's folders are there; none where it cannot be looked into."""
    try:
        return [part for part in PARTS if (folder / part).is_dir()]
    except OSError:
        return []


def _check_place(path: Path) -> None:
    """Refuse what is no test set's folder, saying what it is and which folder to name."""
    if path.is_file():
        if path.suffix.lower() in _ARCHIVES:
            raise DataError(f"{path.name} is an archive. Unpack it, and name the folder of one test set in it.")
        raise DataError(f"{path.name} is a file. Name the folder of a test set, which holds documents/, human-scores/.")
    if not path.is_dir():
        raise DataError(
            f"{path} is no folder. Name the folder of a test set, which holds documents/ and human-scores/."
        )
    if len(_parts(path)) > 1 or (_parts(path) and not _inner(path)):
        return
    above = next((one for one in [*path.resolve().parents][:2] if len(_parts(one)) > 1), None)
    if above:
        raise DataError(f"{path.name} is a folder within the test set {above.name}, too low. Name {above.name} itself.")
    below = _below(path)
    if below:
        level = "one level" if len(below[0].parts) == 1 else f"{len(below[0].parts)} levels"
        raise DataError(
            f"{path.name} is {level} too high: it holds the test set{'s' * (len(below) > 1)} "
            f"{listed(place.as_posix() for place in below)}. Name one of them, such as {path.name}/"
            f"{below[0].as_posix()}."
        )
    empty = "is empty" if not any(path.iterdir()) else f"holds none of the folders {listed(PARTS[:6])}"
    raise DataError(f"{path.name} {empty}, so it is no test set in mt-metrics-eval's layout. Check the path.")


def _inner(path: Path) -> bool:
    """Tell whether a folder is one of a test set's own, which has the others beside it."""
    return path.name in PARTS and len(_parts(path.resolve().parent)) > 1


def _below(path: Path, depth: int = 3) -> list[Path]:
    """List the test sets below a folder, at the first depth that has some, relative to it."""
    layer = [Path()]
    for _ in range(depth):
        layer = [place / child for place in layer for child in _folders(path / place)][:2000]
        if found := [place for place in layer if len(_parts(path / place)) > 1]:
            return found
    return []


def _folders(path: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def find_pair(folder: Folder, wanted: str) -> str:
    """Return a language pair as the folder writes it, asked for as it does or as this suite does (eng-deu).

    Raises DataError with the pairs that there are.
    """
    for pair in folder.pairs:
        if wanted in (pair, languages.in_full(pair)):
            return pair
    raise DataError(f"{folder.name} has no language pair {wanted!r}. Choose among {listed(folder.pairs)}.")
