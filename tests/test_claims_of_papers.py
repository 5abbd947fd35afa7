"""Every number of two papers' prose stands in a claim, every claim in the paper's words, and none is counted twice."""

import re

import pytest

from evalkit import data

STANCHEV, SUDOH = "002", "004"
LISTS = {STANCHEV: "stanchev2020_claims", SUDOH: "sudoh2021_claims"}
#: Numbers in the prose that are no results, data or settings of the paper, by what they are.
KINDS = {
    "years, names and places of publication": r"\b(?:1[89]|20)\d\ds?[ab]?\b(?:-2017)?|WMT ?(?:20)?\d\d(?:-2017)?",
    "test sets": r"newstest\d+",
    "parts of the paper": r"(?:Tables?|Figures?|[Ss]ections?|Equations?|footnotes?)\s+\(?\d+[a-c]?\)?(?: and \d+)?",
    "headings": r"#+ \d[\d.]*",
    "equations": r"\(\d\) ?and \(\d\)|\$\$.*?\$\$",
    "the scale of direct assessment": r"(?:scale )?(?:of|from) 0 to 100|100-point",
    "addresses, licences, versions and footnotes": r"<?https?://\S+|CC BY-NC-SA 4\.0|fingerprint: \S+|<sup>\d</sup>",
}
#: The same of single papers.
OWN = {
    STANCHEV: {
        "what others do or recommend": r"at least 15 \(|three different methods|five (?:system|sentences|tuples)",
        "the criterion again": r"The threshold of 25|less than 25, and where",
        "the threshold that counts as none": r"a threshold of 1\)",
        "signs in a matrix": r"pair \(-?1\)|1 - E",
        "a metric's name": r"YiSi-1",
        "grants": r"agreement No \d+|NE 572/8-1",
        "no counts": r"two (?:sentences|different correlation|systems|metrics)|(?:the|All) three (?:methods|matrices)",
    },
    SUDOH: {
        "a sentence that is translated": r"445 light-years",
        "scales of others": r"1-5 Likert|five-point scale|not 5 in|criterion “1:",
        "names of hypotheses and metrics": r"hyp\d(?:-\d)?|BLEU-4|chrF2|F1-scores?",
        "section 5.2 again": r"The overall classification accuracy was 0\.\d+",
        "examples, in brackets": r"\(\d\)(?= \*|:|\.? For| in)",
        "the annotators again": r"the three (?:different )?annotators|two or three annotators",
        "critical labels by name": r"three types: \*Unrelated\*, \*Contradiction\*, and \*Serious\*",
        "no counts": r"one or two wrong",
        "a grant": r"JPMJPR1856",
    },
}
SPELLED = "two|three|four|five|six|seven|eight|nine|ten"


def squeezed(text):
    return " ".join(text.split())


def prose(text):
    """Return what stands between abstract and references, without tables, whose rows have tabs, and numbered titles."""
    body = re.split(r"\n(?:## )?Abstract\n|\n(?:## )?References\n", text)[1]
    lines = [line for line in body.splitlines() if "\t" not in line]
    return squeezed("\n".join(re.sub(r"^\d[\d.]* (?=[A-Z][^.]*$)", "", line) for line in lines))


@pytest.mark.parametrize("number", LISTS)
def test_every_claim_is_quoted_from_its_paper_and_holds_what_is_printed(paper, number):
    text = squeezed(paper(number))
    in_words = {"all", "most", "yes", "no", "more", "B", "C", "the same", "almost halves"}  # answers to the sentence
    for claim in data.published(LISTS[number]).to_dict("records"):
        quote = squeezed(claim["quote"])
        assert quote in text, quote
        if claim["printed"] in in_words:
            continue
        for word in re.split(r",? ", squeezed(claim["printed"])):
            assert re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", quote), (word, quote)


@pytest.mark.parametrize("number", LISTS)
def test_every_number_of_the_prose_stands_in_a_claim(paper, number):
    left = prose(paper(number))
    for quote in sorted(map(squeezed, data.published(LISTS[number])["quote"]), key=len, reverse=True):
        left = left.replace(quote, " § ")
    for pattern in (*KINDS.values(), *OWN[number].values()):
        left = re.sub(pattern, " ", left)
    found = [left[max(m.start() - 60, 0) : m.end() + 40] for m in re.finditer(rf"\d[\d,.]*|\b(?:{SPELLED})\b", left)]
    assert found == []


@pytest.mark.parametrize("number", LISTS)
def test_no_printed_number_is_claimed_twice(number):
    claims = data.published(LISTS[number])
    assert not claims.duplicated(["item", "cell"]).any()
    counted = claims[claims["printed"].str.fullmatch(r"[-<\d.,e]+k?")].groupby(["item", "quote", "printed"]).size()
    for (item, quote, printed), times in counted.items():
        occurs = len(re.findall(rf"(?<![\w.,-]){re.escape(printed)}(?![\w]|[.,]\d)", quote))
        if printed in quote:
            assert times <= max(occurs, 1), (item, quote, printed)


@pytest.mark.parametrize(
    ("table", "title"), [("4a", "(a) No tie"), ("4b", "(b) Soft"), ("4c", "(c) Hard"), ("5", "Table 5:")]
)
def test_matrices_are_transcribed_as_printed(paper, table, title):
    before = paper(STANCHEV).split(title)[0].rstrip().splitlines()
    block = [line.split("\t") for line in before if line.split("\t")[0] in ("Human", "") and line.count("\t") == 4][-3:]
    claims = data.published(LISTS[STANCHEV])
    claims = claims[claims["item"] == f"Table {table}"]
    assert claims["printed"].tolist() == [cell for row in block for cell in row[2:]]
    assert claims["cell"].tolist() == [f"human {row[1]}, metric {order}" for row in block for order in "<=>"]
