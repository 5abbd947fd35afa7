"""What scores are on: words that are steps of a scale, the scale's ends, and which way is better; in doubt, ask."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing import numbers, vocabulary
from evalkit.data.importing.options import Options
from evalkit.data.importing.receipt import Note
from evalkit.data.importing.tables import Table, mapped_cells
from evalkit.data.names import plain

Ends = tuple[float, float]
#: Scales in use, from the narrowest: the first that holds the scores is proposed.
USUAL: tuple[Ends, ...] = ((0.0, 1.0), (1.0, 5.0), (0.0, 4.0), (0.0, 6.0), (1.0, 7.0), (0.0, 10.0), (0.0, 100.0))
#: Fewer scores than this tell little of their scale.
FEW = 20
#: How a scale was found that the scores themselves suggest.
GUESSED = "proposed from the data"
_MOST = 0.99  # share of the scores that a scale must hold, so that a slip does not stretch it
_MANY = 0.9  # share that tells a scale where none holds that many
_SIGNED = 1 / 3  # share of scores below 0 above which they are no slips
_WIDEST = 10  # a scale that several criteria may share, though some do not reach its ends

#: Scales of words from the best to the worst: steps, each a list of words (ITU-T P.800, LDC, Likert and others).
LADDERS = [[step.split("|") for step in ladder.split(" > ")] for ladder in vocabulary.table("ladders")["steps"]]
_NUMBERED = re.compile(r"([+-]?\d{1,4}(?:[.,]\d{1,4})?)\s*[-–—:.)=(]+\s*([^\W\d].*)")
_MOSTLY = 0.5  # share of filled cells that must be words, before they are taken for a scale's steps
_FEWEST, _MOST_STEPS, _SHOWN = 5, 12, 20  # filled cells that tell a scale of words; its steps; words that are told

_FEW_GROUPS, _MOST_RANKS = 5, 100  # groups in which scores must be places before they are taken for ranks; places
_PLAINLY = "higher is better: nothing in heading or numbers says otherwise"


# Words for scores


def in_numbers(cells: pd.Series, told: dict[str, float], note: Note, *, heading: str) -> tuple[pd.Series, Ends | None]:
    """Return a column with numbers in place of words, and the ends of the scale that the words make.

    told: word (small) -> score, which decides. Words that are steps of one well-known scale, without a gap between
    them, are its scores, the worst 1. Raises DataError where words could be steps of scales that space them otherwise,
    with a way to say what they mean.
    """
    if not told and numbers.plain_numbers(cells.dropna()) is not None:
        return cells, None
    counts = cells.value_counts(sort=False)
    small = {text: " ".join(plain(str(text)).casefold().replace("’", "'").split()) for text in counts.index}
    worth, scale = told, None
    if not told and (worth := _numbered([*small.values()])):
        note(f"{heading}: the number that each cell begins with was read, as of {next(iter(small))!r}")
    elif not told:
        in_words = [text for text, word in small.items() if not re.search(r"\d", word)]
        used = [*dict.fromkeys(small[text] for text in in_words if small[text] not in numbers.ABSENT)]
        filled = int(counts.sum())
        if counts[in_words].sum() > _MOSTLY * filled and filled >= _FEWEST and 1 < len(used) <= _MOST_STEPS:
            worth, scale = _steps(used, heading, note)
    pairs = sorted({(worth[word], plain(str(text))) for text, word in small.items() if word in worth}, reverse=True)
    if not pairs:
        return cells, None
    if len(pairs) <= _SHOWN:
        how = " (as told)" if told else "; --map-values WORD=SCORE gives others"
        shown = ", ".join(f"{text} = {score:g}" for score, text in pairs)
        note(f"words for scores in {heading} were read as {shown}{how}")
    return mapped_cells(cells, lambda text: f"{worth[small[text]]!r}" if small[text] in worth else text), scale


def _numbered(words: list[str]) -> dict[str, float]:
    """Read cells like "4 - good", where every number stands before one word only."""
    read = {word: match for word in words if (match := _NUMBERED.fullmatch(word))}
    pairs = {(match[1], match[2]) for match in read.values()}
    one = len({number for number, _ in pairs}) == len({word for _, word in pairs}) == len(pairs)
    if len(read) < 2 or len(read) != len({*words}) or not one:
        return {}
    return {word: float(match[1].replace(",", ".")) for word, match in read.items()}


def _steps(words: list[str], heading: str, note: Note) -> tuple[dict[str, float], Ends]:
    """Find the scale that words are steps of."""
    ladders = [{word: len(steps) - place for place, step in enumerate(steps) for word in step} for steps in LADDERS]
    fitting = [steps for steps in ladders if {*words} <= {*steps} and _without_gap(words, steps)]
    if len({tuple(steps[word] - steps[words[0]] for word in words) for steps in fitting}) != 1:
        shown = " ".join(f"--map-values '{word}=…'" for word in words)
        raise DataError(f"{heading}: {', '.join(words)} are of no scale, or of several. Give each its score: {shown}.")
    chosen = next((steps for steps in fitting if len({*steps.values()}) == len({steps[w] for w in words})), fitting[0])
    used = {chosen[word] for word in words}
    if absent := [word for word, score in chosen.items() if score not in used]:
        note(f"{heading}: steps of its scale that do not occur: {', '.join(absent)}")
    return {word: float(score) for word, score in chosen.items()}, (1.0, float(max(chosen.values())))


def _without_gap(words: list[str], steps: dict[str, int]) -> bool:
    scores = {steps[word] for word in words}
    return max(scores) - min(scores) == len(scores) - 1 and (len(scores) > 2 or len(scores) == len({*steps.values()}))


# The scale, and which way is better


@dataclass
class Part:
    """Scores that have one scale: all of a table, or those of a criterion; and what ``settle`` finds of them.

    values: NaN where there is no score. ends: of the words that they were. weak: the scale is a guess from few scores.
    """

    heading: str
    values: np.ndarray
    ends: Ends | None = None
    lower: bool = False
    why: str = ""
    scale: Ends | None = None
    source: str = ""
    weak: bool = False


def settle(
    parts: dict[str, Part], table: Table, options: Options, together: pd.DataFrame, *, usual: Ends | None, sure: bool
) -> str:
    """Find of each part which way is better, and its scale; those that differ little are one. Return how.

    parts: by their criterion, "" where there is none. together: what tells, row for row, the outputs that one annotator
    judged beside each other, and ``system``. usual: the scale of the format, which is taken where it is sure, or
    scores are few.
    Raises DataError that asks, where headings and scores disagree on what is better, or either can mean both.
    """
    for name, part in parts.items():
        part.lower, why = orientation(part, table, options.lower_is_better, together)
        part.why = why if why == _PLAINLY or not name else f"{name}: {why}"
        part.scale, part.source, part.weak = _scale(part, options, usual, sure=sure)
    low = [part.lower for part in parts.values()]
    shared = holding([part.scale for part in parts.values()]) if not any(low) else None
    if shared and shared[1] - shared[0] <= _WIDEST:
        for part in parts.values():
            part.scale = shared
    if len({part.scale for part in parts.values()}) > 1 or len({*low}) > 1:
        ends = {name: "{:g} to {:g}, ".format(*part.scale) if part.scale else "" for name, part in parts.items()}
        return "criteria differ: " + "; ".join(f"{name}: {ends[name]}{part.source}" for name, part in parts.items())
    if all(part.source.startswith(GUESSED) for part in parts.values()):
        return proposed(np.concatenate([part.values for part in parts.values()]))[1]
    return "; ".join(dict.fromkeys(part.source for part in parts.values()))


def _scale(part: Part, options: Options, usual: Ends | None, *, sure: bool) -> tuple[Ends | None, str, bool]:
    """Return a part's scale, as told, stated or proposed; how it was found; and whether few scores let guess it."""
    few = int(np.isfinite(part.values).sum()) < FEW
    if options.scale:
        return options.scale, "", False
    if stated := vocabulary.scale_in(part.heading):
        return stated, f"of the heading {part.heading}", False
    if part.ends:
        return part.ends, "of its words", False
    if usual and (sure or few):
        return usual, "", False
    if part.lower and vocabulary.tendency(part.heading):
        return None, f"{part.heading} has no upper end; --scale LOW:HIGH states one", False
    return *proposed(part.values, signed=options.lower_is_better is not None), few


