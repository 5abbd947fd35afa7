"""The exercises of the lessons: what is right, what goes wrong typically, and the hint that fits each mistake.

A lesson's check cells call what ``of`` returns. Each lesson has a module here that lists its exercises by name.
"""

from evalkit.lessons.checks import exercises, mistakes, of
from evalkit.lessons.exercises import Exercise, Function, Made, Mistake, Need, Value, Verdict

__all__ = ["Exercise", "Function", "Made", "Mistake", "Need", "Value", "Verdict", "exercises", "mistakes", "of"]
