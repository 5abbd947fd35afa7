"""Whether a result can be trusted: a list of checks, each a question with a worded verdict, an answer and what to do.

The limits between verdicts are stated in the texts of ``found``; they are rules of thumb of this package, not laws.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from evalkit.campaign.analysis import Analysis
from evalkit.campaign.checks import people, systems
from evalkit.campaign.checks.check import CALLED, FINE, LOOK, PROBLEM, UNKNOWN, Check, graded
from evalkit.campaign.checks.systems import APART

__all__ = ["APART", "CALLED", "FINE", "LOOK", "PROBLEM", "UNKNOWN", "Check", "graded", "run_checks", "tabulate"]

_CHECKS: tuple[Callable[[Analysis], Check | None], ...] = (
    systems.apart,
    systems.identity,
    systems.enough,
    people.people,
    people.constant,
    people.screening,
    systems.twins,
    systems.segments,
    systems.steered,
    systems.favoured,
    systems.normalizing,
    people.agreement,
    people.elsewhere,
    people.steady,
    people.attention,
    systems.room,
    people.neighbours,
    systems.twice,
    systems.languages,
)


def run_checks(found: Analysis) -> list[Check]:
    """Run all checks that apply, the worst verdict first."""
    checks = [check for check in (make(found) for make in _CHECKS) if check]
    return sorted(checks, key=lambda check: list(CALLED).index(check.verdict))


def tabulate(checks: list[Check]) -> pd.DataFrame:
    """Arrange checks as a table: check, result, found, to_do."""
    rows = [(check.question, check.verdict, check.found, check.advice or "nothing") for check in checks]
    return pd.DataFrame(rows, columns=["check", "result", "found", "to_do"])
