"""A designed campaign: the laws of its assignment, what annotators see, and the way from its tables to the roles."""

import contextlib
import csv
import io
import itertools
import json
import random
import re
from collections import Counter

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from evalkit import DataError, data
from evalkit.campaign import compare_plan, from_ratings, rank_systems
from evalkit.campaign.design import Texts, Wish, assignment, draw, drawing, get_protocol, write, writing
from evalkit.campaign.design.drawing import PROTOCOLS
from evalkit.campaign.design.expectation import expect, met, share_error, usual
from evalkit.campaign.design.texts import read_texts
from evalkit.data import designs
from evalkit.data.importing import import_campaign
from evalkit.human import context, preferences
from evalkit.human.annotators import quality_control
from evalkit.reports import cli
from tests.makers import each


def texts_of(lengths, systems, *, humans=(), seed=1):
    rng = np.random.default_rng(seed)
    docs = [f"doc{number}" for number, length in enumerate(lengths) for _ in range(length)]

    def line(name, place):
        return " ".join([name, str(place), *rng.choice(WORDS, size=rng.integers(3, 12))])

    outputs = {name: [line(name, place) for place in range(len(docs))] for name in systems}
    sources = [line("src", place) for place in range(len(docs))]
    told = {"humans": frozenset(humans), "src_lang": "eng", "tgt_lang": "deu"}
    return Texts(docs=docs, sources=sources, outputs=outputs, **told)


def people(count):
    return tuple(f"person-{number:02d}" for number in range(count))


TALE = "the cat sat on a mat while it rained and nobody came home before ten"
WORDS = TALE.split()


wishes = st.builds(
    Wish,
    protocol=st.sampled_from([PROTOCOLS[name] for name in ("DA", "ESA", "cESA", "preference")]),
    annotators=st.integers(1, 6).map(people),
    overlap=st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    calibration=st.sampled_from([0, 5, 12]),
    degraded=st.sampled_from([0.0, 0.1, 0.3]),
    repeats=st.sampled_from([0.0, 0.1, 0.3]),
    seed=st.integers(0, 50),
)
sizes = st.lists(st.integers(1, 6), min_size=4, max_size=14)
crews = st.integers(2, 5).map(lambda count: [f"s{number}" for number in range(count)])


def screens(drawn, *kinds):
    """Yield annotator's number and screen, of some kinds of showings."""
    for number, mine in enumerate(drawn.screens):
        for screen in mine:
            if screen.kind in kinds:
                yield number, screen


@given(lengths=sizes, systems=crews, wish=wishes)
def test_documents_are_shown_whole_and_every_one_by_everything_it_is_to_be_shown_by(lengths, systems, wish):
    texts = texts_of(lengths, systems)
    drawn = draw(texts, wish)
    whole = texts.documents
    for _, screen in screens(drawn, "main", "calibration"):
        assert [item.segment for item in screen.items] == list(whole[screen.doc])
    for _, screen in screens(drawn, "main", "degraded", "repeat", "calibration"):
        shown = [item.segment for item in screen.items]
        assert shown == [segment for segment in whole[screen.doc] if segment in shown]  # in the document's order
        assert len({item.systems for item in screen.items}) == 1
    together = wish.protocol.together or len(systems)
    wanted = {frozenset(group) for group in itertools.combinations(systems, together)}
    seen = {doc: Counter() for doc in drawn.documents}
    for _, screen in screens(drawn, "main"):
        seen[screen.doc][frozenset(screen.items[0].systems)] += 1
    assert set(drawn.documents) | set(drawn.reserved) == set(whole)
    assert all(set(counts) == wanted and len(set(counts.values())) == 1 for counts in seen.values())
    twice = [doc for doc, counts in seen.items() if set(counts.values()) == {2}]
    if len(wish.annotators) > 2 or wish.overlap < 1:
        most = round(wish.overlap * len(seen)) if len(wish.annotators) > 1 else 0
        assert len(twice) == most or len(seen) < len(wish.annotators)


