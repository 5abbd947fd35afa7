"""Tell which columns hold scores, and what several of them are: systems, annotators or criteria."""

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing import metrics, numbers, scales, vocabulary
from evalkit.data.importing.judgements import is_check_heading
from evalkit.data.importing.options import ALIAS, WIDE, Options
from evalkit.data.importing.tables import Table
from evalkit.data.importing.vocabulary import is_criterion, is_metric, is_quality, listed, meaning, words

_PERSON = (
    r"(evaluator|rater|annotator|linguist|reviewer|judge|translator|evaluador|bewerter|évaluateur|annotateur|anotador"
    r"|hodnotitel)"
)
SCORE = r"(score|xsts|rating|note|bewertung)"
OF_PERSON = re.compile(rf"({SCORE}\W*_?)?{_PERSON}\W*_?.{{1,40}}|{ALIAS.pattern}", re.I)
_AFFIX = re.compile(rf"{SCORE}s?(?:\W|_)+|(?:\W|_)+{SCORE}s?", re.I)
_SOME, _MOST, _LARGEST = 0.2, 0.8, 1e5  # shares of cells that are numbers: with more than most, it may be scores
_NARROW, _ALIKE = 4, 5  # times that a scale is narrower than the others'; numbers that may be alike by chance
_STEPS, _WORD = 11, re.compile(r"[^\W\d_][^\W_]*(?:[ '’-][^\W_]+){0,5}")  # of a scale in words


@dataclass
class Layout:
    """Columns of scores, and what they are. role: system, annotator or criterion; "" where nothing says.

    columns: heading -> what it names. question: what is unclear, where role is "".
    """

    role: str
    columns: dict[str, str] = field(default_factory=dict)
    question: str = ""


def known(table: Table, options: Options) -> set[str | None]:
    """Name what a file's headings and the user give, without what the user says that no column gives."""
    unwanted = {ours for ours, theirs in options.columns.items() if not theirs}
    free = [name for name in table.header if name not in _metrics_of(table, options)]
    return ({meaning(name) for name in free} | {*options.columns, *options.values}) - unwanted


def _metrics_of(table: Table, options: Options) -> set[str]:
    return metrics.taken(options.metric_columns, table.header)


def layout(table: Table, options: Options) -> Layout | None:
    """Say which columns are scores of a wide table, and what they are; None where the table has one column of scores.

    Raises DataError where the user names columns that are not there, or says what none can be.
    """
    told = options.columns.get("score")
    have = known(table, options)
    if isinstance(told, list):
        vocabulary.demand_present(
            table.header, {f"score{place}": name for place, name in enumerate(told)}, origin=table.name
        )
        role = WIDE[options.wide] if options.wide else _by_others(told, have) or "annotator"
        return _named(role, told)
    if told:
        return None
    numeric = candidates(table, options)
    if options.wide:
        found = _as_told(table, options, numeric, have)
    else:
        found = None if "score" in have else _decided(table, numeric, have)
    if found and found.role != "criterion":
        _demand_neighbours(table, [*found.columns], options)
    return found


def _as_told(table: Table, options: Options, numeric: list[str], have: set[str | None]) -> Layout | None:
    """Take the columns of scores for what the user says they are."""
    assert options.wide
    if options.wide == "criteria":
        own = {name for name in table.header if meaning(name) == "score"} - _metrics_of(table, options)
        numeric = _without_flags(table, [name for name in table.header if name in numeric or name in own])
    if len(numeric) < 2 and {WIDE[options.wide], "score"} <= have:
        return None  # a form's questions were laid out as rows already
    if len(numeric) < 2:
        raise DataError(
            f"{table.name} has no two columns of scores that could be {options.wide}. Name them: --map "
            f"'score=HEADING+HEADING' --wide {options.wide}."
        )
    return _named(WIDE[options.wide], numeric)


def _demand_neighbours(table: Table, names: list[str], options: Options) -> None:
    """Raise DataError where a column that looks like those of scores cannot be used: a system or a person would go."""
    if any(re.fullmatch(r"[\d.,]+", name) for name in names):  # a row of values is no row of headings
        return
    people = all(OF_PERSON.fullmatch(name.strip()) for name in names)
    told = _single_columns(options) | _metrics_of(table, options)
    first, last = (table.header.index(name) for name in (names[0], names[-1]))
    for place, name in enumerate(table.header):
        other = name in told or meaning(name) or name in vocabulary.EXTRAS or is_check_heading(name)
        if place < first or name in names or other or is_metric(name) or {*words(name)} & listed("not_scores"):
            continue
        cells = table.judged(name)
        if len(cells) < _ALIKE or (people and not OF_PERSON.fullmatch(name.strip())):
            continue
        values = numbers.read(cells)[0]
        share = np.isfinite(values).mean()
        beside = f"{table.name}: the column {name!r} looks like those of scores ({', '.join(names[:3])}), but "
        if _SOME <= share <= _MOST:
            line, text = next((line, text) for line, text in cells[np.isnan(values)].items())
            raise DataError(
                f"{beside}{text[:40]!r} on line {line} is no score. Correct it, or write NA where there is no "
                "judgement."
            )
        if place < last and share > _MOST and (np.abs(values) < _LARGEST).all():
            raise DataError(
                f"{beside}its numbers count up like those of rows. If they are scores, name all columns of scores: "
                "--map 'score=HEADING+HEADING'; else move it before them."
            )


def _single_columns(options: Options) -> set[str]:
    return {theirs for theirs in options.columns.values() if isinstance(theirs, str)}


