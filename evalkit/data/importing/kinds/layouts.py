"""Tell what the columns of scores of a wide table are: systems, annotators or criteria."""

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing.automatic.columns import taken
from evalkit.data.importing.automatic.names import is_metric
from evalkit.data.importing.cells import checks, columns, ladders, numbers, orientation, scales
from evalkit.data.importing.cells.columns import vocabulary
from evalkit.data.importing.formats import Head
from evalkit.data.importing.options import Options
from evalkit.data.importing.pseudonyms import ALIAS

#: What --wide says, and which of our columns the headings then fill.
ROLES = {"systems": "system", "annotators": "annotator", "criteria": "criterion"}
PERSON = (
    r"(evaluator|rater|annotator|linguist|reviewer|judge|translator|evaluador|bewerter|évaluateur|annotateur|anotador"
    r"|hodnotitel)"
)
SCORE = r"(score|xsts|rating|note|bewertung)"
OF_PERSON = re.compile(rf"({SCORE}\W*_?)?{PERSON}\W*_?.{{1,40}}|{ALIAS.pattern}", re.I)
CRITERIA = vocabulary(
    "adequacy fluency accuracy comprehension comprehensibility style tone terminology grammar grammaticality "
    "readability meaning faithfulness fidelity naturalness coherence cohesion consistency clarity "
    "intelligibility correctness completeness overall quality register formality acceptability usefulness "
    "usability appropriateness relevance spelling punctuation orthography understandability preservation "
    "transfer idiomaticity informativeness adäquatheit adaequatheit flüssigkeit sprachfluss genauigkeit "
    "verständlichkeit verständnis stil ton tonalität terminologie grammatik lesbarkeit treue natürlichkeit "
    "kohärenz kohäsion gesamt gesamteindruck gesamtqualität qualität richtigkeit korrektheit vollständigkeit "
    "rechtschreibung angemessenheit konsistenz idiomatik zeichensetzung adéquation fluidité fidélité "
    "compréhension compréhensibilité intelligibilité grammaire lisibilité naturel cohérence exactitude "
    "précision qualité clarté global globale orthographe terminologique registre justesse complétude adecuación "
    "fluidez fidelidad comprensión comprensibilidad inteligibilidad estilo tono terminología gramática "
    "legibilidad naturalidad coherencia precisión exactitud calidad claridad ortografía registro corrección "
    "general adekvátnost přesnost plynulost srozumitelnost styl tón gramatika čitelnost věrnost přirozenost "
    "kvalita správnost porozumění soudržnost celkově pravopis adeguatezza scorrevolezza fluenza fedeltà "
    "accuratezza comprensibilità comprensione stile terminologia grammatica leggibilità qualità naturalezza "
    "chiarezza coerenza adequação fluência precisão compreensão tom gramatical legibilidade qualidade clareza "
    "naturalidade coerência adekwatność płynność wierność dokładność zrozumiałość czytelność jakość poprawność "
    "naturalność адекватность беглость плавность точность понятность стиль тон терминология грамматика "
    "читаемость качество достоверность естественность adequaatheid vloeiendheid nauwkeurigheid begrijpelijkheid "
    "stijl toon grammatica leesbaarheid kwaliteit 充分性 流畅性 流畅度 流利度 流利性 忠实度 忠实性 准确性 "
    "准确度 可理解性 可读性 风格 语气 术语 语法 质量 整体质量 通顺度 流暢性 流暢度 忠實度 準確性 可讀性 風格 "
    "語氣 術語 語法 品質 妥当性 流暢さ 忠実性 忠実度 正確性 正確さ 理解度 読みやすさ スタイル 文体 トーン 用語 "
    "文法 自然さ 適切性 適切さ 総合 적절성 유창성 정확성 정확도 충실성 이해도 스타일 문체 어조 용어 문법 품질 "
    "가독성 자연스러움"
)
_FILLERS = vocabulary(
    "score scores rating ratings slider scale value points note bewertung punkte skala wert da raw human "
    "translation of the and und et y a der die das de la le el mt output target text meaning"
)
#: Words of headings whose numbers are no judgements of a translation.
_NO_SCORES = vocabulary(
    "id ids idx index no nr num number numbers nummer numero número numéro count anzahl nombre line lines zeile "
    "row rows reihe page seite order sequence seq position pos place time times timestamp ts date day year "
    "month hour minute minutes seconds second sec secs ms millis milliseconds duration dauer durée duración "
    "zeit zeitpunkt uhrzeit temps tiempo čas tempo время 时间 時間 length len länge laenge longueur longitud "
    "délka lunghezza длина 长度 長さ chars char characters zeichen caractères caracteres znaků znaky words word "
    "wörter woerter mots palabras slov slova tokens token wortzahl zeichenzahl sentences age alter âge edad věk "
    "età возраст 年龄 年齢 experience erfahrung years jahre session batch round run attempt attempts visit "
    "clicks keystrokes pauses scroll width height start end begin stop offset seed salary payment pay price "
    "reward bonus wage confidence certainty sicherheit confiance confianza jistota difficulty schwierigkeit "
    "difficulté dificultad obtížnost familiarity expertise gender geschlecht phone zip plz version bleu "
    "sacrebleu spbleu chrf chrfpp comet cometkiwi kiwi xcomet metricx bleurt bertscore meteor yisi ter_auto lp "
    "logprob perplexity ppl probability prob rowid skip skipped done valid invalid flag flagged "
    "comment comments remark remarks feedback reason explanation kommentar bemerkung commentaire comentario "
    "approved hit assignment campaign project task step block list group "
    "gruppe"
)
_COUNTING = vocabulary("mqm total sum weighted post editing edited major minor critical severity rate per mean")
_SOME, _MOST, _LARGEST = 0.2, 0.8, 1e5  # shares of cells that are numbers: with more than most, it may be scores
_NARROW, _ALIKE = 4, 5  # times that a scale is narrower than the others'; numbers that may be alike by chance
_STEPS, _WORD = 11, re.compile(r"[^\W\d_][^\W_]*(?:[ '’-][^\W_]+){0,5}")  # of a scale in words
_AFFIX = re.compile(rf"{SCORE}s?(?:\W|_)+|(?:\W|_)+{SCORE}s?", re.I)


