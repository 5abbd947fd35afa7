"""One report for one file of a campaign: every analysis of this package that the file allows, and what it lacks.

``from_ratings`` looks at a table of judgements as a campaign; ``analyse`` makes all analyses, which can also be called
one by one. Each returns a ``Result`` with tables and numbers, or ``Missing``, which counts as false and says what to
collect. ``tell`` says which findings a result is, ``checks`` whether it can be trusted, ``first_page`` which of them
come first; their words stand in ``wording.toml``. ``paperwork`` has the methods and a datasheet, ``exports`` writes
files.

Modules are topics: ``opening`` (a campaign), ``method`` (how systems are compared, and why), then ``ranking``,
``agreement``, ``annotators``, ``quality``, ``plan`` and the rest, a result and the function that finds it. ``design``
makes a campaign of texts.
"""

from evalkit.campaign.against import compare_campaigns as compare_campaigns
from evalkit.campaign.against import counterpart as counterpart
from evalkit.campaign.agreement import measure_agreement as measure_agreement
from evalkit.campaign.analysis import Analysis as Analysis
from evalkit.campaign.analysis import analyse as analyse
from evalkit.campaign.annotators import give_feedback as give_feedback
from evalkit.campaign.annotators import profile_annotators as profile_annotators
from evalkit.campaign.annotators import screen_annotators as screen_annotators
from evalkit.campaign.checks import run_checks as run_checks
from evalkit.campaign.checks import tabulate as tabulate
from evalkit.campaign.collection import count_errors as count_errors
from evalkit.campaign.collection import count_judgements as count_judgements
from evalkit.campaign.collection import grade_quality as grade_quality
from evalkit.campaign.design.expectation import compare_plan as compare_plan
from evalkit.campaign.exports import export as export
from evalkit.campaign.exports import export_pages as export_pages
from evalkit.campaign.few import correct_labels as correct_labels
from evalkit.campaign.few import correlation as correlation
from evalkit.campaign.few import estimate_with_metrics as estimate_with_metrics
from evalkit.campaign.few import of_pilot as of_pilot
from evalkit.campaign.findings import Finding as Finding
from evalkit.campaign.findings import Missing as Missing
from evalkit.campaign.findings import not_in_file as not_in_file
from evalkit.campaign.judges import compare_judges as compare_judges
from evalkit.campaign.method import choose_method as choose_method
from evalkit.campaign.opening import Campaign as Campaign
from evalkit.campaign.opening import example as example
from evalkit.campaign.opening import from_ratings as from_ratings
from evalkit.campaign.pilot import read_pilot as read_pilot
from evalkit.campaign.plan import measure_cost as measure_cost
from evalkit.campaign.plan import plan_more as plan_more
from evalkit.campaign.quality import calibrate as calibrate
from evalkit.campaign.quality import control_quality as control_quality
from evalkit.campaign.ranking import find_comparisons as find_comparisons
from evalkit.campaign.ranking import normalize_scores as normalize_scores
from evalkit.campaign.ranking import rank_criteria as rank_criteria
from evalkit.campaign.ranking import rank_pairs as rank_pairs
from evalkit.campaign.ranking import rank_systems as rank_systems
from evalkit.campaign.steering import may_stop as may_stop
from evalkit.campaign.steering import weigh_steered as weigh_steered
