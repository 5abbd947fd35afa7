"""The door to all data: find, fetch, verify and load them as validated tables that know where they came from."""

import hashlib
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pandas as pd

from evalkit import ROOT, DataError, __version__
from evalkit.data import files, registry


def __dir__() -> list[str]:
    """Offer what notebooks call, and no imports, where somebody presses Tab."""
    return [name for name, own in globals().items() if getattr(own, "__module__", "") == __name__ and name[0] != "_"]


def load(name: str, *, fallback: bool = False, columns: dict[str, str | list[str]] | None = None) -> pd.DataFrame:
    """Load a registered data set as a validated table, after verifying every byte of its files.

    name: see ``data.listing()``. fallback: where the real data cannot be had, return the data set's simulation instead;
    ``attrs["source"]`` then says "simulated" and ``attrs["why_simulated"]`` why. columns: our name -> the file's, for
    data sets that leave the names of their columns to the user.
    An optional data set is not downloaded by loading it: fetch it first.
    Raises DataError where the data cannot be had and no fallback is wanted, or the files break a rule.
    """
    entry = registry.entry(name)
    if columns and not entry.mapped:
        raise DataError(f"The columns of {name} are known. Leave columns= out.")
    try:
        if entry.optional and not all(map(files.locate, entry.files)):
            raise DataError(f"The optional data set {name} is not here. Run `evalkit data fetch {name}` to get it.")
        paths = [files.obtain(file) for file in entry.files]
    except DataError as problem:
        if not (fallback and entry.stand_in):
            raise
        return _simulated(entry, problem)
    digest = "+".join(file.digest or "unknown" for file in entry.files)
    loader = resolve_name(f"evalkit.data.{entry.loader}")
    loader = partial(loader, columns=columns) if entry.mapped else loader
    frame = files.kept(name, loader, paths, digest=digest) if entry.kept else loader(paths)
    frame.attrs["scale"] = entry.scale
    return _labelled(frame, name=name, source="real", origin=entry.base or entry.files[0].url, digest=digest)


