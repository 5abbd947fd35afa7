"""Read words for scores, such as Excellent or Stimme zu, where they are steps of one well-known scale; and lists."""

import json
import re
from collections.abc import Callable

import pandas as pd

from evalkit import DataError
from evalkit.data.importing.cells import numbers
from evalkit.data.names import plain

#: Scales of words from the best to the worst. Steps in one place separated by | mean the same.
LADDERS = [
    [step.split("|") for step in ladder.split(" > ")]
    for ladder in (
        "excellent > good > fair > poor > bad",  # ITU-T P.800, absolute category rating
        "excellent > very good > good > fair > poor",
        "excellent > good > fair > poor",
        "excellent > good > average > poor > very poor|terrible",
        "excellent > good > acceptable > poor > very poor|unacceptable",
        "very good > good > fair|average|neutral|ok|acceptable > bad|poor > very bad|very poor",
        "very good > good > bad > very bad",
        "good > fair|average|medium|ok > bad|poor",
        "perfect > good > acceptable > poor > unusable",
        "high > medium > low",
        "very high > high > medium > low > very low",
        "strongly agree|agree strongly > agree|somewhat agree > neutral|neither agree nor disagree|undecided > "
        "disagree|somewhat disagree > strongly disagree|disagree strongly",
        "strongly agree > agree > somewhat agree|slightly agree > neutral|neither agree nor disagree > "
        "somewhat disagree|slightly disagree > disagree > strongly disagree",
        "strongly agree > agree > disagree > strongly disagree",
        "all meaning > most meaning > much meaning > little meaning > none",  # LDC, adequacy
        "all > most > much > little > none",
        "flawless english > good english > non-native english > disfluent english > incomprehensible",  # LDC, fluency
        "flawless > good > non-native > disfluent > incomprehensible",
        "sehr gut > gut > befriedigend > ausreichend > mangelhaft > ungenügend",
        "sehr gut > gut > befriedigend > ausreichend > mangelhaft",
        "ausgezeichnet > gut > ordentlich > dürftig > schlecht",  # ITU-T P.800 in German
        "ausgezeichnet|hervorragend > gut > mittel|mittelmäßig|mittelmässig|befriedigend|akzeptabel|durchschnittlich > "
        "schlecht|mangelhaft > sehr schlecht",
        "sehr gut > gut > mittel|mittelmäßig|mittelmässig|neutral|akzeptabel|durchschnittlich|teils teils|"
        "teils, teils > schlecht > sehr schlecht",
        "stimme voll zu|stimme voll und ganz zu|stimme völlig zu|trifft voll zu|trifft voll und ganz zu > "
        "stimme zu|stimme eher zu|trifft zu|trifft eher zu > teils teils|teils, teils|teils/teils|neutral|weder noch|"
        "unentschieden > stimme nicht zu|stimme eher nicht zu|trifft eher nicht zu|trifft nicht zu > "
        "stimme gar nicht zu|stimme überhaupt nicht zu|trifft gar nicht zu|trifft überhaupt nicht zu",
        "výborné|výborný|výborně|výborná > velmi dobré|velmi dobrý|velmi dobře|velmi dobrá|chvalitebné|chvalitebně > "
        "dobré|dobrý|dobře|dobrá > dostatečné|dostatečný|dostatečně|dostatečná > "
        "nedostatečné|nedostatečný|nedostatečně|nedostatečná",
        "velmi dobré|velmi dobrá|velmi dobře > dobré|dobrá|dobře > průměrné|průměrná|průměrně > špatné|špatná|špatně > "
        "velmi špatné|velmi špatná|velmi špatně",
        "rozhodně souhlasím|zcela souhlasím > souhlasím|spíše souhlasím > nevím|ani souhlasím, ani nesouhlasím|"
        "ani souhlasím ani nesouhlasím|neutrální > nesouhlasím|spíše nesouhlasím > rozhodně nesouhlasím|"
        "zcela nesouhlasím",
        "excellent|excellente > bon|bonne > assez bon|assez bonne|moyen|moyenne|passable|acceptable > "
        "médiocre|insuffisant|insuffisante > mauvais|mauvaise",
        "excellent|excellente > très bon|très bonne|très bien > bon|bonne|bien > passable|moyen|moyenne > "
        "médiocre|mauvais|mauvaise",
        "très bon|très bonne|très bien > bon|bonne|bien > moyen|moyenne|acceptable > mauvais|mauvaise|mal > "
        "très mauvais|très mauvaise|très mal",
        "tout à fait d'accord > d'accord|plutôt d'accord > neutre|ni d'accord ni pas d'accord|sans opinion > "
        "pas d'accord|plutôt pas d'accord > pas du tout d'accord",
        "excelente > buena|bueno > regular|aceptable > mediocre|pobre|deficiente > mala|malo",
        "excelente > muy buena|muy bueno > buena|bueno > regular|aceptable > mala|malo|deficiente",
        "muy buena|muy bueno|muy bien > buena|bueno|bien > regular|aceptable|neutral > mala|malo|mal > "
        "muy mala|muy malo|muy mal",
        "totalmente de acuerdo|muy de acuerdo > de acuerdo > neutral|ni de acuerdo ni en desacuerdo|indiferente > "
        "en desacuerdo > totalmente en desacuerdo|muy en desacuerdo",
        "とても良い|とてもよい|非常に良い|非常によい|大変良い > 良い|よい > 普通|ふつう|どちらでもない > 悪い|わるい > "
        "とても悪い|とてもわるい|非常に悪い|大変悪い",
        "とてもそう思う|非常にそう思う|強くそう思う > そう思う|ややそう思う > どちらでもない|どちらともいえない > "
        "そう思わない|あまりそう思わない > 全くそう思わない|まったくそう思わない|全然そう思わない",
        "非常好|很好|優秀|优秀 > 好|良好 > 一般|中等|普通 > 差|较差|較差 > 非常差|很差",
        "非常同意|完全同意 > 同意|比较同意 > 一般|中立|不确定 > 不同意|比较不同意 > 非常不同意|完全不同意",
    )
]
_NUMBERED = re.compile(r"([+-]?\d{1,4}(?:[.,]\d{1,4})?)\s*[-–—:.)=(]+\s*([^\W\d].*)")
_MOSTLY = 0.5  # share of filled cells that must be words, before they are taken for a scale's steps
_FEWEST, _MOST_STEPS = 5, 12  # filled cells that tell a scale of words; steps that one has at most
_LIST = re.compile(r"\[[^\[\]]*\]|[^;|/]+(?:[;|][^;|/]+)+")
_LONGEST = 1_000  # characters of a cell that may be a list


