"""Draw ratings from stated models; their systems and documents are called ``sim-…``.

``standins`` and ``crowds`` have the shapes of registered data sets, ``campaign`` is a general model of an annotation
campaign whose parts can be switched on and off, ``reliability`` draws categories whose expected kappa is chosen in
advance, ``edits`` makes outputs with post-edits, ``metrics`` makes metrics tasks, ``protocols`` has their texts judged
in several ways, ``mqm`` marks errors in translations, and ``preferences`` puts several on one screen. Tables have the
same schemas as real ones and pass through the same code.
"""

from evalkit.data.simulate.campaign import Behaviour, Control, Design, Quality, campaign
from evalkit.data.simulate.context import (
    wmt21_mturk,
    wmt21_mturk_annotators,
    wmt21_mturk_ranking,
    wmt22_mturk,
    wmt22_mturk_annotators,
    wmt22_mturk_ranking,
    wmt24_esa,
    wmt24_esa_spans,
)
from evalkit.data.simulate.crowds import (
    laeubli_parity,
    laeubli_preferences,
    mlqe_pe,
    mlqe_pe_people,
    sudoh_agreed,
    sudoh_labels,
    sudoh_labels_wmt17,
    sudoh_translations,
    wmt_slt22,
)
from evalkit.data.simulate.edits import post_edited
from evalkit.data.simulate.metrics import (
    darr_assessments,
    darr_metrics,
    metric_human_scores,
    metric_human_system_scores,
    metric_outputs,
    metric_scores,
    metric_system_scores,
    single_assessments,
)
from evalkit.data.simulate.mqm import (
    indicmt_mqm,
    indicmt_mqm_spans,
    indicmt_splits,
    indicmt_splits_spans,
    indicmt_zero_shot,
    indicmt_zero_shot_spans,
    wmt23_mqm,
    wmt23_mqm_spans,
)
from evalkit.data.simulate.preferences import (
    contrastive_esa,
    literary_marks,
    literary_preferences,
    wmt23_side_by_side,
    wmt23_side_by_side_spans,
)
from evalkit.data.simulate.protocols import wmt23_protocols, wmt23_protocols_released, wmt23_protocols_spans
from evalkit.data.simulate.reliability import categories, protocol_study
from evalkit.data.simulate.standins import LANGUAGES, SHAPES, calibration_hits, calibration_mapping, xsts_campaign

__all__ = [
    "LANGUAGES",
    "SHAPES",
    "Behaviour",
    "Control",
    "Design",
    "Quality",
    "calibration_hits",
    "calibration_mapping",
    "campaign",
    "categories",
    "contrastive_esa",
    "darr_assessments",
    "darr_metrics",
    "indicmt_mqm",
    "indicmt_mqm_spans",
    "indicmt_splits",
    "indicmt_splits_spans",
    "indicmt_zero_shot",
    "indicmt_zero_shot_spans",
    "laeubli_parity",
    "laeubli_preferences",
    "literary_marks",
    "literary_preferences",
    "metric_human_scores",
    "metric_human_system_scores",
    "metric_outputs",
    "metric_scores",
    "metric_system_scores",
    "mlqe_pe",
    "mlqe_pe_people",
    "post_edited",
    "protocol_study",
    "single_assessments",
    "sudoh_agreed",
    "sudoh_labels",
    "sudoh_labels_wmt17",
    "sudoh_translations",
    "wmt21_mturk",
    "wmt21_mturk_annotators",
    "wmt21_mturk_ranking",
    "wmt22_mturk",
    "wmt22_mturk_annotators",
    "wmt22_mturk_ranking",
    "wmt23_mqm",
    "wmt23_mqm_spans",
    "wmt23_protocols",
    "wmt23_protocols_released",
    "wmt23_protocols_spans",
    "wmt23_side_by_side",
    "wmt23_side_by_side_spans",
    "wmt24_esa",
    "wmt24_esa_spans",
    "wmt_slt22",
    "xsts_campaign",
]
