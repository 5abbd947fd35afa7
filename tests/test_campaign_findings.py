"""The wording of findings: every sentence is used, checks say what to do, and works that are cited are known."""

import ast
import re

import pytest

from evalkit import ROOT
from evalkit.campaign import findings
from evalkit.campaign.findings import SIGNS, WORDING, finding
from evalkit.campaign.paperwork.markup import REFERENCES, bibtex, latex, markdown, plain

REGISTERS = {"ask", "do", "elsewhere", "say", "title", "verdict"}
GROUPS = {name: group for name, group in WORDING.items() if name != "odds"}
KEYS = {f"{name}.{variant}" for name, group in GROUPS.items() for variant in group if variant not in REGISTERS}


def named():
    """Patterns of the keys that the code names; what an f-string fills in may be anything."""
    for path in (ROOT / "evalkit" / "campaign").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield re.escape(node.value)
            if isinstance(node, ast.JoinedStr):
                yield "".join(
                    re.escape(part.value) if isinstance(part, ast.Constant) else r"\w+" for part in node.values
                )


def test_every_sentence_is_used():
    patterns = {pattern for pattern in named() if re.match(r"\w+\\\.", pattern)}
    used = {key for key in KEYS for pattern in patterns if re.fullmatch(pattern, key)}
    assert KEYS - used == set()


def test_checks_ask_and_claim_and_say_what_to_do():
    for name, group in GROUPS.items():
        variants = {variant: entry for variant, entry in group.items() if isinstance(entry, dict)}
        if not variants:
            continue
        assert group["ask"].endswith("?"), name
        for variant, entry in variants.items():
            verdict = entry.get("verdict", variant)
            assert verdict in SIGNS, (name, variant)
            assert not entry["title"].endswith("."), (name, variant)
            assert verdict == "fine" or entry.get("do", group.get("do")), (name, variant)


def test_citations_are_of_the_bibliography_and_names_cite_nothing():
    assert {*re.findall(r"@(\w+)", str(WORDING))} <= {*REFERENCES}
    text = str(finding("agreeing.gwet", coefficient="[@holm1979] AC1", estimate=0.5))
    assert plain(text) == "[@holm1979] AC1 (Gwet 2008) is 0.50."
    assert markdown(text) == "\\[@holm1979\\] AC1 (Gwet 2008) is 0.50."
    assert latex(text) == "[@holm1979] AC1 \\citep{gwet2008} is 0.50."
    assert bibtex(["gwet2008", "of nobody"]).startswith("@article{gwet2008,")


@pytest.mark.parametrize(
    ("template", "value", "expected"),
    [
        ("{x:# item}", 1, "1 item"),
        ("{x:# item}", [], "0 items"),
        ("{x:# person/people}", 1200, "1,200 people"),
        ("{x:#}", ["a", "b"], "2"),
        ("{x:is|are}", ["a"], "is"),
        ("{x:list}", list("abcdefg"), "a, b, c, d and 3 others"),
        ("{x:systems}", list("abcd"), "4 systems"),
        ("{x:%}", 0.214, "21 %"),
        ("{x:%}", 0.0004, "less than 1 %"),
        ("{x:p}", 0.0004, "p < 0.001"),
        ("{x:p}", 0.04, "p = 0.040"),
        ("{x:odds}", 0.21, "in about one case in five"),
        ("{x:odds}", 0.999, "nearly always"),
        ("{x:cap}", "one", "One"),
        ("{x:cap}", "eng-deu is", "eng-deu is"),
        ("{x:about}", 34272, "about 34,000"),
        ("{x}", None, ""),
        ("{x:+.1f}", 2, "+2.0"),
    ],
)
def test_fields_are_written_as_english_has_them(template, value, expected):
    assert findings._ENGLISH.format(template, x=value) == expected