@given(lengths=sizes, systems=crews, wish=wishes)
def test_annotators_and_what_they_are_shown_by_are_in_balance(lengths, systems, wish):
    drawn = draw(texts_of(lengths, systems), wish)
    counts = Counter((number, frozenset(screen.items[0].systems)) for number, screen in screens(drawn, "main"))
    groups = sorted({group for _, group in counts}, key=sorted)
    table = np.array([[counts[number, group] for group in groups] for number in range(len(wish.annotators))])
    assert (table.max(axis=1) - table.min(axis=1)).max() <= 1  # everybody sees every system equally often
    assert (table.max(axis=0) - table.min(axis=0)).max() <= 1  # and every system is seen by all alike
    shown = [(number, screen.doc, frozenset(screen.items[0].systems)) for number, screen in screens(drawn, "main")]
    assert len(set(shown)) == len(shown)  # nobody judges the same translation twice but as a repeat


@given(lengths=sizes, systems=crews, wish=wishes)
def test_sides_of_a_screen_are_in_balance(lengths, systems, wish):
    drawn = draw(texts_of(lengths, systems), wish)
    own, whole = Counter(), Counter()
    for number, screen in screens(drawn, "main"):
        shown = screen.items[0].systems
        for (side, system), other in itertools.product(enumerate(shown), range(len(shown))):
            own[number, frozenset(shown), system, other] += side == other
            whole[frozenset(shown), system, other] += side == other
    for counts in (own, whole) if wish.protocol.compares else (own,):  # over all annotators, too
        sides = {}
        for (*shown, _), count in counts.items():
            sides.setdefault(tuple(shown), []).append(count)
        assert all(max(ends) - min(ends) <= 1 for ends in sides.values())


def few_opponents(systems, opponents, *, docs=12, crew=4, seed=1, protocol="preference", **wish):
    texts = texts_of([3] * docs, [f"s{number}" for number in range(systems)])
    return draw(texts, Wish(PROTOCOLS[protocol], people(crew), opponents=opponents, seed=seed, **wish))


@given(systems=st.integers(3, 9), opponents=st.integers(2, 6), seed=st.integers(0, 30), crew=st.integers(1, 5))
def test_with_few_opponents_all_systems_are_connected_in_every_document_and_meet_evenly(systems, opponents, seed, crew):
    if opponents >= systems or opponents * systems % 2:
        return
    drawn = few_opponents(systems, opponents, seed=seed, crew=crew, overlap=0.0)
    met = {}
    for _, screen in screens(drawn, "main"):
        met.setdefault(screen.doc, []).append(frozenset(screen.items[0].systems))
    assert len(met) == 12
    for pairs in met.values():
        assert len(pairs) == len(set(pairs)) == systems * opponents // 2
        assert set(Counter(itertools.chain.from_iterable(pairs)).values()) == {opponents}
        table = pd.DataFrame(map(sorted, pairs)).apply(lambda side: side.str[1:].astype(int))
        graph = sparse.coo_array((np.ones(len(table)), (table[0], table[1])), shape=(systems, systems))
        assert sparse.csgraph.connected_components(graph, directed=False)[0] == 1
    counts = Counter(itertools.chain.from_iterable(met.values()))
    every = [counts[frozenset(pair)] for pair in itertools.combinations({f"s{k}" for k in range(systems)}, 2)]
    assert max(every) - min(every) <= 4, "each pair about equally often"
    if crew <= systems * opponents // 2:
        assert max(drawn.judgements) - min(drawn.judgements) <= 3 * (12 % crew > 0) * systems * opponents


REFUSED_OPPONENTS = [
    ({"systems": 5, "opponents": 3}, "even number"),
    ({"systems": 4, "opponents": 0}, "1 to 3"),
    ({"systems": 4, "opponents": 9}, "1 to 3"),
    ({"systems": 6, "opponents": 1, "docs": 1}, "do not connect"),
    ({"systems": 3, "opponents": 1, "protocol": "ESA"}, "comparisons of two"),
]


@pytest.mark.parametrize(("wish", "word"), REFUSED_OPPONENTS)
def test_opponents_that_cannot_be_are_refused(wish, word):
    with pytest.raises(DataError, match=word):
        few_opponents(**wish)


