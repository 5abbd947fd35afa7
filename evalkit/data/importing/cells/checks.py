"""Find attention checks, which are no judgements of the campaign: marked in a column, by a kind, or as a system."""

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing.cells import columns
from evalkit.data.importing.cells.columns import vocabulary

REASON = "is an attention check"
PRACTICE = "is an item of the tutorial"
_HEADINGS = vocabulary(
    "attention attn attncheck attentioncheck isattentioncheck isattention isattncheck attentionitem check "
    "ischeck checkitem gold isgold goldcheck golditem controlitem trap istrap trapitem catch catchtrial iscatch "
    "honeypot ishoneypot qualitycheck isqualitycheck qc isqc kontrollfrage aufmerksamkeitstest "
    "aufmerksamkeitscheck 注意力检查 测试题 アテンションチェック"
)
#: What files call a kind of item that is a check; and what they call an item for practice.
KINDS = vocabulary(
    "attention attn attncheck attentioncheck attentionitem attentiontest check checkitem trap trapitem catch "
    "catchtrial catchitem honeypot goldcheck golditem qualitycheck qc qcitem controlitem kontrolle "
    "kontrollfrage aufmerksamkeitstest aufmerksamkeitscheck"
)
PRACTICE_KINDS = vocabulary("practice training tutorial warmup demo trial übung probe")
_SYSTEMS = vocabulary("check checks attncheck attentioncheck trap honeypot catchtrial")
_YES = vocabulary("true yes y 1 1.0 x t ja j oui sí si ano wahr vrai verdadero pravda sim tak да 是 はい")
_NO = vocabulary("false no n 0 0.0 f nein non ne nee falsch faux falso nepravda não nao nie нет 否 いいえ")
_MOST = 0.5  # share of the rows that can be checks


def is_heading(name: str) -> bool:
    """Tell whether a heading is one under which checks are marked.

    >>> is_heading("is_attention_check"), is_heading("attention span")
    (True, False)
    """
    return columns.plain(name) in _HEADINGS


def found(
    frame: pd.DataFrame, names: dict[str, str], ours: dict[str, str], *, origin: str = ""
) -> dict[int, tuple[str, str]]:
    """Return by place the heading that marks a row as no judgement, and the reason.

    names: our name -> the file's heading. ours: kinds of items (small) that the user maps, which are never checks.
    Raises DataError where a column would mark most rows.
    """
    marked: dict[int, tuple[str, str]] = {}
    for name in [name for name in frame if is_heading(name) and name not in names.values()]:
        marked |= dict.fromkeys(_marked(frame[name], name, origin), (name, REASON))
    for known, reason in ((KINDS, REASON), (PRACTICE_KINDS, PRACTICE)):
        marked |= _named(frame, names.get("item_type"), known - {columns.plain(kind) for kind in ours}, reason)
    return marked | _named(frame, names.get("system"), _SYSTEMS, REASON)


def told(marked: dict[int, tuple[str, str]], values: np.ndarray) -> str:
    """Say how many checks were set apart, and how their scores compare with the others'; nothing where there are none.

    >>> told({1: ("CHECK", REASON)}, np.array([80.0, 10.0, 60.0]))
    '1 attention checks were set apart; their scores have the mean 10, the others 70'
    """
    places = [place for place, (_, reason) in marked.items() if reason == REASON]
    if not places:
        return ""
    rest = np.delete(values, [*marked])
    own, others = (part[np.isfinite(part)] for part in (values[places], rest))
    means = ""
    if own.size and others.size:
        means = f"; their scores have the mean {own.mean():.4g}, the others {others.mean():.4g}"
    return f"{len(places):,} attention checks were set apart{means}"


def _marked(cells: pd.Series, name: str, origin: str) -> list[int]:
    """Return the places of a column's rows that say yes; none where the column says anything else than yes or no."""
    small = cells.str.casefold()
    if not small.dropna().isin(_YES | _NO).all():
        return []
    yes = small.isin(_YES).to_numpy()
    if len(yes) and yes.mean() > _MOST:
        raise DataError(
            f"{f'{origin}: ' if origin else ''}{name} marks {yes.mean():.0%} of the rows, too many for attention "
            "checks. Drop the rows that are checks, and rename the column."
        )
    return yes.nonzero()[0].tolist()


def _named(frame: pd.DataFrame, name: str | None, known: frozenset[str], reason: str) -> dict[int, tuple[str, str]]:
    if name is None or name not in frame:
        return {}
    hits = {text for text in frame[name].dropna().unique() if columns.plain(str(text)).rstrip("0123456789") in known}
    places = frame[name].isin(hits).to_numpy().nonzero()[0].tolist() if hits else []
    return dict.fromkeys(places, (name, reason))
