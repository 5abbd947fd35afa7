"""Answers to the Human Evaluation Datasheet as far as a campaign's data know them; visible blanks for the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evalkit import __version__
from evalkit.campaign.analysis import Analysis
from evalkit.campaign.paperwork import collected
from evalkit.campaign.paperwork import methods as told
from evalkit.campaign.paperwork.citing import plain
from evalkit.campaign.paperwork.heds import QUESTIONS, SOURCE, TEMPLATE
from evalkit.campaign.paperwork.protocol import ESA, MQM, PREFERENCES, XSTS, Protocol, protocol_of
from evalkit.campaign.plan import POWER
from evalkit.data.provenance import source_of
from evalkit.stats.terms import join_names, pluralize

#: Questions to which what the data know is the whole answer.
_WHOLE = {
    "2.3",
    "2.4",
    "2.5",
    "3.1.1",
    "3.2.1",
    "4.1.2",
    "4.1.3",
    "4.2.1",
    "4.2.2",
    "4.2.3",
    "4.3.1",
    "4.3.4",
    "4.3.6",
    "4.3.8",
    "4.3.9",
    "4.3.10",
    "4.3.11",
}
_UNKNOWN_LANGUAGE = "und"


@dataclass(frozen=True)
class Datasheet:
    """The datasheet of a campaign.

    rows: one a question, in the template's order; of section 4, one a question and criterion: number, criterion,
    question, known (from the data, or ""), blank (what is to be filled in, or "").
    """

    rows: list[dict[str, str]]

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many questions the data answer, answer in part, and leave blank."""
        full = sum(bool(row["known"]) and not row["blank"] for row in self.rows)
        part = sum(bool(row["known"]) and bool(row["blank"]) for row in self.rows)
        return full, part, len(self.rows) - full - part

    @property
    def summary(self) -> str:
        """Say the counts in a sentence."""
        full, part, none = self.counts
        return (
            f"Of {pluralize(len(self.rows), 'question')} of the human evaluation datasheet ({TEMPLATE}), the data "
            f"answer {full} and {part} in part; {none} are to be filled in."
        )

    @property
    def recorded(self) -> dict[str, object]:
        """What a report records, so that exports need nothing else."""
        return {"template": TEMPLATE, "source": SOURCE, "summary": self.summary, "answers": self.rows}


def datasheet(found: Analysis) -> Datasheet:
    """Answer the datasheet from what was found, and name what is to be filled in.

    Of several criteria, the one in detail is answered; the others leave blanks that say how to get a report of theirs.
    """
    campaign = found.campaign
    protocol = protocol_of(campaign)
    known = {number: plain(answer(found, protocol)).strip() for number, answer in _ANSWERS.items()}
    rows = [_row(number, known.get(number, "")) for number in QUESTIONS if not number.startswith("4")]
    criteria = campaign.criteria or [campaign.criterion]
    of_criterion = []
    for name in criteria:
        own = name == campaign.criterion
        other = {"4.3.1": name} if not own else known
        hint = "" if own else f"; for what the data know, run this report with -p criterion={name}"
        of_criterion += [
            _row(number, other.get(number, ""), criterion=name, hint=hint)
            for number in QUESTIONS
            if number.startswith("4")
        ]
    place = next(place for place, row in enumerate(rows) if row["number"].startswith("5"))
    return Datasheet([*rows[:place], *of_criterion, *rows[place:]])


def _row(number: str, known: str, *, criterion: str = "", hint: str = "") -> dict[str, str]:
    """Put a question, what is known, and what is not, into a row."""
    question = QUESTIONS[number]
    whole = known and number in _WHOLE
    return {
        "number": number,
        "criterion": criterion,
        "question": question.label,
        "known": known,
        "blank": "" if whole else f"{question.hint}{hint}",
    }


def _resources(found: Analysis, _: Protocol) -> str:
    source = source_of(found.campaign.ratings)
    kind = {"real": "", "published": " (numbers as printed)", "simulated": " (SIMULATED, not real data)"}
    return (
        f"Judgements: {source['name']}{kind[source['source']]}, {source['digest']}. Analyses: evalkit {__version__}, "
        "with the settings of the signature above."
    )


def _input(found: Analysis, _: Protocol) -> str:
    documents = found.campaign.judged["doc"].nunique()
    of = f" of {pluralize(documents, 'document')}" if documents > 1 else ""
    return f"Text, judged in {pluralize(found.collection.segments, 'segment')}{of}."


def _output(found: Analysis, _: Protocol) -> str:
    there = found.campaign.part["item_type"].eq("reference").any()
    return "Text" + "; translations by people (references) were judged, too" * bool(there) + "."


def _languages(found: Analysis, side: str) -> str:
    codes = sorted(set(found.campaign.part[side].astype("str")) - {_UNKNOWN_LANGUAGE})
    return join_names(codes)