@given(lengths=sizes, systems=crews, wish=wishes)
def test_copies_are_of_the_annotators_own_originals_far_away_and_never_of_the_calibration_set(lengths, systems, wish):
    texts = texts_of(lengths, systems)
    drawn = draw(texts, wish)
    for mine in drawn.screens:
        place = {(screen.doc, screen.items[0].systems): at for at, screen in enumerate(mine) if screen.kind == "main"}
        copied = [(screen.doc, screen.items[0].systems) for screen in mine if screen.kind in ("degraded", "repeat")]
        assert len(set(copied)) == len(copied)
        for at, screen in enumerate(mine):
            if screen.kind not in ("degraded", "repeat"):
                continue
            assert screen.doc not in drawn.reserved
            original = place[screen.doc, screen.items[0].systems]
            assert abs(at - original) > assignment.distance(len(place))
            first = {item.segment: item.texts for item in mine[original].items}
            assert at > original or screen.kind == "degraded"
            for item in screen.items:
                assert set(item.kinds) == {screen.kind}
                changed = [text != before for text, before in zip(item.texts, first[item.segment], strict=True)]
                assert set(changed) == {screen.kind == "degraded"}


@given(lengths=sizes, systems=crews, wish=wishes)
def test_the_same_seed_draws_the_same_and_all_judge_the_same_calibration_set(lengths, systems, wish):
    texts = texts_of(lengths, systems)
    drawn = draw(texts, wish)
    assert drawn == draw(texts, wish)
    sets = [[screen for screen in mine if screen.kind == "calibration"] for mine in drawn.screens]
    assert all(one == sets[0] for one in sets)
    assert {screen.doc for screen in sets[0]} == set(drawn.reserved)
    names = writing.lay_out(texts, drawn)["item"]
    assert names.nunique() == sum(len(screen.items) for mine in drawn.screens for screen in mine)


@given(lengths=sizes, systems=crews, hours=st.floats(0.2, 3), count=st.integers(1, 5))
def test_nobody_works_longer_than_the_hours(lengths, systems, hours, count):
    wish = Wish(PROTOCOLS["ESA"], people(count), hours=hours, seconds=60)
    with contextlib.suppress(DataError):
        drawn = draw(texts_of(lengths, systems), wish)
        assert len(drawn.documents) == 1 or max(drawn.judgements) <= hours * 60


@given(text=st.text(min_size=1, max_size=200), seed=st.integers(0, 5))
def test_a_degraded_text_differs_in_one_span_of_the_length_that_the_source_says(text, seed):
    donors = [" ".join(WORDS), "один два три четыре пять шесть семь восемь девять десять " * 8, "漢字" * 60]
    found = drawing.degraded(text, donors, np.random.default_rng(seed))
    words = text.split()
    if len(words) < 2 and len(text) < 30:
        assert found is None
    elif found is not None and max(map(len, words)) < 20:
        after = found.split()
        assert len(after) == len(words)
        changed = [place for place, (one, other) in enumerate(zip(words, after)) if one != other]
        assert changed
        assert changed[-1] - changed[0] < drawing.span_length(len(words))


def folder_of(tmp_path, protocol="ESA"):
    texts = texts_of([4, 3, 5, 2, 4, 3, 4, 5, 3, 4], ["AlphaNet", "BetaMT", "reference"], humans={"reference"})
    for place in range(0, len(texts.docs), 5):
        texts.outputs["AlphaNet"][place] = "=1+1 <b>bold</b>"
    kind = get_protocol(protocol)
    options = {} if kind.compares else {"calibration": 6, "degraded": 0.15, "repeats": 0.15}
    drawn = draw(texts, Wish(kind, people(3), **options))
    write(tmp_path, "tiny", texts, drawn, planned={"smallest_difference": 5.0, "standard_error": 2.0, "unit": "points"})
    return texts, drawn


def roles_of(path):
    """What the design says of each judgement: task, system, doc, segment, kind."""
    design = designs.read(path / "design.json")
    return sorted(
        (design.said["annotators"][entry.task - 1], design.systems[alias], entry.doc, entry.segment, kind)
        for entry in design.items.values()
        for alias, kind in entry.shown.items()
    )


