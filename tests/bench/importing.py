"""Import judgements, and hold time and memory against a raw pyarrow read of the same file.

``make bench`` takes 300,000 rows. ``python tests/bench/importing.py`` writes a million (71 MB) to a temporary
folder, reads them in two ways, each twice in a process of its own, and prints the better time with its peak memory.
"""

import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

_RAW = "import sys; from pyarrow import csv; print(csv.read_csv(sys.argv[1]).num_rows)"
_IMPORT = (
    "import sys; from evalkit.data import importing; "
    "report, _ = importing.import_campaign([sys.argv[1]], sys.argv[2], salt='bench'); print(report.rows_kept)"
)


def write(path: Path, rows: int) -> None:
    """Write judgements of 50 systems by 2,000 annotators, in pieces."""
    rng = np.random.default_rng(7)
    for start in range(0, rows, 1_000_000):
        place = np.arange(start, min(start + 1_000_000, rows))
        frame = pd.DataFrame(
            {
                "src_lang": "eng",
                "tgt_lang": "deu",
                "system": "System-" + pd.Series(place % 50).astype("str"),
                "doc": "doc-" + pd.Series(place // 500).astype("str"),
                "segment": place // 50,
                "annotator": "Annotator " + pd.Series(rng.integers(0, 2000, len(place))).astype("str"),
                "score": rng.integers(0, 101, len(place)),
                "item_type": "system",
                "started": np.round(1.7e9 + place * 7 + rng.random(len(place)), 3),
            }
        )
        frame.to_csv(path, index=False, mode="a" if start else "w", header=not start)


def measured(code: str, *arguments: Path) -> tuple[float, float, str]:
    """Run code in a process of its own; return seconds, the peak of its memory in GB, and what it printed."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read().strip()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed with status {status}")
    unit = 1 if sys.platform == "darwin" else 1024
    return time.perf_counter() - start, usage.ru_maxrss * unit / 1e9, printed


def cases():
    """Yield what is measured: our import of a file beside pyarrow's reading of it, which checks and writes nothing."""
    from pyarrow import csv

    from evalkit.data import importing

    folder = Path(tempfile.mkdtemp())
    path, out = folder / "long.csv", folder / "out.parquet"
    write(path, 300_000)
    ours = partial(importing.import_campaign, [path], out, salt="bench")
    yield "import 300,000 judgements", 0.1, ours, partial(csv.read_csv, path), 1, "pyarrow.csv.read_csv"


def main() -> None:
    """Measure once and print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.csv"
        write(path, rows)
        print(f"{rows:,} rows, {path.stat().st_size / 1e9:.2f} GB")
        calls = {"raw": (_RAW, path), "ours": (_IMPORT, path, Path(folder) / "out.parquet")}
        found = [{name: measured(*call) for name, call in calls.items()} for _ in range(2)]  # the second from memory
        raw, ours = (min(one[name] for one in found) for name in calls)
        for name, (seconds, memory, kept) in (("raw pyarrow read", raw), ("evalkit import", ours)):
            print(f"{name}: {seconds:.1f} s, peak {memory:.2f} GB, {int(kept):,} rows")
        print(f"ratio: {ours[0] / raw[0]:.1f}")


if __name__ == "__main__":
    main()