@dataclass
class Layout:
    """Columns of scores, and what they are. role: system, annotator or criterion; "" where nothing says.

    columns: heading -> what it names. question: what is unclear, where role is "".
    """

    role: str
    columns: dict[str, str] = field(default_factory=dict)
    question: str = ""


def is_criterion(heading: str) -> bool:
    """Tell whether a heading names what was judged, and nothing else.

    >>> is_criterion("Adequacy (1-5)"), is_criterion("fluency_score"), is_criterion("DeepL_adequacy")
    (True, True, False)
    """
    words = columns.words(heading)
    return bool(CRITERIA & set(words)) and set(words) <= CRITERIA | _FILLERS


def is_quality(heading: str) -> bool:
    """Tell whether a heading names a judgement: a criterion, errors, a rank or the like."""
    return is_criterion(heading) or bool(orientation.kind(heading))


def _is_pure(heading: str) -> bool:
    """Tell whether a heading names a judgement, and no system or person besides."""
    known = CRITERIA | _FILLERS | _NO_SCORES | _COUNTING
    return is_quality(heading) and all(word in known or orientation.is_low(word) for word in columns.words(heading))


def known(head: Head, options: Options) -> set[str | None]:
    """Name what a file's headings and the user give, without what the user says that no column gives."""
    unwanted = {ours for ours, theirs in options.columns.items() if not theirs}
    free = [name for name in head.header if name not in taken(options.metric_columns, head.header)]
    return ({columns.meaning(name) for name in free} | {*options.columns, *options.values}) - unwanted


