"""Doors: every way into the suite, each with a maker of spoilt input.

A door is a module with ``attempt(seed, folder)``. It makes one input from the seed, opens it as a user would, inside
``folder``, and returns what came of it, one of ``OUTCOMES``; whatever else happens (another exception than a DataError,
a number or a text that changed and is not told) raises. The same seed makes the same input. ``tests/test_doors.py``
tries some seeds of each door at every run, ``tests/fuzz.py`` as many as one likes.
"""

from pathlib import Path

#: What may come of an input: read as it is, read with a note of what was set apart, or refused in one sentence.
OUTCOMES = ("read", "told", "refused")
DOORS = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__")


def refused(problem: Exception, *names: str) -> str:
    """Hold a refusal to the rule: one sentence or more on one line, which name the file or the option, and end."""
    told = str(problem)
    assert any(name in told for name in names), f"which file? {told}"
    assert told == told.strip().partition("\n")[0], told
    assert len(told) < 8_000, told
    assert told.endswith((".", "…", "?")), told
    assert "Traceback" not in told, told
    return "refused"


def demand_quiet(written: str) -> None:
    """Hold what came on standard error to the rule: notes of ours alone. Compiled code writes its traces there."""
    odd = [line for line in written.splitlines() if line.strip() and not line.startswith("evalkit: ")]
    assert not odd, f"on standard error: {' / '.join(odd)[:400]}"