def imported(tmp_path, *files, **options):
    report, _ = import_campaign(files, tmp_path / "out.parquet", keep_names=True, **options)
    return report, data.open_campaign(tmp_path / "out.parquet")[0]


def roles(ratings):
    columns = ["annotator", "system", "doc", "segment", "item_type"]
    return sorted(ratings[columns].astype("str").itertuples(index=False, name=None))


def fill(path, score=lambda place: str(place % 7)):
    """Fill the table of all that is to be judged."""
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    for place, row in enumerate(rows[1:]):
        row[-1] = score(place)
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return rows


def test_the_table_runs_nothing_in_a_spreadsheet_and_comes_back_unchanged(tmp_path):
    systems = ["=cmd|' /C calc'!A0", "+1+1", "a;=1"]
    outputs = {name: ["@SUM(A1)", "'=1", "-3.5", "- a\t=1"] for name in systems}
    texts = Texts(
        docs=["=doc"] * 4, sources=["=1+1", "\r=1", "plain", '"=1'], outputs=outputs, src_lang="eng", tgt_lang="deu"
    )
    drawn = draw(texts, Wish(PROTOCOLS["ESA"], ("=Ann", "Bob"), degraded=0.0, repeats=0.0))
    write(tmp_path, "c", texts, drawn, planned={})
    rows = fill(tmp_path / "assignment.csv", lambda place: str(10 + place))
    parts = [part for row in rows for cell in row for part in re.split("[;\t\r\n]", cell)]
    assert "-3.5" in parts
    assert not [part for part in parts if re.match("[=+@]|-[^3]", part)]
    (tmp_path / "design.json").unlink()
    _, ratings = imported(tmp_path, tmp_path / "assignment.csv")
    assert (set(ratings["system"]), set(ratings["doc"])) == (set(systems), {"=doc"})


def log_of(campaign, *, errors=()):
    """Write what Pearmut would log of a campaign in which everything was judged, by its rules; scores count up."""
    lines, score, sliders = [], 0, campaign["info"].get("sliders")
    for user, task in zip(campaign["info"]["users"], campaign["data"]):
        for number, screen in enumerate(task):
            said = [{} for _ in screen]
            for own, item in zip(said, screen):
                for model in item["tgt"]:
                    score += 1
                    given = {one["name"]: random.Random(score).randint(one["min"], one["max"]) for one in sliders or ()}
                    whole = None if sliders or errors else score % 101
                    own[model] = {"score": whole, "sliders": given or None, "error_spans": list(errors)}
            times = [{"time": 1e9 + 100 * number + at, "action": name} for at, name in ((0, "load"), (60, "submit"))]
            lines.append({"user_id": user, "item_i": number, "item": screen, "annotation": said, "actions": times})
    return "".join(json.dumps(line) + "\n" for line in lines)


def sides_of(drawn):
    """Where each translation stands on its screen, by annotator, document, segment, systems on it, and system."""
    found = Counter()
    for number, screen in screens(drawn, "main", "calibration", "degraded", "repeat"):
        for item in screen.items:
            at = (drawn.wish.annotators[number], screen.doc, str(item.segment + 1), frozenset(item.systems))
            found.update((*at, system, float(place)) for place, system in enumerate(item.systems, 1))
    return found


def sides_in(ratings):
    """The same of what was imported: a screen is a comparison, or all that has its name."""
    keys = ["annotator", "doc", "segment"]
    screen = "hit" if "against" in ratings else "screen"
    shown = ratings.groupby([*keys, screen])["system"].transform(lambda own: [frozenset(own)] * len(own))
    return Counter(zip(*(ratings[key] for key in keys), shown, ratings["system"], ratings["screen_place"]))


WAYS = [
    *itertools.product(["DA", "ESA", "MQM", "cESA", "preference"], ["Pearmut"]),
    *itertools.product(["XSTS", "cESA", "preference"], ["table", "workbooks"]),
    ("cESA", "table alone"),
]


