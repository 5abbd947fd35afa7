"""The methods paragraphs: what a paper or a report to a client has to say about how these numbers were made.

What no file tells stands there as a blank in square brackets, for the author to fill in.
"""

import re
from collections.abc import Iterator

from evalkit import __version__
from evalkit.campaign.agreement import Agreement
from evalkit.campaign.analysis import Analysis
from evalkit.campaign.annotators import Screening
from evalkit.campaign.collection import KINDS, Collection, of_judged
from evalkit.campaign.findings import WORDING, Finding, Missing, Result, finding, which
from evalkit.campaign.method import EVEN, OWN_LINES
from evalkit.campaign.opening import Campaign
from evalkit.campaign.paperwork import markup
from evalkit.campaign.quality import FEWEST_DEGRADED, RAW, Calibration, QualityControl
from evalkit.campaign.ranking import Ranking
from evalkit.data import registry
from evalkit.data.importing import together
from evalkit.data.provenance import reading_of, source_of
from evalkit.data.schemas import UNSTATED
from evalkit.data.typology import WMT
from evalkit.human.ranking import rules

_APART = ("excluded: ", "rejected: ")
ESA, MQM, DA, XSTS, PREFERENCES, UNKNOWN = "ESA", "MQM", "DA", "XSTS", "preferences", ""
#: What a format, or the module that loads a registered data set, says of the protocol.
_BY_FORMAT = {"xsts": XSTS, "mturk-da": DA, "appraise": DA, "preferences": PREFERENCES, "mqm": MQM}
_BY_FORMAT |= {"esa": ESA, "wmt25": ESA, "mturk": DA, "indicmt": MQM}


class Methods(Result):
    """The methods, told two ways; a citation in one of them is in both.

    paragraphs: plain text. latex: the same, names escaped, paragraphs cut by empty lines, works cited by key.
    references: the works cited, as a list says them. works: their keys in ``references.bib``.
    text: the paragraphs as one. recorded: what a report records, so that exports need nothing else.
    """


class Protocol(Result):
    """How judgements were made.

    name: one of those above; UNKNOWN where the data do not tell. tool: whose export the file is, or "". marked: errors
    in the judgements that rank systems. severities: of them, the most frequent first. typed: whether they have
    categories. weights: what they weigh, as the import told. beside: whether outputs of several systems were judged on
    one screen.
    """


def methods(found: Analysis, *, resamples: int, seed: int) -> Methods:
    """Write the methods; only what was done in this run is in them, and what no file tells is a blank.

    resamples, seed: random draws of this run. The signature belongs at the end: exports add it.
    """
    campaign = found.campaign
    parts = [
        [*_judged(campaign, found.collection), *_protocol(campaign, protocol_of(campaign))],
        [*_read(campaign), *kinds(found.collection)],
        [*scoring(found.ranking), *testing(found.ranking), *_calibrated(found.calibration)],
        [*agreement(found.agreement), *control(found.quality), *screening(found.screening)],
        [*which("methods", found.plan, plan=found.plan), finding("methods.seed", seed=seed, version=__version__)],
    ]
    marked = [joined(part) for part in parts if part]
    works = markup.cited("\n".join(marked))
    paragraphs = [markup.plain(part) for part in marked]
    told = {"text": "\n\n".join(paragraphs), "paragraphs": paragraphs, "latex": "\n\n".join(map(markup.latex, marked))}
    recorded = {**told, "references": markup.works(" ".join(works)), "works": works}
    return Methods(**recorded, recorded=recorded)


def joined(findings: list[Finding]) -> str:
    """Join sentences, with the marks of their citations, as a paragraph."""
    return " ".join(str(one) for one in findings)


def _judged(campaign: Campaign, collection: Collection) -> Iterator[Finding]:
    """Say who judged what, on which scale."""
    values = {"people": campaign.judged["annotator"].nunique(), "share": collection.judged / max(collection.cells, 1)}
    yield finding("methods.judged", campaign=campaign, collection=collection, **values)
    yield from which("methods", campaign, criteria=len(campaign.criteria) > 1)


def _protocol(campaign: Campaign, found: Protocol) -> Iterator[Finding]:
    """Say how a judgement was made: by the protocol's own description, where the data tell which it was."""
    if found.name == MQM:
        yield finding("protocol.mqm", found=found, wmt=found.weights.startswith(WMT))
        yield from which("protocol", found, marked=found.marked)
        weights = markup.with_marks(found.weights)
        yield finding("protocol.weights" if weights else "protocol.no_weights", weights=weights)
    elif found.name == PREFERENCES:
        scores, middle = campaign.judged["score"], sum(campaign.scale) / 2
        degrees = not scores.isin([*campaign.scale, middle]).all()
        key = "ranks" if not campaign.compares else "degrees" if degrees else "choices"
        yield finding(f"protocol.{key}", ties=scores.eq(middle).any())
    else:
        yield finding(f"protocol.{found.name.lower() or 'unknown'}", found=found)
    yield from which("protocol", found, beside=found.beside, tool=True)


def _read(campaign: Campaign) -> Iterator[Finding]:
    """Say how the file was read: what was left out, how segments were found, what was assumed."""
    receipt = {what: str(how) for what, how in reading_of(campaign.ratings).get("receipt", {}).items()}
    scale, way = receipt.get("scale", ""), receipt.get("orientation", "")
    said = {
        "rows": receipt.get("rows"),
        "apart": [
            f"{how} {together(what.partition(': ')[2])}" for what, how in receipt.items() if what.startswith(_APART)
        ],
        "scale": scale.partition(" (")[0] if "proposed from the data" in scale else "",
        "orientation": way.rstrip(".") if way.startswith("lower") else "",
        "segments": _without_advice(receipt.get("segments", "")).rstrip("."),
        "judges": receipt.get("automatic judges"),
    }
    return which("reading", campaign, **said)


