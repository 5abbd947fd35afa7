"""Challenge sets: ACES' format, the Kendall-like tau, and rules that spoil a translation in one known way."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import DataError
from evalkit.data import simulate
from evalkit.data.indicmt import SHORT
from evalkit.papers.sai2023 import challenge, perturbations

RNG = np.random.default_rng
ROW = {"source": 'It "rains" in Pune.', "good-translation": "पुणे में बारिश है।", "phenomena": "antonym"}
ROW |= {"incorrect-translation": "पुणे में धूप है।", "reference": "पुणे में बारिश हो रही है।", "langpair": "en-hi"}


def scored(good, wrong, **columns):
    base = {"challenge": range(len(good)), "phenomena": "x", "source": [f"s{i}" for i in range(len(good))]} | columns
    sides = {"good": good, "incorrect": wrong}
    return pd.concat([pd.DataFrame(base | {"side": side, "m": m}) for side, m in sides.items()], ignore_index=True)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30))
@settings(max_examples=30)
def test_tau_counts_right_and_wrong_preferences_and_a_tie_is_wrong(pairs):
    good, wrong = zip(*pairs)
    row = challenge.kendall_like(scored(good, wrong), ["m"], resamples=20).iloc[0]
    right = sum(g > w for g, w in pairs)
    assert row["tau"] == pytest.approx((right - (len(pairs) - right)) / len(pairs))
    assert (row["n"], row["ties"]) == (len(pairs), sum(g == w for g, w in pairs))
    assert row["low"] <= row["tau"] + 1e-12
    turned = challenge.kendall_like(scored(good, wrong), ["m"], lower_is_better={"m"}, resamples=20).iloc[0]
    assert turned["tau"] + row["tau"] == pytest.approx(-2 * row["ties"] / row["n"])


def test_intervals_draw_sentences_and_groups_are_apart():
    rng = RNG(7)
    good, wrong = rng.normal(0.3, 1, 200), rng.normal(0, 1, 200)
    each = challenge.kendall_like(scored(good, wrong), ["m"], resamples=2000).iloc[0]
    p = (each["tau"] + 1) / 2
    assert each["high"] - each["low"] == pytest.approx(2 * 1.96 * 2 * np.sqrt(p * (1 - p) / 200), rel=0.1)
    # the same judgements of ten sentences only: what is drawn are the sentences
    ten = challenge.kendall_like(scored(good, wrong, source=[f"s{i // 20}" for i in range(200)]), ["m"], resamples=500)
    assert ten.iloc[0]["tau"] == each["tau"]
    both = scored([1, 1, 0, 0], [0, 0, 1, 1], phenomena=["a", "a", "b", "b"])
    found = challenge.kendall_like(both, ["m"], resamples=10)
    columns = ["phenomena", "tau", "low", "high", "n"]
    assert found[columns].to_numpy().tolist() == [["a", 1, 1, 1, 2], ["b", -1, -1, -1, 2]]


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl"])
def test_a_file_in_aces_format_is_read_to_the_letter(tmp_path, suffix):
    path = tmp_path / f"set{suffix}"
    if suffix == ".tsv":
        path.write_text("\t".join(ROW) + "\n" + "\t".join(ROW.values()) + "\n", encoding="utf-8")
    else:
        path.write_text(json.dumps(ROW, ensure_ascii=False) + "\n", encoding="utf-8")
    found = challenge.read(path)
    assert found.to_dict("records") == [ROW | {"language": "hi"}]
    sides = challenge.long(found)
    assert sides["hypothesis"].tolist() == [ROW["good-translation"], ROW["incorrect-translation"]]
    assert sides["side"].tolist() == ["good", "incorrect"]


SCORED = scored([1.0, 2], [0.0, 1])


def check(**broken):
    return challenge.checked(pd.DataFrame([ROW | broken]), origin="my.tsv")


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("langpair 'hi'", lambda _: check(langpair="hi")),
        ("reference is empty", lambda _: check(reference=" ")),
        ("the same", lambda _: check(**{"incorrect-translation": ROW["good-translation"]})),
        ("source is empty", lambda _: check(source=None)),
        ("no column good-translation", lambda folder: challenge.read(folder / "a.tsv")),
        ("no challenge set", lambda folder: challenge.read(folder / "b.jsonl")),
        ("no file c.tsv", lambda folder: challenge.read(folder / "c.tsv")),
        ("no column m", lambda _: challenge.kendall_like(SCORED.drop(columns="m"), ["m"])),
        ("one good and one incorrect", lambda _: challenge.kendall_like(SCORED.iloc[:3], ["m"])),
        ("no score", lambda _: challenge.kendall_like(SCORED.assign(m=np.nan), ["m"])),
    ],
)
def test_a_challenge_set_that_is_broken_is_refused(words, call, tmp_path):
    (tmp_path / "a.tsv").write_text("source\treference\nx\ty\n")
    (tmp_path / "b.jsonl").write_text("{no json\n")
    with pytest.raises(DataError, match=words):
        call(tmp_path)


@pytest.mark.parametrize(
    ("language", "text", "turned"),
    [
        ("gu", "આ સાચું છે.", "આ સાચું નથી."),
        ("hi", "यह सच है।", "यह सच नहीं है।"),
        ("hi", "यह सच नहीं है।", "यह सच है।"),
        ("mr", "हे खरे आहे.", "हे खरे नाही."),
        ("ml", "ഇത് ശരിയാണ്.", "ഇത് ശരിയല്ല."),
        ("ml", "അവൻ വരുന്നില്ല.", "അവൻ വരുന്നു."),
        ("ta", "அது இங்கே உள்ளது.", "அது இங்கே இல்லை."),
        ("hi", "चलो!", None),
        ("kn", "ಇದು ಸರಿ.", None),
    ],
)
def test_negation_turns_the_meaning_around(language, text, turned):
    assert perturbations.negation(text, language) == turned


@given(st.text(alphabet="ab १२३45", min_size=1, max_size=20), st.integers(0, 99))
def test_a_number_changes_in_one_digit_of_its_script(text, seed):
    spoilt = perturbations.number(text, RNG(seed))
    if not any(letter.isdigit() for letter in text):
        assert spoilt is None
        return
    changed = [(a, b) for a, b in zip(text, spoilt, strict=True) if a != b]
    assert len(changed) == 1
    assert all(letter.isdigit() and letter.isascii() == changed[0][0].isascii() for letter in changed[0])
    assert int(changed[0][1]) != 0


@given(st.lists(st.sampled_from(["घर", "नदी", "पुल", "वन", "पथ"]), min_size=1, max_size=8), st.integers(0, 99))
def test_shuffled_words_are_the_same_words_in_another_order(parts, seed):
    text = " ".join(parts) + "।"
    spoilt = perturbations.order(text, RNG(seed))
    assert (spoilt is None) == (len(set(parts)) < 4)
    if spoilt is not None:
        assert spoilt != text
        assert spoilt[-1] == "।"
        assert Counter(spoilt[:-1].split()) == Counter(parts)


def test_a_name_is_replaced_by_another_and_the_rest_stays():
    source, text = "The flight from Karachi to Istanbul was late.", "कराची से इस्तांबुल की उड़ान देर से आई।"
    for seed in range(8):
        spoilt = perturbations.name(text, source, ["बर्लिन", "कराची"], RNG(seed)).split()
        changed = [(a, b) for a, b in zip(text.split(), spoilt, strict=True) if a != b]
        assert changed in ([("कराची", "बर्लिन")], [("इस्तांबुल", "बर्लिन")], [("इस्तांबुल", "कराची")])
    assert perturbations.name(text, "no names here", ["बर्लिन"], RNG(7)) is None
    assert perturbations.name("कराची", "in Karachi", ["कराची"], RNG(7)) is None


def test_flawless_translations_are_degraded_in_the_real_data(real):
    ratings = real("indicmt-mqm")
    table = ratings.assign(language=ratings["tgt_lang"].astype(str).map(SHORT), score=ratings["score"].clip(lower=0))
    flawless = set(zip(table["language"], table["hypothesis"], table["score"]))
    made = challenge.perturbed(table)
    sizes = made.groupby(["language", "phenomena"]).size().unstack()
    assert set(sizes.index) == {"gu", "hi", "mr", "ml", "ta"}
    assert set(sizes.columns) == set(challenge.PHENOMENA)
    assert sizes.notna().all(axis=None)
    assert sizes.to_numpy().max() == challenge.MOST
    assert {*zip(made["language"], made["good-translation"], [25.0] * len(made))} <= flawless
    pd.testing.assert_frame_equal(made, challenge.perturbed(table))
    numbers = made[made["phenomena"] == "number"]
    for right, wrong in zip(numbers["reference"], numbers["incorrect-translation"]):
        assert sum(a != b for a, b in zip(right, wrong, strict=True)) == 1


def test_a_set_is_made_of_simulated_ratings_and_nothing_flawless_is_refused():
    ratings = simulate.stand_in("indicmt-mqm", seed=1)
    table = ratings.assign(language=ratings["tgt_lang"].astype(str).map(SHORT))
    made = challenge.perturbed(table)
    assert set(made["language"]) == {"gu", "hi", "mr", "ml", "ta"}
    with pytest.raises(DataError, match="has no challenges"):
        challenge.perturbed(table.assign(reference="क", hypothesis="क"))