def proposed(values: np.ndarray, *, signed: bool = False) -> tuple[Ends | None, str]:
    """Return the smallest usual scale that holds the scores, None where many are below 0, and how it was found.

    values: scores, NaN where there is none. A scale must hold 99 % of them; where none does, 90 %; else it is 0 to 100.
    signed: numbers below 0 are no slips.

    >>> proposed(np.array([0.5, 0.76, 1.0]))
    ((0.0, 1.0), 'proposed from the data: the smallest usual scale that holds all 3 scores (0.5 to 1); a guess')
    >>> proposed(np.array([-1.5, 0.3, -0.2]))[0] is None
    True
    """
    scores = values[np.isfinite(values)]
    if not scores.size:
        return USUAL[-1], "no score tells it"
    ends = f"{scores.min():g} to {scores.max():g}"
    if np.mean(scores < 0) > (0 if signed else _SIGNED):
        return None, f"none is assumed of scores from {ends}; --scale LOW:HIGH states one"
    shares = [float(np.mean((scores >= low) & (scores <= high))) for low, high in USUAL]
    place = next((place for most in (_MOST, _MANY) for place, share in enumerate(shares) if share >= most), -1)
    inside = round(shares[place] * scores.size)
    held = f"all {scores.size:,}" if inside == scores.size else f"{inside:,} of {scores.size:,}"
    outside = "" if inside == scores.size else f", {1 - shares[place]:.2%} outside"
    missing = [f"{end:g}" for end in USUAL[place] if not (scores == end).any()]
    sure = "both of its ends occur"
    if scores.size < FEW:
        sure = "a guess"
    elif missing:
        sure = f"no score is {' or '.join(missing)}, so --scale LOW:HIGH may state another"
    return USUAL[place], f"{GUESSED}: the smallest usual scale that holds {held} scores ({ends}{outside}); {sure}"


