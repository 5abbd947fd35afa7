"""What scores are on: words that are steps of a scale, the scale's ends, and which way is better; in doubt, ask."""

import re
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing import numbers, vocabulary
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

#: Scales of words from the best to the worst: steps, each a list of words (ITU-T P.800, LDC, Likert and others).
LADDERS = [[step.split("|") for step in ladder.split(" > ")] for ladder in vocabulary.table("ladders")["steps"]]
_NUMBERED = re.compile(r"([+-]?\d{1,4}(?:[.,]\d{1,4})?)\s*[-–—:.)=(]+\s*([^\W\d].*)")
_MOSTLY = 0.5  # share of filled cells that must be words, before they are taken for a scale's steps
_FEWEST, _MOST_STEPS, _SHOWN = 5, 12, 20  # filled cells that tell a scale of words; its steps; words that are told

_FEW_GROUPS = 5  # groups in which scores must be places before they are taken for ranks
_PLAINLY = "higher is better: nothing in heading or numbers says otherwise"
_ASK = "Say which holds: --lower-is-better or --higher-is-better."


def in_numbers(
    cells: pd.Series, told: dict[str, float], note: Callable[[str], None], *, heading: str
) -> tuple[pd.Series, Ends | None]:
    """Return a column with numbers in place of words, and the ends of the scale that the words make.

    told: word (small) -> score, which decides. Words that are steps of one well-known scale, without a gap between
    them, are its scores, the worst 1. Raises DataError where words could be steps of scales that space them otherwise,
    with a way to say what they mean.
    """
    if not told and numbers.are_plain(cells):
        return cells, None
    codes, distinct = pd.factorize(cells)
    texts = [plain(str(text)) for text in distinct]
    small = [" ".join(text.casefold().replace("’", "'").split()) for text in texts]
    scale: Ends | None = None
    if told:
        worth = told
    elif numbered := _numbered(texts):
        note(f"{heading}: the number that each cell begins with was read, as of {texts[0]!r}")
        worth = {word: numbered[text] for word, text in zip(small, texts) if text in numbered}
    else:
        filled = codes[codes >= 0]
        is_word = [not re.search(r"\d", text) for text in texts]
        share = sum(is_word[code] for code in filled) / max(len(filled), 1)
        used = [word for word, yes in zip(small, is_word) if yes and word not in numbers.ABSENT]
        if share <= _MOSTLY or len(filled) < _FEWEST or not used or len(used) > _MOST_STEPS:
            return cells, None
        worth, scale = _steps(used, heading, note)
    if not worth:
        return cells, None
    pairs = sorted({(worth[word], text) for word, text in zip(small, texts) if word in worth}, reverse=True)
    if 0 < len(pairs) <= _SHOWN:
        how = " (as told)" if told else "; --map-values WORD=SCORE gives others"
        shown = ", ".join(f"{text} = {score:g}" for score, text in pairs)
        note(f"words for scores in {heading} were read as {shown}{how}")
    new = [f"{worth[word]!r}" if word in worth else text for word, text in zip(small, map(str, distinct))]
    return pd.Series(pd.array([*new, None], dtype="str").take(codes), index=cells.index), scale


def _numbered(texts: list[str]) -> dict[str, float]:
    """Read cells like "4 - Good", where every number stands before one word only."""
    read = {text: match for text in texts if (match := _NUMBERED.fullmatch(text))}
    pairs = {(match[1], match[2].casefold()) for match in read.values()}
    one = len({number for number, _ in pairs}) == len({word for _, word in pairs}) == len(pairs)
    if len(read) < 2 or len(read) != len(texts) or not one:
        return {}
    return {text: float(match[1].replace(",", ".")) for text, match in read.items()}


def _steps(words: list[str], heading: str, note: Callable[[str], None]) -> tuple[dict[str, float], Ends | None]:
    """Find the scale that words are steps of; nothing where none is known."""
    fitting = [steps for steps in map(_scores, LADDERS) if set(words) <= {*steps}]
    if not fitting:
        if len(words) < 2:
            return {}, None
        shown = " ".join(f"--map-values '{word}=…'" for word in words)
        raise DataError(
            f"{heading}: the words {', '.join(words)} are of no scale that is known here. Give each its score: {shown}."
        )
    close = [steps for steps in fitting if _without_gap(words, steps)]
    spaced = {tuple(steps[word] - steps[words[0]] for word in words) for steps in close}
    if len(words) < 2 or len(spaced) != 1:
        steps = (close or fitting)[0]
        pairs = " ".join(f"--map-values '{word}={steps[word]:g}'" for word in words)
        raise DataError(
            f"{heading}: the words {', '.join(words)} are steps of several scales, or not all of one. Say what they "
            f"mean, such as {pairs}."
        )
    whole = [steps for steps in close if len({*steps.values()}) == len({steps[word] for word in words})]
    chosen = (whole or close)[0]
    if absent := [word for word, score in chosen.items() if score not in {chosen[one] for one in words}]:
        note(f"{heading}: steps of its scale that do not occur: {', '.join(absent)}")
    return chosen, (1.0, max(chosen.values()))


def _scores(ladder: list[list[str]]) -> dict[str, float]:
    return {word: float(len(ladder) - place) for place, step in enumerate(ladder) for word in step}


