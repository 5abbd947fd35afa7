"""Know automatic metrics by their names, and which way their scores are better; in doubt, ask."""

from __future__ import annotations

import numpy as np

from evalkit import DataError
from evalkit.data.importing.cells import columns
from evalkit.data.importing.cells.columns import vocabulary
from evalkit.data.importing.cells.orientation import kind

#: Names that are told wherever they stand in a heading, written small and without marks.
_ANYWHERE = ("comet", "bleu", "chrf", "metricx", "bertscore", "yisi", "gemba", "matese", "sescore", "bartscore")
#: Names that are whole words of a heading.
_WORDS = vocabulary("ter kiwi prism unite nist rouge gleu ribes meteor cider hlepor lepor xlsim mee cder blaser laser")
#: Metrics that count errors, as their makers write them: the lower, the better.
_ERRORS = ("metricx", "matese")


class Undirected(DataError):
    """Nothing says which way a metric is better. name: the metric's; ask: what to write, but for the sign."""

    def __init__(self, name: str, ask: str) -> None:
        super().__init__(
            f"Nothing says whether higher or lower scores of {name} are better. Write {ask}+ where higher is better, "
            f"{ask}- where lower is."
        )
        self.name = name


def is_metric(heading: str) -> bool:
    """Tell whether a heading has the name of a well-known automatic metric.

    >>> [name for name in ("COMET-22", "chrF++", "TER", "HTER", "wmt22_comet_da", "score", "MetricX-24") if
    ...  is_metric(name)]  # HTER is made by people
    ['COMET-22', 'chrF++', 'TER', 'wmt22_comet_da', 'MetricX-24']
    """
    bare = columns.plain(heading)
    return any(name in bare for name in _ANYWHERE) or bool("hter" not in bare and _WORDS & {*columns.words(heading)})


def orientation(name: str, values: np.ndarray, *, told: bool | None = None, kept: bool = False) -> tuple[bool, str]:
    """Tell whether lower is better by a metric, and how that is known.

    values: its scores, NaN where there is none. told: what the user says, which decides. kept: they stand in
    mt-metrics-eval's layout, which keeps scores so that higher is better.
    Raises DataError that asks, where nothing says it.

    >>> scores = np.array([1.0, 4.0])
    >>> orientation("TER", scores), orientation("MetricX-23", -scores)[0], orientation("COMET", scores)[0]
    ((True, 'lower is better, because its name says errors'), False, False)
    """
    if told is not None:
        return told, f"{'lower' if told else 'higher'} is better, as told"
    there = values[np.isfinite(values) & (values != 0)]
    negative = bool(there.size) and float(np.median(there)) < 0
    errors = kind(name) in ("penalty", "rank") or any(one in columns.plain(name) for one in _ERRORS)
    errors = errors and "mbr" not in columns.words(name)  # decoding by a metric's expected value: a gain
    if errors and negative:
        return False, "higher is better: its name says errors, and most of its scores are negative, so they were turned"
    if errors:
        return True, "lower is better, because its name says errors"
    if kept:
        return False, "higher is better, as mt-metrics-eval keeps scores"
    if is_metric(name) and not ("mqm" in columns.words(name) and not negative):
        return False, "higher is better, by its name"
    raise Undirected(name, f"--metric {name}")


def signed(text: str) -> tuple[str, bool | None]:
    """Part a name from the sign after it: + for higher, - for lower is better; a well-known name keeps its signs.

    >>> signed("ter-"), signed("quality+"), signed("chrF++"), signed("comet")
    (('ter', True), ('quality', False), ('chrF++', None), ('comet', None))
    """
    if text[-1:] in ("+", "-") and text[:-1].strip() and text[-2:] != "++":
        return text[:-1].strip(), text.endswith("-")
    return text, None
