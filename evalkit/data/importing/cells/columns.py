"""Find out which column of a file is which of ours: as told, by our own name, or by a synonym that fits only one."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from evalkit import DataError
from evalkit.data import schemas

#: What others call our columns, written small and without spaces or marks.
SYNONYMS = {
    "src_lang": "srclang sourcelang sourcelanguage srclanguage langsrc langsource languesource ausgangssprache"
    " quellsprache idiomaorigen zdrojovýjazyk 源语言 原文语言 原言語",
    "tgt_lang": "tgtlang trglang targetlang targetlanguage trglanguage tgtlanguage langtgt languecible zielsprache"
    " idiomadestino cílovýjazyk 目标语言 目標言語",
    "system": "sys systemid systemname sysid sysname mtsystem engine model"
    " système sistema systém système システム システム名 系统 系统名称 系統 시스템 система",
    "doc": "docid document documentid documentname docname dokument article articleid"
    " documento 文档 文書 文档编号 문서 документ",
    "segment": "seg segid segmentid segmentnumber segnum itemid item sentence sentenceid sentid lineid globalsegid"
    " satz satznr satzid satznummer segmentnr segmentnummer phrase phraseid segmento oración oracion frase"
    " věta vetaid 句子 句子编号 文番号 文id セグメント 문장 сегмент предложение",
    "annotator": "rater raterid ratername worker workerid annotatorid annotatorname evaluator evaluatorid username user"
    " userid judge judgeid evaluatorname reviewer linguist assessor évaluateur annotateur bewerter"
    " annotatorin bewerterin gutachter prüfer evaluador evaluadora anotador anotadora anotátor hodnotitel"
    " hodnotitelka annotatrice évaluatrice valutatore annotatore avaliador oceniający 标注者 标注员 评估者 评估员 评审"
    " 評価者 評価者名 注釈者 평가자 оценщик аннотатор beoordelaar",
    "score": "points stars sterne étoiles estrellas "
    "rating rawscore scoreraw xsts xstsscore da dascore humanscore evaluatorscore note bewertung punkte"
    " scores punktzahl wertung puntuación puntaje calificación skóre hodnocení známka punteggio"
    " valutazione pontuação nota ocena wynik оценка балл 分数 得分 评分 スコア 得点 評点 점수 평점",
    "item_type": "itemtype type kind",
    "hit": "hitid taskid batchid",
    "started": "starttime timestart startedat",
    "ended": "endtime timeend endedat finishedat",
    "source": "src sourcetext sourcesegment sourcesentence srctext",
    "hypothesis": "hyp mttext mtoutput translation target targettext output translatedtext traduction übersetzung",
    "reference": "ref referencetext humantranslation",
    "probability": "inclusionprobability probabilityofinclusion propensity propensityscore selectionprobability"
    " displayprobability samplingprobability assignmentprobability shownprobability",
    "pair": "lp langpair languagepair langs languages sprachpaar",
}
_LOOKUP = {word: ours for ours, words in SYNONYMS.items() for word in words.split()}
#: Columns of other tables of ours that an importer keeps where they bear exactly these names.
EXTRAS = ("copy", "mark", "errors", "position", "hit_seconds", "z", "domain", "screen", "screen_place")
OURS = (*schemas.RATINGS.columns, "pair")
#: Objects of nested JSON whose names say nothing of what is in them.
_AROUND = frozenset(
    {
        "item",
        "items",
        "data",
        "task",
        "meta",
        "metadata",
        "info",
        "record",
        "result",
        "judgement",
        "judgment",
        "annotation",
        "evaluation",
        "assessment",
        "label",
        "rater",
        "annotator",
        "worker",
        "user",
        "evaluator",
        "segment",
        "document",
        "doc",
        "translation",
        "mt",
        "response",
        "answer",
        "payload",
        "unit",
        "texts",
        "text",
        "languages",
        "score",
        "scores",
        "rating",
    }
)
#: What files of some layouts have besides, and a user can map: what was marked, and what was preferred.
OTHERS = ("category", "severity", "system_a", "system_b", "preference", "first")
_PERSONAL = re.compile(
    r"mail|phone|worker|rater|annotator|user|evaluator|reviewer|judge|linguist|person|(^|[_ ])(ip|name)($|[_ ])", re.I
)
_SHORT = 100  # letters of a heading whose meaning is remembered
_ENDS = re.compile(r"[(\[]\s*(\d{1,4})\s*(?:-|–|—|to|\.\.+|…|:)\s*(\d{1,4})\s*[)\]]", re.I)


@dataclass
class Columns:
    """Our name -> the file's heading, how each was found, and what could be but was not applied."""

    names: dict[str, str]
    found: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def plain(heading: str) -> str:
    """Write a heading small, without spaces and marks, and without what stands in brackets.

    >>> plain("Segment-ID"), plain("Input.sys_id"), plain("Score (0-100)")
    ('segmentid', 'sysid', 'score')
    """
    bare = re.sub(r"\([^()]*\)|\[[^][]*\]", "", heading.casefold().removeprefix("input.").removeprefix("answer."))
    return re.sub(r"[\W_]+", "", bare)


