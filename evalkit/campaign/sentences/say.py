"""One function that says results in words; the modules beside this one register a sentence-maker for each result."""

from __future__ import annotations

from functools import singledispatch

from evalkit.campaign.missing import Missing


@singledispatch
def say(found: object) -> list[str]:
    """Return the sentences of one result, a paragraph each; of a missing one, what to collect.

    found: a ``Campaign``, ``Missing``, or what one of the analyses returns.
    """
    raise TypeError(f"there are no sentences for {type(found).__name__}")


@say.register
def missing(found: Missing) -> list[str]:
    return lacking(f"{found.reason} {found.collect}".strip())


def lacking(*clauses: str) -> list[str]:
    """Say what is missing and how to collect it, in one paragraph; nothing where nothing is missing."""
    text = " ".join(clause for clause in clauses if clause)
    pair = "-" in text.partition(" ")[0]  # a language pair is not written with a capital
    return [f"Missing here: {text if pair else text[0].upper() + text[1:]}"] if text else []