def _without_gap(words: list[str], steps: dict[str, float]) -> bool:
    scores = {steps[word] for word in words}
    return max(scores) - min(scores) == len(scores) - 1 and (len(scores) > 2 or len(scores) == len({*steps.values()}))


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
    sure = _sure(scores, *USUAL[place])
    return USUAL[place], f"{GUESSED}: the smallest usual scale that holds {held} scores ({ends}{outside}); {sure}"


def _sure(scores: np.ndarray, low: float, high: float) -> str:
    """Say how far scores support a scale."""
    if scores.size < FEW:
        return "a guess"
    missing = [end for end in (low, high) if not (scores == end).any()]
    if not missing:
        return "both of its ends occur"
    ends = " and ".join(f"{end:g}" for end in missing)
    return f"{ends} {'do' if len(missing) > 1 else 'does'} not occur, so --scale LOW:HIGH may state another"


def holding(scales: list[Ends]) -> Ends | None:
    """Return the scale among some that holds all of them; None where there is none.

    >>> holding([(1.0, 5.0), (0.0, 6.0)]), holding([(1.0, 5.0), (0.0, 4.0)])
    ((0.0, 6.0), None)
    """
    if not scales:
        return None
    low, high = min(low for low, _ in scales), max(high for _, high in scales)
    return (low, high) if (low, high) in scales else None


def orientation(
    heading: str,
    values: np.ndarray,
    told: bool | None,
    *,
    origin: str,
    groups: pd.Series | None = None,
    systems: int = 0,
    german: bool = False,
) -> tuple[bool, str]:
    """Tell whether lower is better, and how that is known.

    values: the scores, NaN where there is none. told: what the user says, which decides. groups: which scores one
    annotator gave one segment, so that ranks can be told. systems: how many there are. german: the headings are
    German, where a Note may be a mark at school.
    Raises DataError that asks, where heading and content disagree, or either can mean both.
    """
    if told is not None:
        return told, f"lower is better, as told: the score is minus {heading}" if told else "higher is better, as told"
    scores, means = values[np.isfinite(values)], vocabulary.tendency(heading)
    if not scores.size:
        return False, "higher is better"
    low, high = scores.min(), scores.max()
    range_of = f"its numbers go from {low:g} to {high:g}"
    ranks = groups is not None and are_ranks(values, groups)
    if means == "unclear" or _is_mark(heading, scores, german=german):
        if not (means == "unclear" and ranks):
            raise DataError(f"{origin}: {heading!r} can mean that high is good, or that low is. {_ASK}")
        means = "rank"
    if means in ("penalty", "rank") and low < 0:
        raise DataError(f"{origin}: by the heading {heading!r} low is good, but {range_of}. {_ASK}")
    if means == "rank" and systems and high > systems:
        raise DataError(f"{origin}: {heading!r} ranks {systems} systems, but {range_of}. {_ASK}")
    if means == "mqm" and high > 0:
        raise DataError(f"{origin}: {heading!r} may hold scores or penalties; {range_of}. {_ASK}")
    if means in ("penalty", "rank"):
        return True, f"lower is better by the heading {heading}: the score is minus it"
    if ranks:
        raise DataError(
            f"{origin}: {heading!r} holds 1, 2, 3 … in the order of the systems of each segment, as ranks do, where 1 "
            f"is best; its heading does not say so. {_ASK}"
        )
    if high <= 0 > low:
        return False, f"higher is better: no number of {heading} is above 0, as in sums of penalties that are taken off"
    return False, _PLAINLY


def are_ranks(values: np.ndarray, groups: pd.Series) -> bool:
    """Tell whether the scores of every group are places: 1, 2, 3 …, with or without ties.

    >>> are_ranks(np.array([1.0, 2, 2, 1] * 3), pd.Series([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]))
    True
    >>> are_ranks(np.array([4.0, 2, 2, 1] * 3), pd.Series([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]))
    False
    """
    scores = pd.Series(values, index=groups.index)
    if scores.isna().any() or not (scores % 1).eq(0).all() or scores.min() != 1 or scores.max() > len(scores):
        return False
    by = scores.groupby(groups.to_numpy())
    sizes = by.size()
    if sizes.min() < 2 or len(sizes) < _FEW_GROUPS or by.nunique().max() < 2:
        return False
    return bool(by.rank("min").eq(scores).all() or by.rank("dense").eq(scores).all())


def _is_mark(heading: str, scores: np.ndarray, *, german: bool) -> bool:
    """Tell whether scores may be marks of a German or Czech school, 1 to 6, of which 1 is best."""
    named = vocabulary.words(heading)
    marks = vocabulary.listed("school_marks")
    mark = any(word in marks or (german and word.endswith(("note", "noten"))) for word in named)
    return mark and bool((scores >= 1).all() and (scores <= 6).all())


def of_criterion(criterion: str, why: str) -> str:
    """Say which way one of several criteria is better.

    >>> of_criterion("errors", "lower is better")
    'errors: lower is better'
    """
    return why if why == _PLAINLY else f"{criterion}: {why}"


def joined(sentences: Iterable[str]) -> str:
    """Say what holds of several columns, each sentence once.

    >>> joined(orientation(name, np.array([3.0]), None, origin="x")[1] for name in ("style", "tone"))
    'higher is better: nothing in heading or numbers says otherwise'
    """
    return "; ".join(dict.fromkeys(sentences))
