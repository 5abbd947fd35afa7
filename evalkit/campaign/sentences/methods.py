"""The methods paragraph: what a paper or a report to a client has to say about how these numbers were made."""

from __future__ import annotations

from dataclasses import dataclass

from evalkit import __version__
from evalkit.campaign.agreement import Agreement
from evalkit.campaign.analysis import Analysis
from evalkit.campaign.calibration import RAW, Calibration
from evalkit.campaign.collection import Collection
from evalkit.campaign.missing import Missing
from evalkit.campaign.opening import Campaign
from evalkit.campaign.planning import Plan
from evalkit.campaign.quality import FEWEST_DEGRADED, QualityControl
from evalkit.campaign.ranking import Ranking
from evalkit.stats.terms import join_names, pluralize

#: Citation key -> reference.
REFERENCES = {
    "Bergsma 2013": "Bergsma, W. (2013). A bias-correction for Cramér's V and Tschuprow's T. Journal of the Korean "
    "Statistical Society 42.",
    "Efron & Tibshirani 1993": "Efron, B. and Tibshirani, R. (1993). An Introduction to the Bootstrap. Chapman & Hall.",
    "Graham et al. 2013": "Graham, Y. et al. (2013). Continuous measurement scales in human evaluation of machine "
    "translation. Proceedings of LAW.",
    "Gwet 2008": "Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high "
    "agreement. British Journal of Mathematical and Statistical Psychology 61.",
    "Henderson 1953": "Henderson, C. R. (1953). Estimation of variance and covariance components. Biometrics 9.",
    "Holm 1979": "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of "
    "Statistics 6.",
    "Knowles & Lo 2024": "Knowles, R. and Lo, C. (2024). Calibration and context in human evaluation of machine "
    "translation. Natural Language Processing.",
    "Krippendorff 2011": "Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of "
    "Pennsylvania.",
    "Licht et al. 2022": "Licht, D. et al. (2022). Consistent human evaluation of machine translation across language "
    "pairs. Proceedings of AMTA.",
    "Liang & Zeger 1986": "Liang, K.-Y. and Zeger, S. L. (1986). Longitudinal data analysis using generalized linear "
    "models. Biometrika 73.",
}


@dataclass(frozen=True)
class Methods:
    """The methods paragraph: text is plain, markdown has names escaped, references are those that the text cites."""

    text: str
    markdown: str
    references: list[str]


def methods(found: Analysis, *, resamples: int, seed: int) -> Methods:
    """Write the methods paragraph; only what was done in this run is in it.

    resamples, seed: random draws of this run. The signature belongs at the paragraph's end: exports add it.
    """
    parts = [
        _data(found.campaign, found.collection), _ranking(found.ranking), _agreement(found.agreement),
        _control(found.quality), _calibration(found.calibration), _plan(found.plan),
        f"Random draws begin from seed {seed}. All analyses were made with evalkit {__version__}.",
    ]  # fmt: skip
    text = " ".join(filter(None, parts))
    cited = [reference for key, reference in REFERENCES.items() if _cites(text, key)]
    return Methods(text, "\n".join([escaped(text), "", *(f"- {escaped(reference)}" for reference in cited)]), cited)


def escaped(text: str) -> str:
    r"""Escape what Markdown would take for markup.

    >>> print(escaped("a_b *c* [d](e) <f>"))
    a\_b \*c\* \[d\](e) \<f\>
    """
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|$~" else letter for letter in text)


def _cites(text: str, key: str) -> bool:
    return key in text or key.replace(" et al. ", " et al., ") in text


def _data(campaign: Campaign, collection: Collection) -> str:
    low, high = campaign.scale
    text = (
        f"{pluralize(campaign.judged['annotator'].nunique(), 'annotator')} gave "
        f"{pluralize(len(campaign.judged), 'judgement')} of {pluralize(collection.segments, 'segment')} translated by "
        f"{pluralize(len(campaign.systems), 'system')} ({campaign.pair}), on a scale from {low:g} to {high:g}"
    )
    text += ", turned round so that higher is better" if campaign.turned else ""
    text += "" if campaign.known_scale else " (the lowest and the highest score given)"
    if collection.cells:
        text += f"; {collection.judged / collection.cells:.0%} of the cells (a segment by a system) were judged"
        text += f", {collection.several:,} of them by two annotators or more" if collection.several else ""
    return f"{text}."


def _ranking(ranking: Ranking | Missing) -> str:
    if not ranking or len(ranking.names) < 2:
        return ""
    by = "mean scores: judgements are averaged by segment, then segments by system"
    if ranking.method.by_z:
        by = "z-scores: each annotator's scores less the mean of all their scores, over their standard deviation "
        by += "(Graham et al. 2013), averaged by segment, then by system"
    test = f"a t-test whose standard error is clustered by {ranking.method.drawn} (Liang & Zeger 1986)"
    text = (
        f"Systems are ranked by {by}. Every two systems are compared by {test}, one-sided at {ranking.method.alpha:g}, "
        f"with p-values adjusted for the number of pairs of systems (Holm 1979); for {ranking.top} and "
        f"{ranking.names[1]}, the first two, p {'< 0.001' if ranking.p < 0.001 else f'= {ranking.p:.3f}'}. A cluster "
        "ends where all systems above are better than all below."
    )
    if ranking.best is not None:
        text += f" Intervals of scores and ranks are 95 % percentile bootstraps over {ranking.method.drawn}, "
        text += f"{ranking.resamples:,} "
        text += "draws (Efron & Tibshirani 1993)."
    return text


def _agreement(agreement: Agreement | Missing) -> str:
    if not agreement or agreement.estimate is None:
        why = agreement.reason.rstrip(".") or "too few items"
        return f"Agreement between annotators could not be estimated: {why}."
    return (
        f"Agreement on {pluralize(agreement.items, 'item')} judged by two annotators or more is Krippendorff's alpha "
        f"({agreement.level}; Krippendorff 2011) = {agreement.estimate:.2f}, 95 % bootstrap interval over items "
        f"{agreement.low:.2f} to {agreement.high:.2f}."
    )


def _control(quality: QualityControl) -> str:
    parts = []
    if quality.tested:
        parts.append(
            "One-sided paired t-tests at 0.05 of degraded items against their originals (Knowles & Lo 2024) were made "
            f"for {pluralize(quality.tested, 'annotator')}; {len(quality.failed)} with {FEWEST_DEGRADED} degraded "
            f"items or more did not pass{'; those who failed seem to have been removed before' * quality.removed}."
        )
    if quality.again is not None:
        parts.append(f"Second scores of an item lie {quality.again:.1f} points of 100 from the first in the median.")
    return " ".join(parts)


def _calibration(calibration: Calibration | Missing) -> str:
    if not calibration or calibration.systems.empty:
        return ""
    forms = join_names(form for form in calibration.systems["form"].unique() if form != RAW)
    whom = {"annotator": "annotators", "pair": "language pairs"}[calibration.by]
    return f"Scores of systems are also calibrated by items that {whom} have in common ({forms}; Licht et al. 2022)."


def _plan(plan: Plan | Missing) -> str:
    if not plan:
        return ""
    units = "annotators" if plan.basis.over_annotators else "documents"
    return (
        "The number of judgements needed follows from variance components (Henderson 1953) and the power of a "
        f"two-sided paired t-test over {units}."
    )
