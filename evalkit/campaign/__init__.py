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

from evalkit.campaign.against import compare_campaigns, counterpart
from evalkit.campaign.agreement import measure_agreement
from evalkit.campaign.analysis import Analysis, analyse
from evalkit.campaign.annotators import give_feedback, profile_annotators, screen_annotators
from evalkit.campaign.checks import run_checks, tabulate
from evalkit.campaign.collection import count_errors, count_judgements, grade_quality
from evalkit.campaign.design.expectation import compare_plan
from evalkit.campaign.exports import export, export_pages
from evalkit.campaign.few import correct_labels, correlation, estimate_with_metrics, of_pilot
from evalkit.campaign.findings import Finding, Missing, not_in_file
from evalkit.campaign.judges import compare_judges
from evalkit.campaign.method import choose_method
from evalkit.campaign.opening import Campaign, example, from_ratings
from evalkit.campaign.pilot import read_pilot
from evalkit.campaign.plan import measure_cost, plan_more
from evalkit.campaign.quality import calibrate, control_quality
from evalkit.campaign.ranking import find_comparisons, normalize_scores, rank_criteria, rank_pairs, rank_systems
from evalkit.campaign.steering import may_stop, weigh_steered
