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


class Lacking(str):
    """A sentence about what a file lacks, which a report lists apart."""


def lacking(*clauses: str) -> list[str]:
    """Say what is missing and how to collect it, in one paragraph; nothing where nothing is missing."""
    text = " ".join(clause for clause in clauses if clause)
    pair = "-" in text.partition(" ")[0]  # a language pair is not written with a capital
    return [Lacking(text if pair else text[0].upper() + text[1:])] if text else []


def known(found: object) -> list[str]:
    """Return the sentences of one result about what is there; none of a missing result."""
    return [sentence for sentence in say(found) if not isinstance(sentence, Lacking)]


def not_in_file(**found: object) -> list[str]:
    """List what results lack, with what to collect, each under its name: ``not_in_file(calibration=…)``."""
    lacks: dict[str, list[str]] = {}
    for name, result in found.items():
        for sentence in say(result):
            if isinstance(sentence, Lacking):
                lacks.setdefault(sentence, []).append(name.replace("_", " "))
    return [f"{', '.join(names).capitalize()}: {sentence}" for sentence, names in lacks.items()]
