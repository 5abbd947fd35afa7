"""Keep what is frozen in small files, and write over none of it without a reason."""

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
#: What a file may have, so that a repository stays light.
MOST_BYTES = 1_000_000


class Refused(Exception):
    """Something that is not done, said in a sentence."""


def within(path: str, name: str) -> bool:
    """Tell whether a path that was asked for has to do with a name: it is it, lies in it, or contains it.

    >>> within("studies/a", "studies/a/table"), within("studies/a/table", "studies/a"), within("studies/a", "studies/ab")
    (True, True, False)
    """
    return name == path or name.startswith(f"{path}/") or path.startswith(f"{name}/")


class Store:
    """A folder of frozen tables: ``<part>/<name>.json.gz`` holds tables by name."""

    def __init__(self, folder: Path = HERE) -> None:
        self.folder = folder

    def names(self, part: str) -> list[str]:
        """Name the files of a part, as ``part/name``."""
        return sorted(f"{part}/{path.name.removesuffix('.json.gz')}" for path in (self.folder / part).glob("*.json.gz"))

    def read(self, name: str) -> dict[str, Any]:
        """Read the tables of a file; nothing where there is none."""
        path = self.folder / f"{name}.json.gz"
        return json.loads(gzip.decompress(path.read_bytes())) if path.exists() else {}

    def write(self, name: str, tables: dict[str, Any]) -> None:
        """Write the tables of a file; the same tables give the same bytes."""
        text = json.dumps(tables, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        content = gzip.compress(text.encode(), 9, mtime=0)
        if len(content) > MOST_BYTES:
            raise Refused(f"{name} would have {len(content):,} bytes, more than {MOST_BYTES:,}. Split it.")
        path = self.folder / f"{name}.json.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def frozen(self, path: str, name: str) -> list[str]:
        """List the tables of a file that a path names."""
        return [table for table in self.read(name) if within(path, f"{name}/{table}")]

    def replace(self, path: str, name: str, new: dict[str, Any]) -> None:
        """Put new tables into a file in place of those that a path names; what is there already needs a reason."""
        tables, there = self.read(name), self.frozen(path, name)
        reason = self.reason(path) if there else ""
        if there and not reason:
            raise Refused(
                f"{path} is frozen already, and later steps are held against it. Where it changed rightly, write "
                "its table and the reason into tests/frozen/changes.toml, then: make freeze TABLE=..."
            )
        if any(tables[table].get("reason") == reason for table in there if reason):
            raise Refused(f"{path} was frozen anew for this very reason before. Give today's in changes.toml.")
        kept = {table: value for table, value in tables.items() if table not in there}
        told = {"reason": reason} if reason else {}
        self.write(name, kept | {table: value | told for table, value in new.items()})

    def reason(self, path: str) -> str:
        """Return the latest reason that changes.toml gives for freezing a path anew; none gives an empty text."""
        changes = self.folder / "changes.toml"
        entries = tomllib.loads(changes.read_text(encoding="utf-8")).get("change", []) if changes.exists() else []
        return next((entry["reason"].strip() for entry in reversed(entries) if entry["table"] == path), "")