def _outputs(found: Analysis, _: Protocol) -> str:
    table = found.collection.systems
    if not len(table):
        return ""
    fewest, most = int(table["segments"].min()), int(table["segments"].max())
    each = f"{most:,} each" if fewest == most else f"{fewest:,} to {most:,}"
    return f"{each}, of {pluralize(len(table), 'system')} (segments with a judgement, {found.campaign.pair})."


def _power(found: Analysis, _: Protocol) -> str:
    plan = found.plan
    if not plan:
        return ""
    now, gap = int(plan.table["segments_now"].iloc[0]), abs(plan.gap)
    text = f"The two best systems are {gap:.2f} points apart; to find a true difference of this size with a power of "
    text += f"{POWER:.0%} (two-sided, 0.05) takes "
    text += f"{plan.needed:,} segments" if plan.needed is not None else "more segments than a campaign can have"
    return f"{text}; there are {now:,}. The power follows from variance components of these judgements."


def _people(found: Analysis, _: Protocol) -> str:
    if not found.campaign.names_people:
        return ""
    own, all_pairs = found.campaign.part["annotator"].nunique(), found.campaign.ratings["annotator"].nunique()
    more = f", {all_pairs:,} in all language pairs of the file" if all_pairs > own else ""
    return f"{own:,} (accounts or names in the file, {found.campaign.pair}{more})."


def _tool(_: Analysis, protocol: Protocol) -> str:
    return f"With {protocol.tool}, by the file's format." if protocol.tool else ""


def _assurance(found: Analysis, _: Protocol) -> str:
    parts = [told.control(found.quality), told.screening(found.screening)]
    return " ".join(filter(None, [collected.kinds(found.collection), *parts]))


def _pace(found: Analysis, _: Protocol) -> str:
    if not found.cost:
        return ""
    seconds = found.cost.by_annotator["mean_seconds"].median()
    return f"The median annotator took {seconds:.0f} seconds for a judgement ({found.cost.how})."


def _size(found: Analysis, protocol: Protocol) -> str:
    if protocol.name == MQM:
        return "No scale: scores are made of marked errors."
    return f"{pluralize(found.campaign.steps, 'different score')} were given."


def _values(found: Analysis, protocol: Protocol) -> str:
    low, high = found.campaign.scale
    if protocol.name == MQM:
        return f"N/A; scores made of marked errors run from {low:g} to {high:g}."
    ends = f"{low:g} to {high:g}"
    return f"{ends}." if found.campaign.known_scale else f"{ends}: the lowest and the highest score given."


def _task(_: Analysis, protocol: Protocol) -> str:
    tasks = {
        MQM: "Annotators mark errors; recorded are place, severity and, where stated, category of each.",
        PREFERENCES: "Annotators compare two translations; recorded is which is better, or a tie.",
    }
    return tasks.get(protocol.name, "N/A: there is a scale.")


def _form(_: Analysis, protocol: Protocol) -> str:
    forms = {
        MQM: "Annotation: errors are marked in the output.",
        PREFERENCES: "Relative quality estimation.",
        ESA: "Annotation (errors are marked in the output), then direct quality estimation.",
    }
    return forms.get(protocol.name, "Direct quality estimation.")


def _scores(found: Analysis, protocol: Protocol) -> str:
    weights = f"Weights of errors: {protocol.weights}." if protocol.weights else ""
    return " ".join(filter(None, [weights, told.scoring(found.ranking)]))


def _significance(found: Analysis, _: Protocol) -> str:
    return " ".join(filter(None, [told.testing(found.ranking), told.drawing(found.ranking)]))


def _agreement(found: Analysis, _: Protocol) -> str:
    again = found.quality.again if found.quality else None
    within = (
        "" if again is None else f" Second scores of an item lie {again:.1f} points of 100 from the first (median)."
    )
    return told.agreement(found.agreement) + within


#: What the data can know, by question.
_ANSWERS: dict[str, Callable[[Analysis, Protocol], str]] = {
    "1.2": _resources,
    "2.1": _input,
    "2.2": _output,
    "2.3": lambda *_: "Machine translation.",
    "2.4": lambda found, _: _languages(found, "src_lang"),
    "2.5": lambda found, _: _languages(found, "tgt_lang"),
    "3.1.1": _outputs,
    "3.1.3": _power,
    "3.2.1": _people,
    "3.3.2": _tool,
    "3.3.3": _assurance,
    "3.3.5": _pace,
    "4.1.2": lambda _, protocol: "Content." if protocol.name == XSTS else "",
    "4.1.3": lambda _, protocol: "Relative to the input." if protocol.name == XSTS else "",
    "4.2.1": lambda *_: "Subjective: the judgement of each annotator.",
    "4.2.2": lambda _, protocol: "Relative." if protocol.beside else "" if not protocol.name else "Absolute.",
    "4.2.3": lambda *_: "Intrinsic: the outputs themselves are judged.",
    "4.3.1": lambda found, _: found.campaign.criterion,
    "4.3.3": _size,
    "4.3.4": _values,
    "4.3.6": _task,
    "4.3.8": _form,
    "4.3.9": _scores,
    "4.3.10": _significance,
    "4.3.11": _agreement,
}
