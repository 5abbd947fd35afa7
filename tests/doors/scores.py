"""The door of people's scores in mt-metrics-eval's layout: what an import keeps stands in the file, and all of it."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import numpy as np

from evalkit import DataError, data
from evalkit.data import importing
from tests.doors.testsets import SHAPES, mutate, write


def numbers(content: bytes) -> list[float]:
    """Read the last cell of each line that is a number, as anybody would."""
    found = []
    for line in content.decode("utf-8", "replace").splitlines():
        with contextlib.suppress(ValueError):
            found.append(float(line.split("\t")[-1]))
    return found


def attempt(seed: int, parent: Path) -> str:
    """Import the scores of a spoilt folder, named as a file or with all that is beside it."""
    rng, folder, out = np.random.default_rng(seed), parent / f"scores{seed}", parent / "c.parquet"
    shape = sorted(SHAPES)[rng.integers(len(SHAPES))]
    write(folder, shape, segments=int(rng.integers(1, 8)), seed=int(rng.integers(1 << 30)))
    golds = sorted((folder / "human-scores").glob("*.seg.score"))
    asked = golds[rng.integers(len(golds))]
    read = [asked, *(folder / "documents").iterdir()]
    sound = [path.read_bytes() for path in read]
    if rng.random() < 0.7:
        mutate(rng, folder)
    else:  # what stands in the file itself is spoilt
        content = bytearray(sound[0])
        for _ in range(rng.integers(1, 4)):
            content[rng.integers(len(content))] = rng.integers(256)
        asked.write_bytes(bytes(content))
    for left in parent.glob("c.*"):
        left.unlink()
    try:
        named = folder if len(golds) == 1 and rng.random() < 0.5 else asked
        report, _ = importing.import_campaign([named], out, keep_names=True, allow_rejected=True)
        told = ""
    except DataError as problem:
        told = str(problem)
    else:
        untouched = [path.is_file() and path.read_bytes() for path in read] == sound
        files = [asked] if asked.is_file() else sorted(asked.parent.glob("*.seg.score"))  # it was renamed, perhaps
        there = [score for file in files for score in numbers(file.read_bytes())]
    finally:
        shutil.rmtree(folder)
    if told:
        assert "\n" not in told, told
        assert len(told) < 1000, told
        return "refused"
    ratings, _ = data.open_campaign(out)
    assert set(ratings["score"]) <= set(there), "a score that stands nowhere"
    if untouched:
        assert sorted(ratings["score"]) == sorted(there), "a score is missing"
    return "told" if report.rows_rejected or report.notes else "read"
