"""The methods paragraph: what a paper or a report to a client has to say about how these numbers were made."""

from __future__ import annotations

from collections.abc import Mapping

from evalkit import __version__
from evalkit.campaign.opened import Campaign
from evalkit.campaign.people import FEWEST_SPOILT, SURE
from evalkit.campaign.sections import Section
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
    "Mann & Whitney 1947": "Mann, H. B. and Whitney, D. R. (1947). On a test of whether one of two random variables is "
    "stochastically larger than the other. Annals of Mathematical Statistics 18.",
    "Wilcoxon 1945": "Wilcoxon, F. (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1.",
}


def methods(
    campaign: Campaign, found: Mapping[str, Section], *, resamples: int, seed: int, alpha: float = 0.05
) -> Section:
    """Write the methods paragraph; facts: text (plain), markdown (names escaped), references (those that it cites).

    Only what was done in this run is in it. The signature belongs at its end: exports add it.
    """
    parts = [
        _data(campaign, found), _ranking(campaign, found["ranking"].facts, resamples, alpha),
        _agreement(found["agreement"].facts), _control(found["quality_control"].facts),
        _calibration(found["calibration"]), _plan(found["planning"]),
        f"Random draws begin from seed {seed}. All analyses were made with evalkit {__version__}.",
    ]  # fmt: skip
    text = " ".join(filter(None, parts))
    cited = [reference for key, reference in REFERENCES.items() if _cites(text, key)]
    markdown = "\n".join([escaped(text), "", *(f"- {escaped(reference)}" for reference in cited)])
    return Section("methods", (text, *cited), (), "", {"text": text, "markdown": markdown, "references": cited})


def escaped(text: str) -> str:
    r"""Escape what Markdown would take for markup.

    >>> print(escaped("a_b *c* [d](e) <f>"))
    a\_b \*c\* \[d\](e) \<f\>
    """
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|$~" else letter for letter in text)


def _cites(text: str, key: str) -> bool:
    return key in text or key.replace(" et al. ", " et al., ") in text


def _data(campaign: Campaign, found: Mapping[str, Section]) -> str:
    facts, judged = found["collected"].facts, campaign.judged
    low, high = campaign.scale
    told = (
        f"{pluralize(judged['annotator'].nunique(), 'annotator')} gave {pluralize(len(judged), 'judgement')} of "
        f"{pluralize(facts['segments'], 'segment')} translated by {pluralize(len(campaign.systems), 'system')} "
        f"({campaign.pair}), on a scale from {low:g} to {high:g}"
    )
    told += ", turned round so that higher is better" if campaign.turned else ""
    told += "" if campaign.known_scale else " (the lowest and the highest score given)"
    if facts["cells"]:
        told += f"; {facts['judged'] / facts['cells']:.0%} of the cells (a segment by a system) were judged"
        told += f", {facts['several']:,} of them by two annotators or more" if facts["several"] else ""
    return told + "."


def _ranking(campaign: Campaign, facts: Mapping, resamples: int, alpha: float) -> str:
    if not facts.get("top"):
        return ""
    by = "mean scores: judgements are averaged by segment, then segments by system"
    if facts["score"] == "normalized":
        by = "z-scores: each annotator's scores less the mean of all their scores, over their standard deviation "
        by += "(Graham et al. 2013), averaged by segment, then by system"
    test = {"wilcoxon": "Wilcoxon's signed-rank test on matched segments (Wilcoxon 1945)",
            "mann-whitney": "the Mann-Whitney test on segments (Mann & Whitney 1947)"}[facts["test"]]  # fmt: skip
    p = "< 0.001" if facts["p"] < 0.001 else f"= {facts['p']:.3f}"
    told = (
        f"Systems are ranked by {by}. Every two systems are compared by {test}, one-sided at {alpha:g}, with p-values "
        f"adjusted for the number of pairs of systems (Holm 1979); for {facts['systems'][0]} and {facts['second']}, "
        f"the first two, p {p}. A cluster ends where all systems above are better than all below."
    )
    if facts.get("best") is not None:
        drawn = {"doc": "documents", None: "segments"}[facts["unit"]]
        told += f" Intervals of scores and ranks are 95 % percentile bootstraps over {drawn}, {resamples:,} draws "
        told += "(Efron & Tibshirani 1993)."
    return told


def _agreement(facts: Mapping) -> str:
    if facts.get("estimate") is None:
        return f"Agreement between annotators could not be estimated: {facts.get('why', 'too few items')}."
    return (
        f"Agreement on {pluralize(facts['items'], 'item')} judged by two annotators or more is Krippendorff's alpha "
        f"({facts['level']}; Krippendorff 2011) = {facts['estimate']:.2f}, 95 % bootstrap interval over items "
        f"{facts['low']:.2f} to {facts['high']:.2f}."
    )


def _control(facts: Mapping) -> str:
    told = []
    if facts.get("tested"):
        told.append(
            f"One-sided paired t-tests at 0.05 of spoilt items against their originals (Knowles & Lo 2024) were made "
            f"for {pluralize(facts['tested'], 'annotator')}; {len(facts['failed'])} with {FEWEST_SPOILT} "
            "spoilt items or more did not pass"
            + ("; those who failed seem to have been removed before." if facts["caliper"].p < SURE else ".")
        )
    if facts.get("again") is not None:
        told.append(f"Second scores of an item lie {facts['again']:.1f} points of 100 from the first in the median.")
    return " ".join(told)


def _calibration(calibration: Section) -> str:
    moved = calibration.frame("calibrated")
    if moved.empty:
        return ""
    forms = join_names([form for form in moved["form"].unique() if form != "raw scores"])
    whom = {"annotator": "annotators", "pair": "language pairs"}[calibration.facts["by"]]
    return f"Scores of systems are also calibrated by items that {whom} have in common ({forms}; Licht et al. 2022)."


def _plan(planning: Section) -> str:
    if planning.frame("plan").empty:
        return ""
    return (
        "The number of segments needed follows from variance components (Henderson 1953) and the power of a two-sided "
        "paired t-test over documents."
    )
