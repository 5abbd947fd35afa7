"""Write a campaign to temporary files, then move all of them into place, the table of ratings last."""

import hashlib
import json
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from evalkit import DataError, one_line
from evalkit.data.files import alone, is_abandoned, stamp
from evalkit.data.importing.files import parquet
from evalkit.data.importing.report import beside, is_report, is_texts
from evalkit.data.registry import digest

_FLOATS = {"score", "started", "ended", "position", "z", "errors", "hit_seconds", "screen_place", "probability"}
_MOST_REPORT = 64 << 20  # bytes
_CHECK = "check"  # of a label: see ``_check``
#: What is written for one campaign besides the ratings themselves.
PARTS = ("spans.parquet", "judges.parquet", "rejected.csv", "import.json")


def guard(out: Path, paths: Sequence[Path], *, replace: bool) -> None:
    """Refuse to write over what cannot be made again from the files that are to be imported.

    replace: write over whatever is there, except the files themselves.
    Raises DataError where a file is both read and written, or a folder has its name; or, unless ``replace``, where the
    earlier result, or what lies beside it, was made from other files or by something else, or its rejected rows were
    changed since.
    """
    targets = [out, *(beside(out, what) for what in PARTS)]
    if folders := [target.name for target in targets if target.is_dir()]:
        raise DataError(f"{folders[0]} is a folder, and a file is to have its name. Name another result with --out.")
    for path in paths:
        if any(target.exists() and path.exists() and target.samefile(path) for target in targets):
            raise DataError(f"{path.name} is to be read and would be written over. Name another result with --out.")
    if replace:
        return
    for target in (target for target in targets if target.exists() and target.suffix != ".csv"):
        made = _made_from(target)
        others = [name for name in made or ["?"] if name not in {path.name for path in paths}]
        if others:
            what = f"was made from {', '.join(others)}" if made else "was not written by an import"
            raise DataError(
                f"{target.name} is there already and {what}. Name another --out, or write over it: --replace."
            )
    report, rejected = beside(out, "import.json"), beside(out, "rejected.csv")
    if rejected.exists() and report_of(report).get("rejected_digest") != digest(rejected):
        raise DataError(
            f"{rejected.name} was changed since an import wrote it. Keep it under another name, name another --out, or "
            "write over it: --replace."
        )


def _made_from(path: Path) -> list[str]:
    """Name the files that an import made a file from, a table or a receipt; none where no import wrote it."""
    if path.suffix == ".json":
        files = report_of(path).get("files")
        named = isinstance(files, list) and all(isinstance(one, dict) and "name" in one for one in files)
        return [str(one["name"]) for one in files or []] if named else []
    try:
        label = label_of(path) if _is_parquet(path) else {}
    except DataError:  # damaged: whose it was cannot be told
        return []
    return [str(name) for name in label.get("files", [])]