def scored(
    cells: pd.Series,
    told: dict[str, float],
    note: Callable[[str], None],
    *,
    heading: str,
) -> tuple[pd.Series, tuple[float, float] | None]:
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
    if told:
        words, scale = told, None
    elif numbered := _numbered(texts):
        note(f"{heading}: the number that each cell begins with was read, as of {texts[0]!r}")
        words, scale = {word: numbered[text] for word, text in zip(small, texts) if text in numbered}, None
    else:
        filled = codes[codes >= 0]
        is_word = [not re.search(r"\d", text) for text in texts]
        share = sum(is_word[code] for code in filled) / max(len(filled), 1)
        used = [word for word, yes in zip(small, is_word) if yes and word not in numbers.ABSENT]
        if share <= _MOSTLY or len(filled) < _FEWEST or not used or len(used) > _MOST_STEPS:
            return cells, None
        words, scale = _steps(used, heading, note)
    if not words:
        return cells, None
    told_of = sorted(
        {(score, text) for word, text in zip(small, texts) if (score := words.get(word)) is not None}, reverse=True
    )
    if told_of and len(told_of) <= 20:
        note(
            f"words for scores in {heading} were read as {', '.join(f'{text} = {score:g}' for score, text in told_of)}"
            f"{' (as told)' if told else '; --map-values WORD=SCORE gives others'}"
        )
    new = [f"{words[word]!r}" if word in words else text for word, text in zip(small, map(str, distinct))]
    return pd.Series(pd.array([*new, None], dtype="str").take(codes), index=cells.index), scale


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[+-]?[\d.,eE+-]*\d[\d.,eE+-]*%?", text))


def _numbered(texts: list[str]) -> dict[str, float]:
    """Read cells like "4 - Good", where every number stands before one word only."""
    found = {text: match for text in texts if (match := _NUMBERED.fullmatch(text))}
    pairs = {(match[1], match[2].casefold()) for match in found.values()}
    one = len({number for number, _ in pairs}) == len({word for _, word in pairs}) == len(pairs)
    if len(found) < 2 or len(found) != len(texts) or not one:
        return {}
    return {text: float(match[1].replace(",", ".")) for text, match in found.items()}


def _steps(
    words: list[str], heading: str, note: Callable[[str], None]
) -> tuple[dict[str, float], tuple[float, float] | None]:
    """Find the scale that words are steps of; nothing where none is known."""
    fitting = [steps for steps in map(_scores, LADDERS) if set(words) <= {*steps}]
    if not fitting:
        if len(words) > 1:
            shown = " ".join(f"--map-values '{word}=…'" for word in words)
            raise DataError(
                f"{heading}: the words {', '.join(words)} are of no scale that is known here. Give each "
                f"its score: {shown}."
            )
        return {}, None
    close = [steps for steps in fitting if _without_gap(words, steps)]
    spaced = {tuple(steps[word] - steps[words[0]] for word in words) for steps in close}
    if len(words) < 2 or len(spaced) != 1:
        steps = close[0] if close else fitting[0]
        pairs = " ".join(f"--map-values '{word}={steps[word]:g}'" for word in words)
        raise DataError(
            f"{heading}: the words {', '.join(words)} are steps of several scales, or not all of one. Say "
            f"what they mean, such as {pairs}."
        )
    whole = [steps for steps in close if len({*steps.values()}) == len({steps[word] for word in words})]
    chosen = (whole or close)[0]
    top = max(chosen.values())
    if absent := [word for word, score in chosen.items() if score not in {chosen[one] for one in words}]:
        note(f"{heading}: steps of its scale that do not occur: {', '.join(absent)}")
    return chosen, (1.0, top)


def _scores(ladder: list[list[str]]) -> dict[str, float]:
    return {word: float(len(ladder) - place) for place, step in enumerate(ladder) for word in step}


def _without_gap(words: list[str], steps: dict[str, float]) -> bool:
    scores = {steps[word] for word in words}
    return max(scores) - min(scores) == len(scores) - 1 and (len(scores) > 2 or len(scores) == len({*steps.values()}))


def listed(cell: str) -> list[str] | None:
    """Read a cell that holds several scores, such as [3, 4, 5] or 3;4;5; None where it holds one, or anything else.

    >>> listed("[3, 4.5]"), listed("3; 4;5"), listed("4,5"), listed("a;b")
    (['3', '4.5'], ['3', '4', '5'], None, None)
    """
    text = cell.strip()
    if len(text) > _LONGEST or not _LIST.fullmatch(text):
        return None
    parts = [part.strip() for part in re.split("[;|]", text)]
    if text[0] == "[":
        try:
            found = json.loads(text, parse_int=str, parse_float=str)
        except (ValueError, RecursionError):
            return None
        parts = ["" if part is None else str(part) for part in found]
    fine = all(not part or _is_number(part) for part in parts) and any(parts)
    return parts if fine and len(parts) > 1 else None
