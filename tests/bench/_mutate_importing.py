"""Import a hundred thousand files, written in many ways and damaged, and hold each result against what was written.

Run by hand: ``python tests/bench/_mutate_importing.py 100000``. Each file that breaks the rule is told with its layout
and its seed; ``tests/test_data_importing_mutated.py`` tries some of the same files at every run.
"""

import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).parents[1]))
from mutations import LAYOUTS, case
from test_data_importing_mutated import attempt

_PIECE = 200  # files that one process imports before it reports


def some(first: int) -> list[str]:
    """Import the files of some seeds; say what is wrong with which."""
    layouts = sorted(LAYOUTS)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVALKIT_SALT_FILE"] = str(Path(folder, "salt"))
        for seed in range(first, first + _PIECE):
            layout = layouts[seed % len(layouts)]
            try:
                attempt(case(np.random.default_rng(seed), layout), Path(folder))
            except Exception as problem:  # whatever it is, it is told with what brings it back
                wrong.append(f"{layout}, seed {seed}: {type(problem).__name__}: {problem}")
    return wrong


def main(count: int) -> None:
    """Import ``count`` files on all cores; fail when one of them broke the rule."""
    broken = 0
    with ProcessPoolExecutor() as pool, tqdm(total=count, unit="file") as bar:
        for wrong in pool.map(some, range(0, count, _PIECE)):
            for line in wrong:
                bar.write(line)
            broken += len(wrong)
            bar.update(_PIECE)
    if broken:
        raise SystemExit(f"{broken} of {count} files broke the rule")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