def judged(folder, protocol, way):
    """Have everything judged, and return the files that hold the judgements."""
    if way == "Pearmut":
        error = {"start_i": 0, "end_i": 2, "severity": "major", "category": "Accuracy/Mistranslation"}
        campaign = json.loads((folder / "campaign.json").read_text())
        path = folder / "data" / "annotations" / "tiny.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(log_of(campaign, errors=[error] if protocol == "MQM" else []))
        return [path]
    low, high = map(int, PROTOCOLS[protocol].scale)
    answers = itertools.cycle(["A", "B", "tie"] if protocol == "preference" else range(low, high + 1))
    if way == "workbooks":
        paths = sorted((folder / "for_annotators").glob("*.xlsx"))
        for path in paths:
            book = openpyxl.load_workbook(path)
            for row in book.active.iter_rows(min_row=2):
                row[-1].value = next(answers)
            book.save(path)
        return paths
    fill(folder / "assignment.csv", lambda place: str(next(answers)))
    if way == "table alone":
        (folder / "design.json").unlink()
    return [folder / "assignment.csv"]


@pytest.mark.parametrize(("protocol", "way"), WAYS)
def test_every_judgement_comes_back_with_its_role_and_its_place_on_the_screen(tmp_path, protocol, way):
    _, drawn = folder_of(tmp_path, protocol)
    compares, told = protocol == "preference", roles_of(tmp_path)
    report, ratings = imported(tmp_path, *judged(tmp_path, protocol, way))
    known = 4 if compares else 5  # what is compared is of one kind
    assert [row[:known] for row in roles(ratings)] == [row[:known] for row in told]
    assert bool(report.plan) is (way != "table alone")
    if report.plan:
        counts = pd.DataFrame(report.plan["annotators"])[["planned", "collected"]].sum().tolist()
        assert counts == [len(told) // (2 if compares else 1)] * 2
    if compares:
        assert set(ratings["score"]) == {0.0, 0.5, 1.0}
        assert ratings.groupby(["annotator", "hit"])["score"].sum().eq(1).all()
        assert ratings["system"].ne(ratings["against"]).all()
    elif protocol != "MQM":
        assert report.scale == list(PROTOCOLS[protocol].scale)
    if (protocol, way) == ("cESA", "table alone"):
        assert "screen_place" not in ratings, "its rows are single translations, and only the design says what is one"
    elif protocol in ("cESA", "preference"):
        assert sides_in(ratings) == sides_of(drawn)


def test_nothing_that_annotators_see_names_systems_or_roles(tmp_path):
    folder_of(tmp_path)
    secret = "AlphaNet|BetaMT|reference|degraded|calibration"
    campaign = json.loads((tmp_path / "campaign.json").read_text())
    for item in itertools.chain.from_iterable(itertools.chain.from_iterable(campaign["data"])):
        assert set(item) == {"item_id", "src", "tgt"}
        assert re.fullmatch("i[0-9a-f]{8}", item["item_id"])
        assert all(re.fullmatch("m[0-9a-f]{4}", name) for name in item["tgt"])
        assert not [text for text in item["tgt"].values() if "<b>" in text]
    for path in (tmp_path / "for_annotators").glob("*.xlsx"):
        cells = list(itertools.chain.from_iterable(openpyxl.load_workbook(path).active.iter_rows()))
        assert not [cell for cell in cells if cell.column not in (3, 4) and re.search(secret, str(cell.value))]
        assert not [cell for cell in cells if cell.data_type == "f"], "no formula"


def test_items_that_the_design_does_not_know_are_rejected_with_the_reason(tmp_path):
    folder_of(tmp_path)
    rows = fill(tmp_path / "assignment.csv")
    text = (tmp_path / "assignment.csv").read_text()
    for place in range(2, 12):
        text = text.replace(rows[place][0], f"i000000{place:02d}")
    (tmp_path / "assignment.csv").write_text(text)
    with pytest.raises(DataError, match=r"is no item of design\.json"):
        imported(tmp_path, tmp_path / "assignment.csv")
    report, ratings = imported(tmp_path, tmp_path / "assignment.csv", allow_rejected=True)
    assert len(ratings) == len(rows) - 1 - 10
    assert report.rows_rejected == 10
    assert report.rows_read == report.rows_kept + 10
    assert "is no item of design.json" in (tmp_path / "out.rejected.csv").read_text(encoding="utf-8-sig")


def test_items_without_an_answer_are_lacking_and_the_plan_says_whose(tmp_path):
    folder_of(tmp_path)
    rows = fill(tmp_path / "assignment.csv", lambda place: str(20 + place * 37 % 61) if place % 10 else "")
    _, ratings = imported(tmp_path, tmp_path / "assignment.csv")
    blank = Counter(row[1] for place, row in enumerate(rows[1:]) if place % 10 == 0)
    outcome = compare_plan(from_ratings(ratings))
    assert {row.annotator: row.lacking for row in outcome.annotators.itertuples()} == dict(blank)
    assert outcome.planned == (5.0, 2.0)
    assert {row.item_type: row.planned for row in outcome.kinds.itertuples()} == Counter(row[9] for row in rows[1:])


def test_every_copy_finds_its_original_when_quality_and_context_are_looked_at(tmp_path):
    folder_of(tmp_path)
    fill(tmp_path / "assignment.csv")
    _, ratings = imported(tmp_path, tmp_path / "assignment.csv")
    counts = ratings["item_type"].value_counts()
    assert quality_control(ratings)["qc_pairs"].sum() == counts["degraded"] > 0
    paired = context.pairs(ratings, kind=None)
    assert len(paired) == counts["degraded"] + counts["repeat"]
    assert paired.attrs["unpaired"] == 0
    assert set(paired["group"]) >= {"none"}


@pytest.mark.parametrize("opponents", [None, 2])
def test_comparisons_come_back_with_their_plan_and_with_what_they_distinguish(tmp_path, opponents):
    texts = texts_of([4] * 12, ["V", "W", "X", "Y", "Z"])
    drawn = draw(texts, Wish(PROTOCOLS["preference"], people(4), opponents=opponents, overlap=0.0))
    expected = expect(texts, drawn, usual(PROTOCOLS["preference"]))
    write(tmp_path, "tiny", texts, drawn, planned=expected)
    rows = fill(tmp_path / "assignment.csv", lambda place: ["A", "B"][place * 7 // 3 % 2])
    _, ratings = imported(tmp_path, tmp_path / "assignment.csv")
    mine = from_ratings(ratings)
    outcome = compare_plan(mine)
    assert (outcome.wanted, outcome.collected) == (len(rows) - 1, len(mine.comparisons))
    assert outcome.achieved == pytest.approx(outcome.planned), "everything was judged, and nothing tied"
    ranking = rank_systems(mine, resamples=30)
    assert sorted(ranking.names) == list("VWXYZ")
    assert ranking.standing.fitted.place.size == 1, "the table says what stood first"


@pytest.mark.parametrize("opponents", [None, 2])
def test_two_equal_systems_scatter_by_chance_as_the_plan_says(opponents):
    drawn = few_opponents(6, opponents, docs=20, overlap=0.0)
    shown = [item.systems for _, screen in screens(drawn, "main") for item in screen.items]
    rng, found = np.random.default_rng(3), []
    for _ in range(80):
        answers = pd.DataFrame(shown, columns=["system_a", "system_b"])
        fitted = preferences.fit(answers.assign(preference=rng.choice(["a", "b"], len(answers))))
        found += list(1 / (1 + np.exp(fitted.strength[1:] - fitted.strength[:1])) - 0.5)
    planned = share_error(60 * met(6, opponents))
    assert np.std(found) == pytest.approx(planned, rel=0.1)


CHANGES = [
    (r"^.{9}", "", "no campaign's design"),
    (r'"version": 1', '"version": 9', "no campaign's design .*version"),
    (r'"items"', '"items_"', "no campaign's design"),
    (r'"systems": {\s+"m', '"systems": {"n', "which system"),
]


@pytest.mark.parametrize(("pattern", "instead", "word"), CHANGES)
def test_a_design_that_was_changed_is_refused(tmp_path, pattern, instead, word):
    folder_of(tmp_path)
    fill(tmp_path / "assignment.csv")
    path = tmp_path / "design.json"
    path.write_text(re.sub(pattern, instead, path.read_text(), flags=re.DOTALL))
    with pytest.raises(DataError, match=word):
        imported(tmp_path, tmp_path / "assignment.csv", design=path)


@pytest.fixture
def home(tmp_path):
    """Files of two systems, source, reference and documents: a line a segment."""
    (tmp_path / "outputs").mkdir()
    for name in ("outputs/A.txt", "outputs/B.txt", "source.txt", "reference.txt"):
        (tmp_path / name).write_text("".join(f"{name} line {number} of some words\n" for number in range(30)))
    (tmp_path / "documents.txt").write_text("".join(f"news\tdoc{number // 3}\n" for number in range(30)))
    return tmp_path


def test_texts_are_read_from_files_a_folder_or_the_layout_of_mt_metrics_eval(home, mirrored):
    parts = {"source": home / "source.txt", "documents": home / "documents.txt", "reference": home / "reference.txt"}
    by_folder = read_texts([home / "outputs"], **parts)
    assert by_folder == read_texts([home / "outputs" / "A.txt", home / "outputs" / "B.txt"], **parts)
    assert (list(by_folder.outputs), by_folder.humans) == (["A", "B", "reference"], {"reference"})
    assert [len(places) for places in by_folder.documents.values()] == [3] * 10
    without = read_texts([home / "outputs"], source=home / "source.txt")
    assert [len(places) for places in without.documents.values()] == [10] * 3
    layout = mirrored("wmt-conference/ErrorSpanAnnotation/*/data/mt-metrics-eval-v2/wmt23/sources/en-de.txt").parents[1]
    wmt = read_texts([layout], pair="en-de")
    real = data.load("wmt23-outputs").query("src_lang == 'eng' and tgt_lang == 'deu' and system == 'ONLINE-A'")
    assert wmt.humans == {"refA"}
    assert (wmt.outputs["ONLINE-A"], wmt.docs) == (real["hypothesis"].tolist(), real["doc"].tolist())


FILES = [
    ("outputs/B.txt", b"one\n", "1 line and source"),
    ("documents.txt", b"a\n" * 29, "29 lines"),
    ("documents.txt", b"a\n" + b"b\n" * 28 + b"a\n", "line 30"),
    ("documents.txt", b"\n" * 30, "documents.txt is empty"),
    ("outputs/B.txt", b"\xff\xfe" * 30, "UTF-8"),
]


@pytest.mark.parametrize(("name", "content", "word"), FILES, ids=range(len(FILES)))
def test_files_that_do_not_fit_each_other_are_refused(home, name, content, word):
    (home / name).write_bytes(content)
    with pytest.raises(DataError, match=word):
        read_texts([home / "outputs"], source=home / "source.txt", documents=home / "documents.txt")


def new(home, words):
    files = ["--outputs", str(home / "outputs"), "--source", str(home / "source.txt")]
    return cli.main(["new", "campaign", "mine", "--out", str(home), *files, *words.split()])


@each
def test_what_cannot_be_designed_is_refused_and_leaves_nothing(home, words, said, capsys):
    assert new(home, words) == 1
    assert said in capsys.readouterr().err
    assert not (home / "mine").exists()


@each
def test_the_folder_holds_as_many_items_of_each_kind_as_were_asked_for(home, words, shares):
    assert new(home, f"--annotators 4 --protocol {words}") == 0
    kinds = pd.read_csv(home / "mine" / "assignment.csv")["item_type"].value_counts().to_dict()
    assert kinds == json.loads((home / "mine" / "design.json").read_text(encoding="utf-8"))["kinds"]
    assert kinds.keys() == {"system", *shares}
    assert all(abs(kinds[kind] - share * kinds["system"]) <= 1 for kind, share in shares.items()), kinds


@pytest.mark.parametrize("name", ["scores.csv", "assignment.csv", "annotator-01.xlsx"])
def test_what_nobody_has_filled_in_is_told_as_that(home, name, capsys):
    designed = name != "scores.csv"
    made = (
        new(home, "--protocol DA --annotators 3")
        if designed
        else cli.main(["new", "campaign", "mine", "--out", str(home)])
    )
    assert made == 0
    [path] = (home / "mine").rglob(name)
    words = ["--design", str(home / "mine" / "design.json")] if designed else []
    assert cli.main(["import", str(path), *words, "--out", str(home / "x.parquet")]) == 1
    assert "holds no judgement yet" in capsys.readouterr().err