def _is_parquet(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(4) == b"PAR1"


def report_of(path: Path) -> dict[str, Any]:
    """Read what an import reported; empty where that is not to be had, or not what an import writes."""
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path.stat().st_size < _MOST_REPORT else None
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and is_report(found) else {}


class Draft:
    """A folder of unfinished files beside the result; nothing of it stays unless ``publish`` is reached."""

    def __init__(self, out: Path):
        self.out = out
        out.parent.mkdir(parents=True, exist_ok=True)
        plain = "".join("_" if letter in "[]*?" else letter for letter in out.name)  # without what makes a pattern
        for left in out.parent.glob(f".{plain}.*.part"):
            if is_abandoned(left):
                shutil.rmtree(left, ignore_errors=True)
        self.folder = out.parent / f".{plain}.{uuid.uuid4().hex}.part"

    def __enter__(self) -> "Draft":
        self.folder.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def place(self, what: str) -> Path:
        """Name an unfinished file."""
        return self.folder / what

    def publish(self) -> list[Path]:
        """Move what was written into place; parts that an earlier import left and this one has not are removed."""
        written = []
        with alone(self.out.parent):
            self.out.unlink(
                missing_ok=True
            )  # from here on and until the end there is no result, rather than a mixed one
            for what in PARTS:
                target = beside(self.out, what)
                if self.place(what).exists():
                    self.place(what).replace(target)
                    written.append(target)
                else:
                    target.unlink(missing_ok=True)
            self.place("ratings.parquet").replace(self.out)
        return [self.out, *written]


@contextmanager
def steady(out: Path) -> Iterator[None]:
    """Hold the reading of a result and of its parts against imports that put another one in its place meanwhile.

    An import takes the earlier result away first and puts its own there last. Raises DataError where one did.
    """
    before = _seen(out)
    problem = None
    try:
        yield
    except DataError as met:  # such as a part that is gone
        problem = met
    if _seen(out) != before:
        raise DataError(f"{out.name} was imported anew while it was read. Open it again.") from problem
    if problem:
        raise problem


def _seen(out: Path) -> tuple[int, ...]:
    try:
        return stamp(out)
    except OSError:
        return ()


def write_ratings(ratings: pd.DataFrame, columns: list[str], place: Path, label: dict[str, Any]) -> None:
    """Write judgements as Parquet, each of our columns with its type, under what they were made from."""
    kinds = {"copy": pa.bool_()} | dict.fromkeys(_FLOATS, pa.float64())
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in columns])
    _write(pa.Table.from_pandas(ratings.reindex(columns=columns), schema=schema, preserve_index=False), place, label)


def write_spans(spans: pd.DataFrame, place: Path, label: dict[str, Any]) -> None:
    """Write marked errors as Parquet, under what they were made from."""
    named = spans.astype(dict.fromkeys(spans.select_dtypes("category"), "str"))
    _write(pa.Table.from_pandas(named, preserve_index=False), place, label)


def _write(table: pa.Table, place: Path, label: dict[str, Any]) -> None:
    columns = [f"{one.name}: {one.type}" for one in table.schema]
    label = label | {_CHECK: _check(label, columns, table.num_rows)}
    with pq.ParquetWriter(
        place, table.schema, compression="zstd", compression_level=1, write_page_checksum=True
    ) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"evalkit": json.dumps(label)})


def _check(label: dict[str, Any], columns: list[str], rows: int) -> str:
    """Digest what checksums of pages do not cover: the label, names and types of columns, and how many rows there are.

    It notices damage; whoever writes a file anew writes this anew, too.
    """
    facts = [json.dumps(label, sort_keys=True), *columns, str(rows)]
    return hashlib.sha256("\n".join(facts).encode("utf-8", "replace")).hexdigest()


def frame_at(path: Path) -> pd.DataFrame:
    """Read a table that an import wrote, within bounds; texts are pandas' own.

    Raises DataError where it is damaged, or would unfold to more than can be held in memory.
    """
    return parquet.frame_of(path)


def label_of(path: Path) -> dict[str, Any]:
    """Read where a table came from; empty for a Parquet file that no import wrote.

    Raises DataError where the file is no Parquet, or says what no import says.
    """
    told = parquet.told(path)
    try:
        label = json.loads(told.label)
        sound = not label or _is_label(label)
        check = label.pop(_CHECK, None)  # tables of before there was one lack it
        sound &= check in (None, _check(label, told.columns, told.rows))
    except Exception as problem:  # whatever may be wrong with JSON, or with names of columns
        raise DataError(f"{path.name} is damaged: {one_line(problem)}. Import the campaign again.") from problem
    if not sound:
        raise DataError(f"{path.name} is damaged: it says of itself what no import writes. Import the campaign again.")
    return label


def _is_label(label: Any) -> bool:
    """Tell whether all parts of a label are of their kinds."""
    json.dumps(label, ensure_ascii=False).encode()  # half of a surrogate pair is no letter
    texts = [label[name] for name in ("origin", "digest")] + [label.get(name, "") for name in ("format", "orientation")]
    scale, metrics = label["scale"], label.get("metrics", [])
    ends = scale is None or (is_texts(scale, (int, float)) and len(scale) == 2 and -1e15 < scale[0] < scale[1] < 1e15)
    files = all(is_texts([one["name"], one["digest"]]) for one in metrics)
    return bool(is_texts(texts) and is_texts(label.get("files", [])) and ends and files)
