"""The tally of printed numbers: bases apart, what was recomputed first, no number counted twice or lost."""

from hypothesis import given
from hypothesis import strategies as st

from evalkit.reports import tally
from evalkit.stats import verdicts


@st.composite
def judged(draw):
    """One judged row of a comparison with print."""
    verdict = draw(st.sampled_from(["match", "differs", "not reproducible"]))
    row = {"verdict": verdict, "basis": draw(st.sampled_from(verdicts.BASES))}
    if verdict == "not reproducible":
        row["lacking"] = draw(st.sampled_from(["labels", "a model", "a file", "scores", "people", "time"]))
    if verdict == "differs" and draw(st.booleans()):
        row["reachable"] = [0.0, 1.0]
    return row


@given(st.lists(judged(), max_size=60))
def test_every_number_is_counted_once_under_its_basis_or_its_cause(rows):
    counts = tally.count(rows)
    computed = sum(sum(found.values()) for found in counts["bases"].values())
    assert computed + sum(counts["lacking"].values()) == len(rows)
    for basis, found in counts["bases"].items():
        own = [row for row in rows if row["basis"] == basis and row["verdict"] != "not reproducible"]
        assert sum(found.values()) == len(own)
        assert found.get("match", 0) == sum(row["verdict"] == "match" for row in own)
    parts = tally.bar(counts)
    assert sum(parts.values()) in (0, counts["printed"])


@given(st.lists(judged(), min_size=1, max_size=60))
def test_what_was_recomputed_leads_and_other_bases_never_add_to_it(rows):
    sentences = tally.sentences(tally.count(rows))
    own = [row for row in rows if row["basis"] == "recomputed from data" and row["verdict"] != "not reproducible"]
    printed = sum(row["basis"] != "official result" for row in rows)
    if printed:
        assert sentences[0].startswith(f"Recomputed from data: {len(own) or 'none'} of {printed} printed number")
    assert sum(sentence.startswith("Recomputed") for sentence in sentences) == bool(printed)
    assert tally.count(reversed(rows))["bases"] == tally.count(rows)["bases"]


def test_the_sentences_of_a_mixed_report():
    match, differs = {"verdict": "match"}, {"verdict": "differs"}
    data, prints, definition, official = ({"basis": basis} for basis in verdicts.BASES)
    gone = [data | {"verdict": "not reproducible", "lacking": cause} for cause in ["x", "x", "x", *"aabbccd"]]
    rows = [match | data, match | data, differs | data, differs | data | {"reachable": [1, 2]}, match | prints,
            *[match | definition] * 3, match | official, differs | official, *gone]  # fmt: skip
    assert tally.sentences(tally.count(rows)) == [
        "Recomputed from data: 4 of 18 printed numbers (22 %); 2 match, 1 is within rounding of its inputs, 1 differs.",
        "Print compared with print: 1; 1 matches.",
        "Definitions and worked examples: 3; all match.",
        "Official results of shared tasks: 2; 1 matches, 1 differs.",
        "Not recomputed: 10 (x: 3; a: 2; b: 2; c: 2; other causes: 1).",
    ]
    assert tally.bar(tally.count(rows)) == {"match": 2, "rounding": 1, "differs": 1, "rest": 14}
