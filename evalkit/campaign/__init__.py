"""One report for one file of a campaign: every analysis of this package that the file allows, and what it lacks.

``from_ratings`` looks at a table of judgements as a campaign; ``analyse`` makes all analyses, which can also be called
one by one. Each returns a dataclass with tables and numbers, or ``Missing``, which counts as false and says what to
collect. ``sentences`` says results in words, ``figures`` draws them (``views`` those that may be turned),
``run_checks`` asks whether they can be trusted.
``export`` writes a report's tables, its methods and a datasheet to files.

Rooms, left to right: people, systems | against, judges, planning | design, checks | paperwork, sentences | exports.
What every room needs (a campaign, its method, what is missing) stands beside them.
"""

from evalkit.campaign.against.comparison import compare_campaigns
from evalkit.campaign.against.counterpart import counterpart
from evalkit.campaign.analysis import Analysis, analyse
from evalkit.campaign.checks import Check, run_checks, tabulate
from evalkit.campaign.collection import count_judgements
from evalkit.campaign.design.outcome import compare_plan
from evalkit.campaign.exports import export
from evalkit.campaign.judges.comparison import compare_judges
from evalkit.campaign.judges.disagreement import disagreeing_items, disagreeing_systems
from evalkit.campaign.judges.few import Correlation, correlation, estimate_with_metrics, of_pilot
from evalkit.campaign.method import Method, choose_method
from evalkit.campaign.missing import Missing
from evalkit.campaign.opening import Campaign, example, from_ratings
from evalkit.campaign.people.agreement import measure_agreement
from evalkit.campaign.people.annotators import RULES, profile_annotators, screen_annotators
from evalkit.campaign.people.calibration import calibrate
from evalkit.campaign.people.context import compare_contexts
from evalkit.campaign.people.quality import control_quality
from evalkit.campaign.planning.cost import measure_cost
from evalkit.campaign.planning.more import plan_more
from evalkit.campaign.planning.pilot import Pilot, read_pilot
from evalkit.campaign.systems.comparisons import find_comparisons
from evalkit.campaign.systems.criteria import rank_criteria
from evalkit.campaign.systems.errors import count_errors
from evalkit.campaign.systems.normalization import normalize_scores
from evalkit.campaign.systems.ranking import rank_pairs, rank_systems
from evalkit.campaign.systems.steering import weigh_steered
from evalkit.campaign.systems.stopping import may_stop

__all__ = [
    "RULES",
    "Analysis",
    "Campaign",
    "Check",
    "Correlation",
    "Method",
    "Missing",
    "Pilot",
    "analyse",
    "calibrate",
    "choose_method",
    "compare_campaigns",
    "compare_contexts",
    "compare_judges",
    "compare_plan",
    "control_quality",
    "correlation",
    "count_errors",
    "count_judgements",
    "counterpart",
    "disagreeing_items",
    "disagreeing_systems",
    "estimate_with_metrics",
    "example",
    "export",
    "find_comparisons",
    "from_ratings",
    "may_stop",
    "measure_agreement",
    "measure_cost",
    "normalize_scores",
    "of_pilot",
    "plan_more",
    "profile_annotators",
    "rank_criteria",
    "rank_pairs",
    "rank_systems",
    "read_pilot",
    "run_checks",
    "screen_annotators",
    "tabulate",
    "weigh_steered",
]