def _without_flags(table: Table, names: list[str]) -> list[str]:
    """Leave out columns of nothing but 0 and 1 beside scores: a flag is no criterion, unless its heading names one."""
    marks = {name: {*numbers.read(table.judged(name))[0]} for name in names if not is_criterion(name)}
    flags = [name for name, own in marks.items() if own and own <= {0.0, 1.0}]
    return names if len(flags) == len(names) else [name for name in names if name not in flags]


def single(table: Table, options: Options) -> str | None:
    """Return the one column that holds the scores though it is not called so, such as errors or adequacy."""
    if "score" in known(table, options) or options.wide:
        return None
    found = candidates(table, options)
    named = [name for name in found if _is_pure(name)] or [name for name in found if is_quality(name)]
    return named[0] if len(named) == 1 else None


def candidates(table: Table, options: Options) -> list[str]:
    """List the columns of unknown meaning that hold scores, or may do so."""
    told = _single_columns(options) | _metrics_of(table, options)
    free = [name for name in table.header if name not in told and meaning(name) is None]
    table.scores |= {name: _may_be_scores(name, table.judged(name)) for name in free if name not in table.scores}
    found = [name for name in free if table.scores[name]]
    return [name for name in found if not is_metric(name)] or found  # a metric is people's only where nothing else is


def _may_be_scores(name: str, cells: pd.Series) -> bool:
    """Tell whether a column holds scores: numbers or words of a scale, and no ids, times or lengths."""
    no_scores = bool({*words(name)} & listed("not_scores"))
    if name in vocabulary.EXTRAS and not vocabulary.tendency(name):
        return False
    quality = is_quality(name)
    if not quality and (no_scores or is_check_heading(name)):
        return False
    if cells.empty:
        return is_criterion(name) or bool(OF_PERSON.fullmatch(name))
    if quality and not (is_criterion(name) and no_scores):
        return True
    values = _values(cells)
    if np.isfinite(values).mean() <= _MOST:
        return False
    scores = values[np.isfinite(values)]
    steps = np.diff(scores)
    counted = scores.size > 3 and steps[0] != 0 and bool((steps == steps[0]).all())  # 1, 2, 3 …
    return not counted and bool((np.abs(scores) < _LARGEST).all())


def _values(texts: pd.Series) -> np.ndarray:
    try:
        texts, _ = scales.in_numbers(texts, {}, lambda line: None, heading="")
    except DataError:  # words of a scale, which the user must say, or any other text
        steps = texts.str.strip().unique()
        in_words = len(steps) <= _STEPS and all(map(_WORD.fullmatch, steps))
        return np.full(len(texts), 1.0 if in_words else np.nan)
    return numbers.read(texts)[0]


def _by_others(names: list[str], have: set[str | None]) -> str:
    """Say what columns are by the other columns: what a judgement lacks."""
    if {"annotator", "system"} <= have:
        return "criterion"
    return "system" if "annotator" in have and not any(map(_touches_criterion, names)) else ""


def _is_pure(heading: str) -> bool:
    """Tell whether a heading names a judgement, and no system or person besides."""
    plain = listed("criteria") | listed("fillers") | listed("not_scores") | listed("counting")
    return is_quality(heading) and all(word in plain or vocabulary.is_low(word) for word in words(heading))


def _decided(table: Table, numeric: list[str], have: set[str | None]) -> Layout | None:
    """Decide by the headings, and by the other columns."""
    named = [name for name in numeric if _is_pure(name)]
    others = [name for name in numeric if name not in named]
    people = [name for name in others if OF_PERSON.fullmatch(name.strip())]
    whole = {"annotator", "system"} <= have
    if len(named) > 1 and (not others or whole):
        return _named("criterion", named)
    if len(named) == 1 and whole:
        return None  # one criterion, which is the score
    if len(people) > 1 and "annotator" not in have and not named:
        return _named("annotator", people)
    if len(numeric) < 2:
        return None
    if not whole and (named or any(map(_touches_criterion, others))):
        question = "hold numbers; some name what was judged, others do not"
    elif odd := _odd(table, others):
        question = f"hold numbers, but those of {odd} are of another kind"
    elif role := _by_others(others, have):
        return _named(role, others)
    else:
        question = "hold numbers, and nothing says what they are"
    return Layout("", dict.fromkeys(numeric, ""), f"{', '.join(numeric[:20])} {question}")


def _touches_criterion(heading: str) -> bool:
    return bool(listed("criteria") & set(words(heading)) or vocabulary.tendency(heading))


def _odd(table: Table, names: list[str]) -> str:
    """Name a column whose numbers are not of the others' kind: on a far narrower or wider scale, or all alike."""
    values = {name: _values(table.judged(name)) for name in names}
    spans = {name: scale[1] - scale[0] if (scale := scales.proposed(own)[0]) else 0.0 for name, own in values.items()}
    usual = Counter(spans.values()).most_common(1)[0][0]
    for name, span in spans.items():
        alike = len(values[name]) > _ALIKE and len(set(values[name])) == 1
        if alike or (span != usual and max(span, usual) >= _NARROW * min(span, usual)):
            return name
    return ""


def _named(role: str, names: list[str]) -> Layout:
    """Name what columns are: by their headings, without the word score where all have it."""
    if role == "annotator":
        return Layout(role, {name: name for name in names})
    bare = [_AFFIX.sub("", name, count=1).strip() for name in names]
    if not (all(map(_AFFIX.search, names)) and len(set(bare)) == len(names) and all(bare)):
        bare = names
    if role == "criterion":
        short = [re.sub(r"\s*(\([^()]*\)|\[[^][]*\])\s*", " ", name).strip() or name for name in bare]
        bare = short if len(set(short)) == len(names) else names
    return Layout(role, dict(zip(names, bare)))
