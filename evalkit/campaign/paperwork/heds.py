"""The questions of the Human Evaluation Datasheet, version 2, by number: short labels and hints in our own words.

Source: Shimorina & Belz 2022, The Human Evaluation Datasheet: A Template for Recording Details of Human Evaluation
Experiments in NLP (HumEval). Section 4 is answered once for each quality criterion.
"""

from __future__ import annotations

from dataclasses import dataclass

TEMPLATE = "HEDS 2.0"
SOURCE = (
    "Shimorina, A. and Belz, A. (2022). The Human Evaluation Datasheet: A Template for Recording Details of Human "
    "Evaluation Experiments in NLP. Proceedings of the 2nd Workshop on Human Evaluation of NLP Systems (HumEval), "
    "54–75. https://aclanthology.org/2022.humeval-1.6"
)
#: Number of a section -> what it is about.
SECTIONS = {
    "1": "Paper and resources",
    "2": "Systems",
    "3.1": "Sample of outputs",
    "3.2": "Evaluators",
    "3.3": "Experimental design",
    "4.1": "What quality is judged",
    "4.2": "How it is judged",
    "4.3": "How responses are elicited",
    "5": "Ethics",
}


@dataclass(frozen=True)
class Question:
    """One question: number as in the template, label, and hint: what an answer says where the data do not tell it."""

    number: str
    label: str
    hint: str

    @property
    def section(self) -> str:
        """The number of its section.

        >>> QUESTIONS["3.2.1"].section, QUESTIONS["5.1"].section
        ('3.2', '5')
        """
        return self.number.rpartition(".")[0]


_TEXTS = {
    "1.1": ("Paper that reports the experiment", "a link, and which experiment of the paper; or “for preregistration”"),
    "1.2": ("Resources of the experiment", "a link to outputs, judgements and tools, or N/A"),
    "1.3": ("Contact", "name, affiliation and e-mail address of who fills this in, and of the contact author"),
    "2.1": ("Input of the systems", "whether systems translated sentences, several sentences or whole documents"),
    "2.2": ("Output of the systems", "whether outputs are sentences, several sentences or documents"),
    "2.3": ("Task", "what the systems do besides translating, if anything"),
    "2.4": ("Languages of the input", "the source languages"),
    "2.5": ("Languages of the output", "the target languages"),
    "3.1.1": ("Outputs judged of each system", "how many"),
    "3.1.2": ("How outputs were selected", "at random, stratified, by hand and by what, or all of a test set"),
    "3.1.3": ("Statistical power of the sample", "how power was computed, by which programme"),
    "3.2.1": ("Number of evaluators", "how many people"),
    "3.2.2": ("Kind of evaluators", "experts or not, paid or not, known to the authors or not, authors among them"),
    "3.2.3": ("How evaluators were recruited", "where and how; agencies or platforms, and their selection"),
    "3.2.4": ("Training and practice", "instructions, examples and practice before the first judgement"),
    "3.2.5": ("Other characteristics of evaluators", "native languages, qualification, experience"),
    "3.3.1": ("Preregistration", "whether, and in which registry"),
    "3.3.2": ("How responses were collected", "tool and version, address, or paper"),
    "3.3.3": ("Quality assurance", "requirements such as native speakers; who or what was left out before these data"),
    "3.3.4": ("What evaluators see", "screenshots, and how much context was shown"),
    "3.3.5": ("Freedom of when and how fast", "whether a judgement or a session had a time limit"),
    "3.3.6": ("Questions and feedback", "whether evaluators could ask, and were asked for comments"),
    "3.3.7": ("Conditions", "at a place of their own choosing, in a lab, or elsewhere"),
    "3.3.8": ("Conditions in detail", "only where the place was not the evaluators' own choice"),
    "4.1.1": ("Type of quality", "correctness, goodness, or a feature that is neither good nor bad"),
    "4.1.2": ("Aspect of the output", "form, content, or both"),
    "4.1.3": ("Frame of reference", "the output by itself, relative to its source, or to something else"),
    "4.2.1": ("Objective or subjective", "which"),
    "4.2.2": ("Absolute or relative", "which"),
    "4.2.3": ("Intrinsic or extrinsic", "which"),
    "4.3.1": ("Name of the criterion", "as evaluators read it, or N/A"),
    "4.3.2": ("Definition of the criterion", "as evaluators read it, or N/A"),
    "4.3.3": ("Size of the scale", "how many values an evaluator could choose from"),
    "4.3.4": ("Values of the scale", "list or range, and labels of steps"),
    "4.3.5": ("How the scale is presented", "choices, boxes, slider, or another form"),
    "4.3.6": ("Task where there is no scale", "what evaluators do instead"),
    "4.3.7": ("Question or instruction", "word for word, as on the screen"),
    "4.3.8": ("Form of response", "agreement with a statement, direct or relative estimate, counting, marking"),
    "4.3.9": ("From responses to scores", "what else was done to the scores that are reported"),
    "4.3.10": ("Effect size and significance", "which methods"),
    "4.3.11": ("Agreement between and within evaluators", "which measures, and their values"),
    "5.1": ("Ethics committee", "which approved the study, or why none was asked"),
    "5.2": ("Personal data", "whether outputs or responses hold any, and how they are protected"),
    "5.3": ("Special categories of data", "whether outputs or responses hold any, and how they are protected"),
    "5.4": ("Impact assessments", "which were carried out, and with what outcome"),
}
#: Number -> question, in the order of the template.
QUESTIONS = {number: Question(number, label, hint) for number, (label, hint) in _TEXTS.items()}