def holding(scales: list[Ends | None]) -> Ends | None:
    """Return the scale among some that holds all of them; None where there is none, or one has no ends.

    >>> holding([(1.0, 5.0), (0.0, 6.0)]), holding([(1.0, 5.0), (0.0, 4.0)])
    ((0.0, 6.0), None)
    """
    ends = [scale for scale in scales if scale]
    if not ends or len(ends) < len(scales):
        return None
    widest = min(low for low, _ in ends), max(high for _, high in ends)
    return widest if widest in ends else None


def orientation(part: Part, table: Table, told: bool | None, together: pd.DataFrame) -> tuple[bool, str]:
    """Tell whether lower is better, and how that is known.

    told: what the user says, which decides. table: whose headings tell whether a Note may be a mark at school.
    together: see ``settle``.
    Raises DataError that asks, where heading and content disagree, or either can mean both.
    """
    heading = part.heading
    if told is not None:
        return told, f"lower is better, as told: the score is minus {heading}" if told else "higher is better, as told"
    scores, means = part.values[np.isfinite(part.values)], vocabulary.tendency(heading)
    if not scores.size:
        return False, "higher is better"
    low, high = scores.min(), scores.max()
    systems = together["system"].nunique() if "system" in together else 0
    ranks = are_ranks(part.values, together.drop(columns="system", errors="ignore"))
    turned = means in ("penalty", "rank")
    either = means == "unclear" or _is_mark(heading, scores, table) or (means == "mqm" and high > 0)
    against = (turned and low < 0) or (means == "rank" and 0 < systems < high)
    if either or against or (ranks and not turned):
        order = ", in the order of the systems of each segment, as ranks do, where 1 is best" if ranks else ""
        raise DataError(
            f"{table.name}: {heading!r} may mean that high is good, or that low is; its numbers go from {low:g} to "
            f"{high:g}{order}. Say which holds: --lower-is-better or --higher-is-better."
        )
    if turned:
        return True, f"lower is better by the heading {heading}: the score is minus it"
    if high <= 0 > low:
        return False, f"higher is better: no number of {heading} is above 0, as in sums of penalties that are taken off"
    return False, _PLAINLY


def are_ranks(values: np.ndarray, together: pd.DataFrame) -> bool:
    """Tell whether the scores of every group are places: 1, 2, 3 …, with or without ties.

    together: what tells groups, row for row; nothing is a rank without it.

    >>> are_ranks(np.array([1.0, 2, 2, 1] * 3), pd.DataFrame({"segment": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]}))
    True
    >>> are_ranks(np.array([4.0, 2, 2, 1] * 3), pd.DataFrame({"segment": [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]}))
    False
    """
    keep = np.isfinite(values)
    scores = pd.Series(values[keep])
    if together.empty or scores.min() != 1 or scores.max() > _MOST_RANKS or not (scores % 1).eq(0).all():
        return False
    by = scores.groupby(together[keep].groupby([*together], dropna=False, sort=False).ngroup().to_numpy())
    sizes = by.size()
    if sizes.min() < 2 or len(sizes) < _FEW_GROUPS or by.nunique().max() < 2:
        return False
    return bool(by.rank("min").eq(scores).all() or by.rank("dense").eq(scores).all())


def _is_mark(heading: str, scores: np.ndarray, table: Table) -> bool:
    """Tell whether scores may be marks of a German or Czech school, 1 to 6, of which 1 is best."""
    german = any(vocabulary.bare(name) in vocabulary.listed("german") for name in table.header)
    marks = vocabulary.listed("school_marks")
    mark = any(word in marks or (german and word.endswith(("note", "noten"))) for word in vocabulary.words(heading))
    return mark and bool((scores >= 1).all() and (scores <= 6).all())
