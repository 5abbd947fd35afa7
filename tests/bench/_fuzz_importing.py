"""Attack the importers with atheris, whose mutations follow the branches that they reach.

Run by hand: ``python tests/bench/_fuzz_importing.py -max_total_time=120``. Anything but a result or a DataError ends it
with the bytes that did it. The seeds and what must hold are those of tests/test_data_importing_hostile.py.
"""

import os
import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Write the seeds, then attack; the first byte chooses the file's name and the format."""
    import atheris

    with atheris.instrument_imports(include=["evalkit.data.importing"]):
        from evalkit.data import importing
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from test_data_importing_hostile import SEEDS, WORKBOOK, attempt

    folder = Path(tempfile.mkdtemp())
    os.environ.setdefault("EVALKIT_SALT_FILE", str(folder / "salt"))
    names = ["my.csv", "my.tsv", "my.jsonl", "my.xlsx", "x.en-de.csv"]
    kinds = [kind for kind in importing.FORMATS if kind != "mt-metrics-eval"]
    corpus = folder / "corpus"
    corpus.mkdir()
    for name, content in (SEEDS | {"workbook": WORKBOOK}).items():
        number = {"jsonl": 2, "workbook": 3, "mqm": 1}.get(name, 0)
        (corpus / name).write_bytes(bytes([number]) + content)

    def one(content: bytes) -> None:
        if content:
            first, rest = content[0], content[1:]
            kind = kinds[first // len(names) % len(kinds)]
            attempt(folder, rest, name=names[first % len(names)], format=kind, salt="pepper")

    atheris.Setup([*sys.argv, str(corpus)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