def open_campaign(path: str | Path, **options: Any) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Open a campaign of the user's own: its ratings and, where errors were marked, their spans.

    path: what ``evalkit import`` wrote, or a raw export that it can read, which is then imported in passing.
    options: see ``evalkit.data.importing.open_campaign``. Raises DataError where the file cannot be read.
    """
    from evalkit.data import importing

    return importing.open_campaign(path, **options)


def open_judges(path: str | Path = "", **options: Any) -> pd.DataFrame | None:
    """Open what automatic judges and metrics say of a campaign; None where there are none.

    path: what ``evalkit import`` wrote. options: ratings and files of metrics, see ``evalkit.data.importing``.
    """
    from evalkit.data import importing

    return importing.open_judges(path, **options)


def open_testset(path: str | Path = "", **options: Any) -> Any:
    """Open a test set to compare metrics on: a folder in mt-metrics-eval's layout, or registered data.

    path: the folder; "" takes the registered data whose names begin with ``example``, such as wmt23. options: see
    ``evalkit.data.testsets.open_testset``. Raises DataError where the folder is no such test set, or cannot be used.
    """
    from evalkit.data import testsets

    return testsets.open_testset(path, **options)


def choose(
    choice: str,
    *,
    auto: Sequence[str] = (),
    columns: str = "",
    scale: Sequence[float] = (0, 100),
    fallback: bool = False,
) -> pd.DataFrame:
    """Load the ratings that a notebook's parameter names: a registered data set, ``auto``, or a file of the user's own.

    auto: data sets in order of preference; the first that is here, or else the last. columns: see ``column_names``.
    scale: ends of the scale in a file, which is read as ``open_campaign`` does; registered sets know theirs.
    ``attrs["scale"]`` holds the ends. Names of annotators stay as they are in a file.
    """
    if choice == "auto":
        choice = next(filter(available, auto), auto[-1])
    names = column_names(columns)
    try:
        if choice in registry.entries():
            return load(choice, fallback=fallback, columns=names)
        return open_campaign(choice, keep_names=True, scale=tuple(map(float, scale)), columns=names)[0]
    except DataError as problem:
        if "--map" not in str(problem):
            raise
        raise DataError(f"{problem} Here columns= does what --map does: columns='annotator=HEADING'.") from problem


def column_names(text: str) -> dict[str, str | list[str]] | None:
    """Read a column mapping from a parameter: "our name=theirs", comma-separated; + joins several columns of scores.

    >>> column_names("src_lang=source, score=rater 1+rater 2"), column_names("")
    ({'src_lang': 'source', 'score': ['rater 1', 'rater 2']}, None)
    """
    names: dict[str, str | list[str]] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        ours, equals, theirs = map(str.strip, part.partition("="))
        if not (ours and equals and theirs):
            raise DataError(f"columns: {part!r} is not of the form our_name=their_name. Example: score=rater1+rater2.")
        names[ours] = [name.strip() for name in theirs.split("+")] if "+" in theirs else theirs
    return names or None


def published(table: str) -> pd.DataFrame:
    """Load a table that a paper prints; all cells are text, so that ``.70`` keeps its printed digits.

    >>> printed = published("licht2022_table6")
    >>> printed.query("method == 'CS' and statistic == 'pearson'")["printed"].tolist()
    ['.946', '.772', '.854']
    >>> printed.attrs["source"]["origin"]
    'Licht et al. 2022, Table 6'
    """
    path = ROOT / "data" / "published" / f"{table}.csv"
    if not path.is_file():
        near = registry.nearest(table, [one.stem for one in path.parent.glob("*.csv")])
        raise DataError(f"There is no published table {table!r} in data/published. Did you mean {near}?")
    frame = pd.read_csv(path, dtype="str", keep_default_na=False, na_values=[""])
    return _labelled(frame, name=table, source="published", origin=registry.publication(table), digest=_content(frame))


def available(name: str) -> bool:
    """Tell, without the network, whether verified files of a data set are here."""
    try:
        return all(map(files.locate, registry.entry(name).files))
    except DataError:
        return False


def fetch(names: str | Iterable[str] | None = None) -> list[Path]:
    """Get the files of data sets, downloading what is not here; None means all that are not optional."""
    return [files.obtain(file, progress=True) for entry in _entries(names, optional=False) for file in entry.files]


def verify(names: str | Iterable[str] | None = None) -> pd.DataFrame:
    """List the files that are here with the digests they were verified against, without the network.

    names: None means whatever is here. Columns: name, file, digest, state (verified, unverified, missing).
    Raises DataError listing every file that is altered, and those of named data sets that are missing.
    """
    rows, problems = [], []
    for entry, file in [(one, file) for one in _entries(names, optional=True) for file in one.files]:
        try:
            path = files.locate(file)
        except DataError as problem:
            problems.append(str(problem))
            continue
        if not path and names is not None:
            problems.append(f"{entry.name}: {file.path} is not here. Run `evalkit data fetch {entry.name}`.")
        state = "missing" if not path else "verified" if file.digest else "unverified"
        rows.append((entry.name, file.path, file.digest or "unknown", state))
    if problems:
        raise DataError(*dict.fromkeys(problems))
    return pd.DataFrame(rows, columns=["name", "file", "digest", "state"])


def listing() -> pd.DataFrame:
    """List the registered data sets: name, title, bytes (missing where unknown), licence, here, released.

    released: a year or an ISO date, as the registry has it; "" where unknown.
    """
    entries = registry.entries()
    sizes = [pd.Series([file.bytes for file in one.files], dtype="Int64").sum(skipna=False) for one in entries.values()]
    table = pd.DataFrame(entries.values()).assign(bytes=pd.array(sizes, dtype="Int64"), here=[*map(available, entries)])
    return table[["name", "title", "bytes", "licence", "here", "released"]]


def _entries(names: str | Iterable[str] | None, *, optional: bool) -> list[registry.Entry]:
    """Look up the named data sets, or all of them with or without the optional ones."""
    if names is None:
        return [entry for entry in registry.entries().values() if optional or not entry.optional]
    return [registry.entry(name) for name in ([names] if isinstance(names, str) else names)]


def _simulated(entry: registry.Entry, problem: DataError) -> pd.DataFrame:
    """Stand in for data that cannot be had, saying so."""
    from evalkit.data import stand_ins

    frame = stand_ins.stand_in(entry.name)
    frame.attrs |= {"why_simulated": str(problem), "scale": entry.scale}
    origin = f"evalkit {__version__}, evalkit.data.stand_ins.stand_in, seed {frame.attrs['seed']}"
    return _labelled(frame, name=entry.name, source="simulated", origin=origin, digest=_content(frame))


def _content(frame: pd.DataFrame) -> str:
    """Compute the digest of a table's cells."""
    return f"sha256:{hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()}"


def _labelled(frame: pd.DataFrame, **source: str) -> pd.DataFrame:
    """Write on a table where it came from."""
    frame.attrs["source"] = source
    return frame