def _without_advice(text: str) -> str:
    """Leave out sentences that tell the user of an import what to pass to it.

    >>> _without_advice("A segment is a position. Put the JSON beside it, or pass --map segment=item_i.")
    'A segment is a position.'
    """
    return " ".join(one for one in re.split(r"(?<=\.)\s+(?=[A-Z])", text) if " --" not in one)


def kinds(collection: Collection) -> Iterator[Finding]:
    """Say what was judged beside outputs of systems."""
    others = collection.kinds[collection.kinds["kind"].ne(KINDS["system"])]
    return which("reading", collection, kinds=[f"{row.judgements:,} of {row.kind}" for row in others.itertuples()])


def scoring(ranking: Ranking | Missing) -> Iterator[Finding]:
    """Say how judgements become scores of systems."""
    if not ranking or len(ranking.names) < 2:
        return
    if ranking.standing:
        fitted = ranking.standing.fitted
        yield finding("scoring.strengths", fitted=fitted, ties=fitted.model.ties != "half")
        return
    yield finding(f"scoring.{ranking.method.score}")
    yield from which("scoring", ranking, kept=ranking.method.kept < EVEN)


def testing(ranking: Ranking | Missing) -> Iterator[Finding]:
    """Say how systems are compared, what that gave for the first two, and what is drawn anew for intervals."""
    if not ranking or len(ranking.names) < 2:
        return
    twice = len(ranking.method.unit) > 1
    yield finding("testing.pairs", found=ranking, twice=twice)
    if ranking.method.lines == OWN_LINES:
        yield finding("testing.own_lines")
    else:
        rule = rules.named(ranking.method.lines)
        yield finding("testing.lines", rule=rule, test=rules.TESTS[rule.test], line=rules.LINES[rule.line])
    yield from which("testing", ranking, humans=len(ranking.humans))
    if ranking.best is not None:
        yield finding("drawing.bootstrap" if ranking.standing else "drawing.normal", found=ranking, crossed=twice)
        yield finding("drawing.why", found=ranking)


def agreement(found: Agreement | Missing) -> Iterator[Finding]:
    """Say how far annotators agree, by which coefficients, or why that is not known."""
    if not found or found.estimate is None:
        yield finding("agreeing.unknown", why=found.reason.rstrip(".") or "too few items")
        return
    yield finding("agreeing.alpha", found=found)
    for row in found.measures.itertuples():
        if str(row.coefficient).startswith("Gwet") and row.estimate == row.estimate:
            yield finding("agreeing.gwet", row=row)


def control(quality: QualityControl | Missing) -> Iterator[Finding]:
    """Say what the items show that check annotators."""
    if not quality:
        return
    if quality.tested:
        yield finding("checking.attention", found=quality, fewest=FEWEST_DEGRADED)
    yield from again(quality)


def again(quality: QualityControl | Missing) -> Iterator[Finding]:
    """Say how far second scores are from the first."""
    if quality and quality.again is not None:
        yield finding("checking.again", found=quality)


def screening(found: Screening | Missing) -> Iterator[Finding]:
    """Say whom rules named, and that nobody was left out."""
    if found and found.rules:
        yield finding("checking.rules", found=found, words=[found.cells["rule"][rule] for rule in found.rules])


def _calibrated(calibration: Calibration | Missing) -> Iterator[Finding]:
    if calibration and len(calibration.systems):
        forms = [form for form in calibration.systems["form"].unique() if form != RAW]
        yield finding("methods.calibrated", found=calibration, forms=forms)


def protocol_of(campaign: Campaign) -> Protocol:
    """Say by which protocol a campaign was judged, and what of it the data tell."""
    reading = reading_of(campaign.ratings)
    weights = str(reading.get("receipt", {}).get("weights", ""))
    format = str(reading.get("format", "")) or _registered(campaign)
    marked = of_judged(campaign)
    name = _BY_FORMAT.get(format, UNKNOWN)
    if weights:
        name = MQM
    elif len(marked) and name not in (MQM, PREFERENCES):
        name = ESA
    said = marked.reindex(columns=["severity", "error_type"]).astype("str")
    severities = said["severity"].value_counts().index.drop(UNSTATED, errors="ignore")
    typed = bool(said["error_type"].ne(UNSTATED).any())
    what = {"marked": len(marked), "severities": tuple(severities), "typed": typed, "weights": weights}
    return Protocol(name=name, tool=WORDING["tools"].get(format, ""), beside=_beside(campaign), **what)


def _registered(campaign: Campaign) -> str:
    """Name the module that loads the registered data set of the example; "" for a file of one's own."""
    entry = registry.entries().get(source_of(campaign.ratings)["name"]) if campaign.example else None
    return entry.loader.partition(".")[0] if entry else ""


def _beside(campaign: Campaign) -> bool:
    """Tell whether outputs of several systems were judged on one screen: as pairs, or most screens hold several."""
    judged = campaign.judged
    if "against" in judged:
        return True
    if reading_of(campaign.ratings).get("format") != "pearmut" or "hit" not in judged or judged.empty:
        return False
    screens = judged.groupby(["annotator", "hit", "doc", "segment"], observed=True)["system"].nunique()
    return bool((screens > 1).mean() > 0.5)
