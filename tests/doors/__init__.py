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
