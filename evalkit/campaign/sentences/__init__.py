"""The sentences of a campaign's report, each computed from the results of the analyses and nothing else.

``say(found)`` takes one result and returns its sentences, a paragraph each. first_page: which system is better, can I
trust it, what next. What a paper or a datasheet has to say of how the numbers were made is in the room ``paperwork``.
"""

from evalkit.campaign.sentences.against import against_items, against_systems
from evalkit.campaign.sentences.comparisons import comparisons  # noqa: F401  registers its sentences with say
from evalkit.campaign.sentences.few import few  # noqa: F401  registers its sentences with say
from evalkit.campaign.sentences.first_page import (
    answers,
    beside_humans,
    better,
    figures,
    headline,
    steps,
    sure,
    trust,
    weights,
)
from evalkit.campaign.sentences.judges import judges  # noqa: F401  registers its sentences with say
from evalkit.campaign.sentences.outcome import outcome  # noqa: F401  registers its sentences with say
from evalkit.campaign.sentences.people import screening  # noqa: F401  registers its sentences with say
from evalkit.campaign.sentences.pilot import answer, by_chance, metric_step, plan_steps, whose, with_metric
from evalkit.campaign.sentences.plan import beyond
from evalkit.campaign.sentences.say import known, not_in_file, say
from evalkit.campaign.sentences.steering import steered
from evalkit.campaign.sentences.systems import language_pairs

__all__ = [
    "against_items",
    "against_systems",
    "answer",
    "answers",
    "beside_humans",
    "better",
    "beyond",
    "by_chance",
    "figures",
    "headline",
    "known",
    "language_pairs",
    "metric_step",
    "not_in_file",
    "plan_steps",
    "say",
    "steered",
    "steps",
    "sure",
    "trust",
    "weights",
    "whose",
    "with_metric",
]
