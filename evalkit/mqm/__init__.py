"""Error spans (MQM): typologies and weights, scores made of them, how errors are spread, how far annotators agree.

Tables of judgements and of errors are those of ``evalkit.schemas`` (RATINGS, SPANS). A judgement without errors has a
row among the judgements only, so every function that makes scores takes both.
"""

from evalkit.mqm.agreement import SPANS_MEASURES, crossed, formula_against_own, rater_agreement, span_agreement
from evalkit.mqm.audit import misprints, said_of_print
from evalkit.mqm.checks import check_spans, overlapping
from evalkit.mqm.claimed import claim_tables
from evalkit.mqm.direct import ESA, marks_against_scores, severity_costs
from evalkit.mqm.distributions import errors_per_system, severity_shares, type_counts
from evalkit.mqm.scores import KEY, aggregate, changed, segment_scores, weights
from evalkit.mqm.search import explain, odd_rows, single_errors
from evalkit.mqm.systems import (
    combined,
    common_sentences,
    copies,
    denominators,
    fitting_counts,
    placement,
    places,
    system_means,
)
from evalkit.mqm.typology import SCHEMES, SEVERITIES, TYPOLOGIES, Scheme
from evalkit.mqm.unitizing import merged, unitised_alpha

__all__ = [
    "ESA", "KEY", "SCHEMES", "SEVERITIES", "SPANS_MEASURES", "TYPOLOGIES", "Scheme", "aggregate", "changed",
    "check_spans", "claim_tables", "combined", "common_sentences", "copies", "crossed", "denominators",
    "errors_per_system", "explain", "fitting_counts", "formula_against_own", "marks_against_scores", "merged",
    "misprints", "odd_rows", "overlapping", "placement", "places", "rater_agreement", "said_of_print",
    "segment_scores", "severity_costs", "severity_shares", "single_errors", "span_agreement", "system_means",
    "type_counts", "unitised_alpha", "weights",
]  # fmt: skip
