"""Which metrics of Sai et al. 2023 words and characters alone cannot give: what each needs, and what computes it then.

What the authors took is in the notebook in their repository (``legacy/code/evaluate.ipynb``), whose cells are
given. No weights are kept here: they are large, and not ours to pass on.
"""

from __future__ import annotations

from typing import NamedTuple

from evalkit import DataError


class Need(NamedTuple):
    """What a metric lacks: the cause in a few words, what exactly is missing, what is done with it, and by whom."""

    lacking: str
    missing: str
    then: str
    cells: str = ""


_MODULES = "evalkit.neural."
#: A figure of the notebook names the vectors; the code that used them is not released.
_FASTTEXT = Need(
    "needs word vectors",
    "word vectors of each language, such as IndicFT",
    f"{_MODULES}vectors.scores computes it with them",
    "cell 41",
)


def _weights(of: str, cells: str = "") -> Need:
    then = f"{_MODULES}pretrained.scores computes it with them"
    return Need("needs a neural model", f"the weights of {of}", then, cells)


def _trained(start: str) -> Need:
    then = f"{_MODULES}comet trains it with a GPU"
    return Need("needs a neural model to be trained", f"{start} trained on part of these data", then)


#: metric, as it is called here -> what it needs.
NEEDS = {
    "EA": _FASTTEXT,
    "VE": _FASTTEXT,
    "GM": _FASTTEXT,
    "LASER": _weights("LASER, as the package laserembeddings loads them", "cells 72 and 73"),
    "LaBSE": _weights("sentence-transformers/LaBSE", "cell 78"),
    "mBERT": _weights("bert-base-multilingual-cased", "cell 52"),
    "distilmBERT": _weights("distilbert-base-multilingual-cased", "cell 55"),
    "IndicBERT": _weights("ai4bharat/indic-bert, of which four layers are used", "cell 46"),
    "MuRIL": _weights("google/muril-base-cased, of which four layers are used", "cell 49"),
    "PRISM": Need(
        "needs a neural model",
        "the weights m39v1 and the package prism with its PyTorch 1.4, which this Python cannot install",
        "evalkit.papers.sai2023.given.table1 takes scores computed elsewhere",
        "cells 62 to 64",
    ),
    "BLEURT-20": _weights("BLEURT-20", "cell 68"),
    "COMET-DA": _weights("Unbabel/wmt20-comet-da", "cell 58"),
    "COMET-MQM": _weights("wmt21-comet-mqm", "cell 58"),
    "COMET-QE-DA": _weights("Unbabel/wmt20-comet-qe-da"),
    "COMET-QE-MQM": _weights("wmt21-comet-qe-mqm"),
    "IndicCOMET-XLM": _trained("XLM-RoBERTa"),
    "IndicCOMET-DA": _trained("COMET-DA"),
    "IndicCOMET-MQM": _trained("COMET-MQM"),
}
#: How the tables spell these metrics -> what they are called here.
SPELT = {
    **{name: name for name in NEEDS},
    "Vector Extrema": "VE",
    "LASER embs": "LASER",
    "LabSE embs": "LaBSE",
    "LabSE": "LaBSE",
    "MurIL": "MuRIL",
    "COMET": "COMET-DA",
    "COMETDA": "COMET-DA",
    "COMETMQM": "COMET-MQM",
    "IndicCOMETXLM": "IndicCOMET-XLM",
    "IndicCOMETDA": "IndicCOMET-DA",
    "IndicCOMETMQM": "IndicCOMET-MQM",
}


def lacking(metric: str) -> tuple[str, str]:
    """Say why a metric is not computed: the cause in a few words, and a note with what is missing and where it goes.

    metric: as printed in Tables 1, 2, 3, 4, 8 or 10, or as called here. Raises DataError for any other.

    >>> cause, note = lacking("LabSE embs")
    >>> cause
    'needs a neural model'
    >>> print(note)
    Needs the weights of sentence-transformers/LaBSE (cell 78 of the authors' notebook);
    evalkit.neural.pretrained.scores computes it with them.
    """
    if metric not in SPELT:
        raise DataError(f"Nothing is known of what {metric!r} needs. Choose among {', '.join(SPELT)}.")
    need = NEEDS[SPELT[metric]]
    cells = f" ({need.cells} of the authors' notebook)" if need.cells else ""
    return need.lacking, f"Needs {need.missing}{cells}; {need.then}."
