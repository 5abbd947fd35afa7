"""The methods paragraphs: what a paper or a report to a client has to say about how these numbers were made."""

from __future__ import annotations

from dataclasses import dataclass

from evalkit import __version__
from evalkit.campaign.agreement import Agreement
from evalkit.campaign.analysis import Analysis
from evalkit.campaign.annotators import Screening
from evalkit.campaign.method import EVEN, OWN_LINES, Method
from evalkit.campaign.missing import Missing
from evalkit.campaign.paperwork import citing, collected
from evalkit.campaign.paperwork.citing import cite
from evalkit.campaign.paperwork.markup import escaped
from evalkit.campaign.paperwork.protocol import protocol_of
from evalkit.campaign.paperwork.references import REFERENCES
from evalkit.campaign.plan import Plan
from evalkit.campaign.quality import FEWEST_DEGRADED, RAW, Calibration, QualityControl
from evalkit.campaign.ranking import Ranking
from evalkit.human.annotators import Rule
from evalkit.human.ranking import rules
from evalkit.stats.terms import join_names, pluralize


@dataclass(frozen=True)
class Methods:
    """The methods, told three ways; a citation in one of them is in all.

    paragraphs: plain text. markdown, latex: the same, names escaped, paragraphs cut by empty lines; LaTeX cites by
    key. references: the works cited, as a list says them. bibliography: the same works as ``references.bibtex``
    takes them.
    """

    paragraphs: list[str]
    markdown: str
    latex: str
    references: list[str]
    bibliography: list[dict[str, str]]

    @property
    def text(self) -> str:
        """The paragraphs as one text."""
        return "\n\n".join(self.paragraphs)

    @property
    def recorded(self) -> dict[str, object]:
        """What a report records, so that exports need nothing else."""
        return {"text": self.text, **vars(self)}


def methods(found: Analysis, *, resamples: int, seed: int) -> Methods:
    """Write the methods; only what was done in this run is in them, and what no file tells is a blank.

    resamples, seed: random draws of this run. The signature belongs at the end: exports add it.
    """
    campaign, collection = found.campaign, found.collection
    parts = [
        [collected.judgements(campaign, collection), collected.protocol(campaign, protocol_of(campaign))],
        [collected.reading(campaign), collected.kinds(collection)],
        [scoring(found.ranking), testing(found.ranking), drawing(found.ranking), _calibration(found.calibration)],
        [agreement(found.agreement), control(found.quality), screening(found.screening)],
        [_plan(found.plan), f"Random draws begin from seed {seed}. All analyses were made with evalkit {__version__}."],
    ]
    marked = [" ".join(filter(None, part)) for part in parts if any(part)]
    keys = citing.cited("\n".join(marked))
    lines = [f"- {escaped(REFERENCES[key].text)}" for key in keys]
    return Methods(
        paragraphs=[citing.plain(part) for part in marked],
        markdown="\n\n".join([*(citing.markdown(part) for part in marked), *(["\n".join(lines)] if lines else [])]),
        latex="\n\n".join(citing.latex(part) for part in marked),
        references=[REFERENCES[key].text for key in keys],
        bibliography=[REFERENCES[key].entry(key) for key in keys],
    )


def scoring(ranking: Ranking | Missing) -> str:
    """Say how judgements become scores of systems."""
    if not ranking or len(ranking.names) < 2:
        return ""
    text = "Systems are ranked by mean scores: judgements are averaged by segment, then segments by system."
    if ranking.standing:
        return _strengths(ranking)
    if ranking.method.by_z:
        text = "Systems are ranked by z-scores: each annotator's scores less the mean of all their scores, over their "
        text += f"standard deviation {cite('graham2013')}, averaged by segment, then by system."
    if ranking.method.score == "adjusted":
        text = "Systems are ranked by adjusted mean scores: each annotator's strictness, estimated by a mixed model "
        text += (
            f"of systems, segments and annotators {cite('henderson1975')}, is subtracted from their scores, which are "
        )
        text += "averaged by segment, then by system."
    if ranking.method.kept < EVEN:
        text += f" The smallest efficiency factor of the annotators × systems design is {ranking.method.kept:.2f} "
        text += f"{cite('james1971')}."
    return text


def _strengths(ranking: Ranking) -> str:
    """Say how comparisons become a ranking."""
    fitted = ranking.standing.fitted if ranking.standing else None
    ties = (
        f"ties modelled after Davidson {cite('davidson1970')}" if fitted and fitted.model.ties != "half" else "no ties"
    )
    place = " and the effect of standing first on the screen taken out" if fitted and len(fitted.place) else ""
    prior = " A weak prior keeps strengths finite where a system never lost." if fitted and fitted.model.spread else ""
    return (
        f"Systems are ranked by strengths fitted to comparisons {cite('bradley1952')}, with {ties}{place}. A score is "
        f"the share of comparisons that a system would win against all others, a tie counting half.{prior}"
    )


