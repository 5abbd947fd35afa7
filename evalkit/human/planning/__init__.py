"""Plan an annotation campaign: what scatters, how small calibration sets can be, what a claim needs."""

from evalkit.human.planning.allocation import best_size, break_even, difference_variance, imbalance, spending, workloads
from evalkit.human.planning.beside_metric import ALONE, with_metric
from evalkit.human.planning.by_preference import answers, by_preference
from evalkit.human.planning.calibration import (
    SELECTIONS,
    calibration_size,
    equal_work,
    random_scores,
    selections,
    smallest,
    smallest_sets,
)
from evalkit.human.planning.components import LAYOUTS, NAMES, NEEDED, components, jackknife, variances
from evalkit.human.planning.crews import MOST_PEOPLE, MOST_SEGMENTS, Crew, smallest_crew
from evalkit.human.planning.designs import (
    Limits,
    by_pair,
    cheapest,
    compare,
    curve,
    describe,
    evenly_shared,
    plan,
    setting,
    span,
)
from evalkit.human.planning.power import ARRANGEMENTS, document_variance, power, simulate_power, t_power
from evalkit.human.planning.squares import Equations, equate
from evalkit.human.planning.watching import crossed, watched
from evalkit.human.planning.worth import contrast_variance

__all__ = [
    "ALONE",
    "ARRANGEMENTS",
    "LAYOUTS",
    "MOST_PEOPLE",
    "MOST_SEGMENTS",
    "NAMES",
    "NEEDED",
    "SELECTIONS",
    "Crew",
    "Equations",
    "Limits",
    "answers",
    "best_size",
    "break_even",
    "by_pair",
    "by_preference",
    "calibration_size",
    "cheapest",
    "compare",
    "components",
    "contrast_variance",
    "crossed",
    "curve",
    "describe",
    "difference_variance",
    "document_variance",
    "equal_work",
    "equate",
    "evenly_shared",
    "imbalance",
    "jackknife",
    "plan",
    "power",
    "random_scores",
    "selections",
    "setting",
    "simulate_power",
    "smallest",
    "smallest_crew",
    "smallest_sets",
    "span",
    "spending",
    "t_power",
    "variances",
    "watched",
    "with_metric",
    "workloads",
]