def vocabulary(text: str) -> frozenset[str]:
    """Make a set of the words of a text.

    >>> sorted(vocabulary("rank rang"))
    ['rang', 'rank']
    """
    return frozenset(text.split())


def words(heading: str) -> list[str]:
    """Cut a heading into its words, written small; what stands in brackets, and digits, are none.

    >>> words("mqm_penaltyScore (0-25)"), words("Anzahl der Fehler 2")
    (['mqm', 'penalty', 'score'], ['anzahl', 'der', 'fehler'])
    """
    bare = re.sub(r"\([^()]*\)|\[[^][]*\]", " ", heading)
    apart = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", bare)
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", apart)]


def meaning(heading: str) -> str | None:
    """Say which of our columns a heading may be; None where it is unknown.

    Of a dotted name, as nested JSON has them, the last parts count where the first ones only say where it stands.

    >>> meaning("Rater ID"), meaning("src_lang"), meaning("colour")
    ('annotator', 'src_lang', None)
    >>> meaning("rater.id"), meaning("item.segment"), meaning("data.system.name"), meaning("z.score")
    ('annotator', 'segment', 'system', None)
    """
    return (_remembered if len(heading) <= _SHORT else _meaning)(heading)


def _meaning(heading: str) -> str | None:
    name = heading.strip()
    if name in OURS:
        return name
    bare = plain(name)
    found = bare if bare in OURS else _LOOKUP.get(bare)
    first, dot, rest = name.partition(".")
    return found or (_meaning(rest) if dot and plain(first) in _AROUND else None)


#: Every format asks for the meaning of every heading, and of the first cells besides.
_remembered = lru_cache(maxsize=4096)(_meaning)


def scale_in(heading: str) -> tuple[float, float] | None:
    """Read the ends of the scale that a heading states in brackets; None where it states none.

    >>> scale_in("Score (1-5)"), scale_in("DA [0–100]"), scale_in("XSTS (1 to 5)"), scale_in("Score (2024-05)")
    ((1.0, 5.0), (0.0, 100.0), (1.0, 5.0), None)
    """
    found = _ENDS.search(heading)
    low, high = (float(found[1]), float(found[2])) if found else (0.0, 0.0)
    return (low, high) if low < high else None


def count_known(cells: Iterable[str]) -> int:
    """Count how many of our columns a row of headings could name."""
    return len({meaning(cell) for cell in cells} - {None})


def mapped(header: list[str], options: Mapping[str, str], *, origin: str, given: Iterable[str] = ()) -> Columns:
    """Map our names to a file's headings.

    options: our name -> theirs, from the user, which nothing overrules; an empty one means that no column is meant.
    given: names that have a constant value.
    Raises DataError where such a column is not there, or a name that is
    needed fits several columns.
    """
    unwanted = {ours for ours, theirs in options.items() if not theirs}  # --map item_type= takes no column
    told = {ours: theirs for ours, theirs in options.items() if theirs}
    result = Columns(dict(told), dict.fromkeys(told, "as told"))
    if absent := {ours: theirs for ours, theirs in told.items() if theirs not in header}:
        wrong, maps = ", ".join(map(repr, absent.values())), " ".join(f"--map {ours}=…" for ours in absent)
        raise DataError(f"{origin} has no column {wrong}; it has {', '.join(header)}. Correct {maps}.")
    free = [name for name in header if name not in told.values()]
    wanted = [name for name in OURS if name not in {*told, *given, *unwanted}]
    for ours in wanted:
        exact = [name for name in free if plain(name) == plain(ours)]  # "score" and "Score" are two of them
        others = [name for name in free if meaning(name) == ours]
        choice = exact or others
        if len(choice) == 1:
            result.names[ours] = choice[0]
            result.found[ours] = "same name" if exact else "synonym"
        elif choice and ours in NEEDED:
            raise DataError(
                f"{origin}: {ours} could be {' or '.join(map(repr, choice))}. Say which: --map {ours}={choice[0]!r}."
            )
        elif choice:
            result.notes.append(f"{ours} could be {' or '.join(choice)}, so none was taken; pass --map {ours}=…")
    for name in EXTRAS:
        if name in free and name not in result.names:
            result.names[name], result.found[name] = name, "same name"
    return result


#: Columns of which none may be taken by chance, nor go unread.
NEEDED = ("system", "segment", "annotator", "score", "src_lang", "tgt_lang", "pair")


def unlike(header: list[str], used: Iterable[str], *, origin: str) -> None:
    """Refuse headings that are used and stand twice.

    >>> unlike(["score", "score (column 2)"], ["score"], origin="my.csv")
    Traceback (most recent call last):
    evalkit.DataError: my.csv: 'score' and 'score (column 2)' are one heading. Rename one of them, or drop its column.
    """
    for name in used:
        twins = [other for other in header if plain(other) == plain(name)]
        if len(twins) > 1 and plain(name):
            both = " and ".join(map(repr, twins[:2]))
            raise DataError(f"{origin}: {both} are one heading. Rename one of them, or drop its column.")


def personal(heading: str) -> bool:
    """Tell whether a column may hold people's names, whatever it is used for."""
    return meaning(heading) == "annotator" or bool(_PERSONAL.search(heading))