def testing(ranking: Ranking | Missing) -> str:
    """Say how systems are compared, and what that gave for the first two."""
    if not ranking or len(ranking.names) < 2:
        return ""
    humans = join_names(ranking.humans["system"]) if len(ranking.humans) else ""
    works = ["liang1986", *(["cameron2011"] if len(ranking.method.unit) > 1 else []), "bell2002"]
    error = f"clustered by {ranking.method.drawn} and corrected for few of them {cite(*works)}"
    if ranking.standing:
        error = f"that of draws of {ranking.method.drawn} {cite('efron1993')}"
    return (
        f"Every two systems are compared by a t-test whose standard error is {error}, "
        f"one-sided at {ranking.method.alpha:g}, with p-values adjusted for the number of pairs "
        f"of systems {cite('holm1979')}; for {ranking.top} and {ranking.names[1]}, the first two, "
        f"p {'< 0.001' if ranking.p < 0.001 else f'= {ranking.p:.3f}'}. {_lines(ranking.method)}"
    ) + f" People's translations ({humans}) are shown beside the systems and take no place among them." * bool(humans)


def _lines(method: Method) -> str:
    """Say where a cluster ends, and by whose rule if it is not ours."""
    if method.lines == OWN_LINES:
        return "A cluster ends where all systems above are better than all below."
    rule = rules.named(method.lines)
    return (
        f"Clusters are those of the rule {rule.name} ({rule.source}): {rules.TESTS[rule.test]}, {rule.sides}; one ends "
        f"below a system if {rules.LINES[rule.line]}."
    )


def drawing(ranking: Ranking | Missing) -> str:
    """Say what is drawn anew for intervals, and why that."""
    if not ranking or len(ranking.names) < 2 or ranking.best is None:
        return ""
    method = ranking.method
    why = f"Why {method.drawn}: {method.why_unit}."
    if not ranking.standing:
        return (
            f"Intervals of scores are 95 % t intervals with standard errors clustered alike. Those of ranks are "
            f"percentiles of {ranking.resamples:,} normal draws whose differences spread as widely as theirs. {why}"
        )
    works = ["efron1993", *(["owen2007"] if len(method.unit) > 1 else [])]
    return (
        f"Intervals of scores and ranks are 95 % percentile bootstraps over {method.drawn}, {ranking.resamples:,} "
        f"draws {cite(*works)}, as wide as t intervals where these are few. {why}"
    )


def agreement(found: Agreement | Missing) -> str:
    """Say how far annotators agree, by which coefficients, or why that is not known."""
    if not found or found.estimate is None:
        why = found.reason.rstrip(".") or "too few items"
        return f"Agreement between annotators could not be estimated: {why}."
    text = (
        f"Agreement on {pluralize(found.items, 'item')} judged by two annotators or more is Krippendorff's alpha, "
        f"{found.level} {cite('krippendorff2011')}, {found.estimate:.2f}, 95 % bootstrap interval over items "
        f"{found.low:.2f} to {found.high:.2f}."
    )
    for row in found.measures.itertuples():
        if str(row.coefficient).startswith("Gwet") and row.estimate == row.estimate:
            text += f" {row.coefficient} {cite('gwet2008')} is {row.estimate:.2f}."
    return text


def control(quality: QualityControl | Missing) -> str:
    """Say what the items show that check annotators."""
    parts: list[str] = []
    if not quality:
        return ""
    if quality.tested:
        parts.append(
            f"One-sided paired t-tests at 0.05 of degraded items against their originals {cite('knowles2024')} were "
            f"made for {pluralize(quality.tested, 'annotator')}; {len(quality.failed)} with {FEWEST_DEGRADED} degraded "
            f"items or more did not pass{'; those who failed seem to have been removed before' * quality.removed}."
        )
    if quality.again is not None:
        parts.append(f"Second scores of an item lie {quality.again:.1f} points of 100 from the first in the median.")
    return " ".join(parts)


def screening(found: Screening | Missing) -> str:
    """Say whom rules named, and that nobody was left out."""
    if not found or not found.rules:
        return ""
    rules = [Rule.parse(rule).in_words for rule in found.rules]
    return (
        f"{pluralize(len(found.rules), 'rule')} ({'; '.join(rules)}) named {len(found.proposed)} of "
        f"{pluralize(found.annotators, 'annotator')} to look at; nobody's judgements were left out."
    )


def _calibration(calibration: Calibration | Missing) -> str:
    if not calibration or calibration.systems.empty:
        return ""
    forms = join_names(form for form in calibration.systems["form"].unique() if form != RAW)
    whom = {"annotator": "annotators", "pair": "language pairs"}[calibration.by]
    return f"Scores of systems are also calibrated by items that {whom} have in common ({forms}) {cite('licht2022')}."


def _plan(plan: Plan | Missing) -> str:
    if not plan:
        return ""
    units = "annotators" if plan.basis.over_annotators else "documents"
    return (
        f"The number of judgements needed follows from variance components {cite('henderson1953')} and the power of a "
        f"two-sided paired t-test over {units}."
    )