def found(head: Head, options: Options) -> Layout | None:
    """Say which columns are scores of a wide table, and what they are; None where the table has one column of scores.

    Raises DataError where the user names columns that are not there, or says what none can be.
    """
    told = options.columns.get("score")
    have = known(head, options)
    if isinstance(told, list):
        if absent := [name for name in told if name not in head.header]:
            wrong = ", ".join(map(repr, absent))
            raise DataError(f"{head.name} has no column {wrong}; it has {', '.join(head.header)}. Correct --map.")
        role = ROLES[options.wide] if options.wide else _by_others(told, have) or "annotator"
        return _layout(role, told)
    if told:
        return None
    numeric = candidates(head, options)
    if options.wide:
        if options.wide == "criteria":
            own = [name for name in head.header if columns.meaning(name) == "score"]
            own = [name for name in own if name not in taken(options.metric_columns, head.header)]
            numeric = [name for name in head.header if name in numeric or name in own]
        numeric = _without_flags(head, numeric) if options.wide == "criteria" else numeric
        if len(numeric) < 2 and {ROLES[options.wide], "score"} <= have:
            return None  # a form's questions were laid out as rows already
        if len(numeric) < 2:
            raise DataError(
                f"{head.name} has no two columns of scores that could be {options.wide}. Name them: --map "
                f"'score=HEADING+HEADING' --wide {options.wide}."
            )
        layout: Layout | None = _layout(ROLES[options.wide], numeric)
    else:
        layout = None if "score" in have else _decided(head, numeric, have)
    if layout and layout.role != "criterion":
        _demand_neighbours(head, [*layout.columns], options)
    return layout


def _demand_neighbours(head: Head, names: list[str], options: Options) -> None:
    """Raise DataError where a column that looks like those of scores cannot be used: a system or a person would go."""
    if any(re.fullmatch(r"[\d.,]+", name) for name in names):  # a row of values is no row of headings
        return
    people = all(OF_PERSON.fullmatch(name.strip()) for name in names)
    told = {theirs for theirs in options.columns.values() if isinstance(theirs, str)}
    told |= taken(options.metric_columns, head.header)
    first, last = (head.header.index(name) for name in (names[0], names[-1]))
    for place, name in enumerate(head.header):
        known = name in told or columns.meaning(name) or name in columns.EXTRAS or checks.is_heading(name)
        if place < first or name in names or known or is_metric(name) or {*columns.words(name)} & _NO_SCORES:
            continue
        cells = head.judged(name)
        if len(cells) < _ALIKE or (people and not OF_PERSON.fullmatch(name.strip())):
            continue
        values = numbers.read(cells)[0]
        share = np.isfinite(values).mean()
        beside = f"{head.name}: the column {name!r} looks like those of scores ({', '.join(names[:3])}), but "
        if _SOME <= share <= _MOST:
            line, text = next((line, text) for line, text in cells[np.isnan(values)].items())
            raise DataError(
                f"{beside}{text[:40]!r} on line {line} is no score. Correct it, or write NA where there is "
                "no judgement."
            )
        if place < last and share > _MOST and (np.abs(values) < _LARGEST).all():
            raise DataError(
                f"{beside}its numbers count up like those of rows. If they are scores, name all columns of "
                "scores: --map 'score=HEADING+HEADING'; else move it before them."
            )


def _without_flags(head: Head, names: list[str]) -> list[str]:
    """Leave out columns of nothing but 0 and 1 beside scores: a flag is no criterion, unless its heading names one."""
    marks = {name: {*numbers.read(head.judged(name))[0]} for name in names if not is_criterion(name)}
    flags = [name for name, own in marks.items() if own and own <= {0.0, 1.0}]
    return names if len(flags) == len(names) else [name for name in names if name not in flags]


def single(head: Head, options: Options) -> str | None:
    """Return the one column that holds the scores though it is not called so, such as errors or adequacy."""
    have = known(head, options)
    if "score" in have or options.wide:
        return None
    found = candidates(head, options)
    pure = [name for name in found if _is_pure(name)]
    named = pure or [name for name in found if is_quality(name)]
    return named[0] if len(named) == 1 else None


def candidates(head: Head, options: Options) -> list[str]:
    """List the columns of unknown meaning that hold scores, or may do so."""
    told = {theirs for theirs in options.columns.values() if isinstance(theirs, str)}
    told |= taken(options.metric_columns, head.header)
    free = [name for name in head.header if name not in told and columns.meaning(name) is None]
    head.scores |= {name: _may_be_scores(name, head.judged(name)) for name in free if name not in head.scores}
    found = [name for name in free if head.scores[name]]
    return [name for name in found if not is_metric(name)] or found  # a metric is people's only where nothing else is


