"""Know what marked errors weigh: a scheme by its name, or weights as a user tells them; and what marks no error."""

import re

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.typology import SCHEMES, WMT, Scheme, spelled

_LIKE = "Write like --weights minor=1,major=5,critical=10"
_NONE = re.compile(r"no[- ]?(errors?|issues?|mistakes?)|none|nothing|n/?a|ok|[-–—]|hotw-test", re.ASCII)


def resolve(text: str | None) -> Scheme:
    """Return the scheme that ``--weights`` names or spells out; without it, that of WMT's MQM (Freitag et al. 2021).

    text: a name, or words that only one name has; or ``SEVERITY=WEIGHT`` and ``TYPE:SEVERITY=WEIGHT`` (``*``: any),
    cut by commas. Weights that are spelled out have no exceptions but those told; neutral ones weigh 0 unless told.
    Raises DataError for anything else, naming the schemes.

    >>> told = resolve("minor=1, Major=5, fluency/punctuation:minor=0.1")
    >>> told.weigh(pd.Series(["Fluency/Punctuation", "Other"]), pd.Series(["Minor", "Major"])).tolist()
    [0.1, 5.0]
    >>> resolve("burchardt") is SCHEMES["Burchardt & Lommel 2014"], resolve(None) is SCHEMES[WMT]
    (True, True)
    """
    if text is None:
        return SCHEMES[WMT]
    if "=" in text:
        return _spelled_out(text)
    wanted = text.strip().casefold()
    if found := [scheme for name, scheme in SCHEMES.items() if name.casefold() == wanted]:
        return found[0]
    words = set(re.findall(r"[\w.]+", wanted))
    near = [name for name in SCHEMES if words and words <= set(re.findall(r"[\w.]+", name.casefold()))]
    if len(near) != 1:
        raise DataError(
            f"--weights {text!r} names {'several schemes' if near else 'no scheme'}. Name one of "
            f"{'; '.join(near or SCHEMES)}. Or {_LIKE[0].lower()}{_LIKE[1:]}."
        )
    return SCHEMES[near[0]]


def _spelled_out(text: str) -> Scheme:
    """Read weights that a user spells out."""
    severities, fixed, told = {}, {}, []
    for part in text.split(","):
        name, _, value = part.partition("=")
        kind, _, severity = name.rpartition(":")
        severity, kind = (" ".join(one.casefold().split()) for one in (severity, kind))
        weight = _number(value, part)
        if not severity or (severity == "*" and not kind):
            raise DataError(f"--weights: {part.strip()!r} names no severity. {_LIKE}.")
        if kind:
            fixed[spelled(pd.Series([kind], dtype="str"))[0], severity] = weight
        else:
            severities[severity] = weight
        told.append(f"{kind + ' ' if kind else ''}{severity} {weight:g}".replace(" *", ""))
    ending = "" if fixed else ", whatever the type"
    return Scheme(f"as told: {', '.join(told)}{ending}", severities, top=0.0, fixed=fixed)


def _number(text: str, part: str) -> float:
    """Read one weight."""
    if not re.fullmatch(r"\d{1,6}(\.\d{1,9})?|\.\d{1,9}", text.strip(), re.ASCII):
        raise DataError(f"--weights: {part.strip()!r} gives no weight of 0 or more. {_LIKE}.")
    return float(text)


def no_error(error_type: pd.Series, severity: pd.Series) -> pd.Series:
    """Tell which rows mark no error: the severity says so, or the type does without a severity, or both are empty.

    >>> types = pd.Series(["No-error", None, "NONE", "Other", None, "No error"], dtype="str")
    >>> no_error(types, pd.Series([None, None, "neutral", None, "Minor", "Major"], dtype="str")).tolist()
    [True, True, True, False, False, False]
    """
    kind, level = calls_none(error_type), calls_none(severity)
    empty = error_type.isna() & severity.isna()
    return level | kind & (severity.isna() | spelled(severity).eq("neutral")) | empty


def calls_none(names: pd.Series) -> pd.Series:
    """Tell which types or severities are words for no error, however they are spelled.

    >>> calls_none(pd.Series(["No-error", "none", "NO ERROR", "noerrors", "n/a", "neutral", None])).tolist()
    [True, True, True, True, True, False, False]
    """
    codes, distinct = pd.factorize(names)
    says = [bool(_NONE.fullmatch(" ".join(str(text).casefold().replace("_", " ").split()))) for text in distinct]
    return pd.Series(np.array([*says, False])[codes], index=names.index)
