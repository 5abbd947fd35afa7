"""The sentences of a campaign's report: for each result, which findings it is; the words are in ``wording.toml``.

``say(found)`` takes one result and returns its sentences, a paragraph each. people, systems, plan, beside register how
their results are told. The first page is a module of its own, ``campaign.first_page``.
"""

from evalkit.campaign.findings import known, not_in_file, say
from evalkit.campaign.sentences import people  # noqa: F401  registers its sentences with say
from evalkit.campaign.sentences.beside import against_other
from evalkit.campaign.sentences.plan import answer, by_chance, whose, with_metric
from evalkit.campaign.sentences.systems import steered

__all__ = [
    "against_other",
    "answer",
    "by_chance",
    "known",
    "not_in_file",
    "say",
    "steered",
    "whose",
    "with_metric",
]
