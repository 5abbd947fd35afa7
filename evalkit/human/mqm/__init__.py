"""Error spans (MQM): typologies and weights, scores made of them, how errors are spread, how far annotators agree.

Tables of judgements and of errors are those of ``evalkit.data.schemas`` (RATINGS, SPANS). A judgement without errors
has a row among the judgements only, so every function that makes scores takes both.
"""

from evalkit.data.typology import SCHEMES, SEVERITIES, TYPOLOGIES, Scheme
from evalkit.human.mqm.agreement import (
    SPANS_MEASURES,
    crossed,
    formula_against_own,
    merged,
    rater_agreement,
    span_agreement,
    unitised_alpha,
)
from evalkit.human.mqm.checks import check_spans, overlapping
from evalkit.human.mqm.direct import ESA, marks_against_scores, severity_costs
from evalkit.human.mqm.scores import (
    KEY,
    aggregate,
    changed,
    errors_per_system,
    segment_scores,
    severity_shares,
    type_counts,
    weights,
)

__all__ = [
    "ESA",
    "KEY",
    "SCHEMES",
    "SEVERITIES",
    "SPANS_MEASURES",
    "TYPOLOGIES",
    "Scheme",
    "aggregate",
    "changed",
    "check_spans",
    "crossed",
    "errors_per_system",
    "formula_against_own",
    "marks_against_scores",
    "merged",
    "overlapping",
    "rater_agreement",
    "segment_scores",
    "severity_costs",
    "severity_shares",
    "span_agreement",
    "type_counts",
    "unitised_alpha",
    "weights",
]
