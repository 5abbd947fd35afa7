"""The exercises of the lessons: what is right, what goes wrong typically, and the hint that fits each mistake.

A lesson's check cells call what ``of`` returns. Each lesson has a module here that lists its exercises by name.
"""

from evalkit.lessons.checker import Check as of
from evalkit.lessons.checker import Exercise, Function, Made, Value, Verdict, exercises

__all__ = ["Exercise", "Function", "Made", "Value", "Verdict", "exercises", "of"]
