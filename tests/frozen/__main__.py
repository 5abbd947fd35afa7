"""Freeze what the package computes, or compare what it computes now with what was frozen.

python -m tests.frozen seeds                  reports under four other seeds, into EVALKIT_SEEDS (hours of a processor)
python -m tests.frozen freeze [TABLE...]      write down what is not frozen yet: all, a part, a file, or a table
python -m tests.frozen compare [PATH...]      print each difference of a part, or a file of it; exit 1 on any
"""

import os
import sys
from collections.abc import Callable

from tests.frozen import commands, imports, reports
from tests.frozen.comparing import Difference, Result, compare
from tests.frozen.running import SHARED, prepare
from tests.frozen.store import Refused, Store, within
from tests.frozen.tables import Rows, frozen
from tests.frozen.words import NO_KEY

Collect = Callable[..., dict[str, dict[str, list[Rows]]]]
PARTS: dict[str, Collect] = {
    "imports": imports.collect,
    "studies": reports.studies,
    "campaigns": reports.campaigns,
    "commands": commands.collect,
}


def freeze(paths: list[str], store: Store, parts: dict[str, Collect] = PARTS) -> None:
    """Write down the tables that paths name; what is frozen already is written over only with a reason."""
    for path in paths or list(parts):
        part = path.split("/")[0]
        if part not in parts:
            raise Refused(f"{path}: there is no such part. Name one of {', '.join(parts)}, or a table within one.")
        if path == part and store.names(part):
            raise Refused(f"{part} is frozen already. Name one table: make freeze TABLE={part}/...")
        found = 0
        for name, tables in parts[part](path, seeds=True).items():
            new = {table: frozen(versions) for table, versions in tables.items() if within(path, f"{name}/{table}")}
            for table, content in new.items():
                if keyless := [
                    cell for row in content["rows"] for cell in row.values() if str(cell).startswith(NO_KEY)
                ]:
                    raise Refused(f"{name}/{table}: {keyless[0]} -- give it a key in tests/frozen/words.toml first.")
            if new:
                store.replace(path, name, new)
            found += len(new)
        gone = [] if found else [name for name in store.names(part) if store.frozen(path, name)]
        for name in gone:
            store.replace(path, name, {})
        if not (found or gone):
            raise Refused(f"There is no table {path}.")
        print(f"{path}: {found} tables frozen" if found else f"{path}: gone")


def compare_all(names: list[str], store: Store, parts: dict[str, Collect] = PARTS) -> int:
    """Print how what is computed now differs from what is frozen; return how many differences there are."""
    differences = values = chance = 0
    for path in names or list(parts):
        part = path.split("/")[0]
        if part not in parts:
            raise Refused(f"There is no part {part}. Parts: {', '.join(parts)}.")
        now = parts[part](path)
        for name in sorted({*(kept for kept in store.names(part) if within(path, kept)), *now}):
            kept, made = store.read(name), now.get(name, {})
            for table in sorted({*kept, *made}):
                result = _compared(kept.get(table), made.get(table))
                for difference in result.differences:
                    print(f"{name} {table} {difference}")
                if result.chance:
                    print(f"{name} {table}: {result.chance} of {result.values} values equal only as far as chance goes")
                differences += len(result.differences)
                values += result.values
                chance += result.chance
    print(f"{values:,} values compared: {differences:,} differences, {chance:,} equal only as far as chance goes")
    return differences


def _compared(kept: dict | None, made: list[Rows] | None) -> Result:
    """Compare one table; one that is gone, or that nobody froze, is a difference."""
    if made is None:
        return Result([Difference("", "", "a frozen table", "it is missing")], 0, 0)
    if kept is None:
        return Result([Difference("", "", "no such table is frozen", f"a new one of {len(made[0])} rows")], 0, 0)
    return compare(kept, made[0])


def main(words: list[str]) -> int:
    """Run one of the three."""
    prepare()
    if not words or words[0] not in ("freeze", "compare", "seeds"):
        print(__doc__, file=sys.stderr)
        return 2
    if not SHARED.is_dir():
        demanded = os.environ.get("EVALKIT_DEMAND_DATA") == "1"
        print("../shared is not here: imports, campaigns and studies on real data cannot be compared.", file=sys.stderr)
        return int(demanded or words[0] != "compare")
    try:
        if words[0] == "compare":
            return int(compare_all(words[1:], Store()) > 0)
        reports.run_seeds() if words[0] == "seeds" else freeze(words[1:], Store())
    except Refused as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