def _may_be_scores(name: str, cells: pd.Series) -> bool:
    """Tell whether a column holds scores: numbers or words of a scale, and no ids, times or lengths."""
    words = columns.words(name)
    if name in columns.EXTRAS and not orientation.kind(name):
        return False
    quality = is_quality(name)
    if not quality and (set(words) & _NO_SCORES or checks.is_heading(name)):
        return False
    if cells.empty:
        return is_criterion(name) or bool(OF_PERSON.fullmatch(name))
    if quality and not (is_criterion(name) and set(words) & _NO_SCORES):
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
        texts, _ = ladders.scored(texts, {}, lambda line: None, heading="")
    except DataError:  # words of a scale, which the user must say, or any other text
        steps = texts.str.strip().unique()
        words = len(steps) <= _STEPS and all(map(_WORD.fullmatch, steps))
        return np.full(len(texts), 1.0 if words else np.nan)
    return numbers.read(texts)[0]


def _by_others(names: list[str], have: set[str | None]) -> str:
    """Say what columns are by the other columns: what a judgement lacks."""
    if {"annotator", "system"} <= have:
        return "criterion"
    if "annotator" in have and not any(map(_touches_criterion, names)):
        return "system"
    return ""


def _decided(head: Head, numeric: list[str], have: set[str | None]) -> Layout | None:
    """Decide by the headings, and by the other columns."""
    named = [name for name in numeric if _is_pure(name)]
    others = [name for name in numeric if name not in named]
    people = [name for name in others if OF_PERSON.fullmatch(name.strip())]
    if len(named) > 1 and (not others or {"annotator", "system"} <= have):
        return _layout("criterion", named)
    if len(named) == 1 and {"annotator", "system"} <= have:
        return None  # one criterion, which is the score
    if len(people) > 1 and "annotator" not in have and not named:
        return _layout("annotator", people)
    if len(numeric) < 2:
        return None
    shown = ", ".join(numeric[:20])
    whole = {"annotator", "system"} <= have
    if not whole and (named or any(map(_touches_criterion, others))):
        return Layout("", dict.fromkeys(numeric, ""), f"{shown} hold numbers; some name what was judged, others do not")
    if odd := _odd(head, others):
        return Layout("", dict.fromkeys(numeric, ""), f"{shown} hold numbers, but those of {odd} are of another kind")
    if role := _by_others(others, have):
        return _layout(role, others)
    return Layout("", dict.fromkeys(numeric, ""), f"{shown} hold numbers, and nothing says what they are")


def _touches_criterion(heading: str) -> bool:
    return bool(CRITERIA & set(columns.words(heading)) or orientation.kind(heading))


def _odd(head: Head, names: list[str]) -> str:
    """Name a column whose numbers are not of the others' kind: on a far narrower or wider scale, or all alike."""
    values = {name: _values(head.judged(name)) for name in names}
    spans = {name: scale[1] - scale[0] if (scale := scales.proposed(own)[0]) else 0.0 for name, own in values.items()}
    usual = Counter(spans.values()).most_common(1)[0][0]
    for name, span in spans.items():
        alike = len(values[name]) > _ALIKE and len(set(values[name])) == 1
        if alike or (span != usual and max(span, usual) >= _NARROW * min(span, usual)):
            return name
    return ""


def _layout(role: str, names: list[str]) -> Layout:
    """Name what columns are: by their headings, without the word score where all have it."""
    bare = [_AFFIX.sub("", name, count=1).strip() for name in names]
    cut = (
        all(_AFFIX.match(name) or _AFFIX.search(name) for name in names) and len(set(bare)) == len(names) and all(bare)
    )
    if role == "annotator":
        return Layout(role, {name: name for name in names})
    if role == "criterion":
        bare = [
            re.sub(r"\s*(\([^()]*\)|\[[^][]*\])\s*", " ", name).strip() or name for name in (bare if cut else names)
        ]
        return Layout(role, dict(zip(names, bare if len(set(bare)) == len(names) else names)))
    return Layout(role, dict(zip(names, bare if cut else names)))
