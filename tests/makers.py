"""Makers of tables for tests: laid out from given scores, or drawn from components that are stated."""

import csv
import functools
import io
import itertools
import json
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalkit.data.schemas import RATINGS
from evalkit.metrics.scores import Scores
from evalkit.reports import notebooks
from evalkit.reports.studies import Layout


@functools.cache
def cases(name):
    """Read inputs, and what is expected of them, that stand in a TOML file beside the tests."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


@functools.cache
def imports():
    """Read the cases of imports, by name (tests/test_data_importing_cases.py says what they hold)."""
    topics = sorted((Path(__file__).parent / "cases" / "imports").glob("*.toml"))
    return {name: case for topic in topics for name, case in tomllib.loads(topic.read_text(encoding="utf-8")).items()}


def each(test):
    """Run a test for each row that stands under its name in ``cases/``, in the file of its module."""
    told = cases(f"cases/{test.__module__.rpartition('test_')[2]}")[test.__name__]
    return pytest.mark.parametrize(told["names"].split(), told["rows"])(test)


#: What every judgement has, unless a test says otherwise.
PLAIN = {"src_lang": "eng", "tgt_lang": "deu", "system": "S0", "doc": "d", "annotator": "p0", "item_type": "system"}
SOURCE = {"name": "mine", "source": "real", "origin": "mine.csv", "digest": "sha256:0"}
#: Columns that hold names, though a test may write them as numbers.
NAMES = ("system", "doc", "segment", "annotator", "hit", "screen", "system_a", "system_b", "against")
#: How the levels of a dimension are named: S0, d00, 000, p0.
LEVELS = {"system": "S{}", "doc": "d{:02}", "segment": "{:03}", "annotator": "p{}"}
#: Component -> the factors whose levels share one draw of it; the package uses the same names.
COMPONENTS = {
    "text": ("doc",),
    "segment": ("doc", "place"),
    "annotator": ("annotator",),
    "taste": ("annotator", "system"),
    "block": ("annotator", "system", "doc"),
    "document": ("system", "doc"),
    "item": ("system", "doc", "place"),
}
#: Standard deviations of what is drawn where a test does not state them, in points of 0 to 100.
SPREAD = {"segment": 8.0, "annotator": 5.0, "residual": 5.0}


def read(text, **columns):
    """Read a table written as text: a line of headings, then a line a row, cells parted by blanks; ``-`` is empty."""
    table = pd.read_csv(io.StringIO(text), sep=r"\s+", na_values="-", dtype=dict.fromkeys(NAMES, "str"))
    return table.assign(**columns)


def laid_out(scores, names="system segment annotator score", *, documents=None, scale=(0.0, 100.0), **columns):
    """Lay out given scores as ratings of one language pair; ``columns`` are added, or stand instead of plain ones.

    scores: rows of what ``names`` says; or, where names does not end in score, an array with a dimension for each of
    names, whose gaps (NaN) are no judgements. documents: the number of each segment's document, for arrays.
    """
    names = names.split()
    if "score" in names:
        frame = pd.DataFrame(list(scores), columns=names)
        frame = frame.astype({name: "str" for name in names if name in NAMES} | {"score": "float"})
    else:
        scores = np.asarray(scores, dtype=float)
        codes = dict(zip(names, np.nonzero(np.isfinite(scores)), strict=True))
        frame = pd.DataFrame({name: named(name, code) for name, code in codes.items()})
        frame["score"] = scores[np.isfinite(scores)]
        if documents is not None:
            frame["doc"] = named("doc", np.asarray(documents)[codes["segment"]])
    return finished(frame.assign(**columns), scale)


def named(dimension, codes):
    """Name the levels of a dimension, which are given as numbers."""
    return [LEVELS[dimension].format(code) for code in codes]


def finished(frame, scale):
    """Add what every judgement has, and what campaigns read of a file."""
    frame = frame.assign(**{name: value for name, value in PLAIN.items() if name not in frame})
    frame.attrs |= {"scale": scale, "source": dict(SOURCE)}
    return frame


def ratings(
    seed=1,
    *,
    systems=3,
    documents=6,
    length=5,
    people=3,
    each=None,
    dealt="doc",
    gap=5.0,
    level=60.0,
    spread=None,
    missing=0.0,
    scale=(0.0, 100.0),
    step=None,
    pace=None,
    **columns,
):
    """Draw the ratings of a campaign with stated components.

    seed: a number or a generator. systems, people: how many, or their names; the first system is the best.
    length: segments a document, or of each document. gap: points between neighbours, or each system's lead.
    each: how many people judge a document by all systems, in turn (dealt="doc"), or a document by one system
    (dealt="showing"), or a translation (dealt="item"), both drawn by chance; None: everybody judges everything.
    spread: component -> its standard deviation (see ``COMPONENTS``; and "residual"), beside those of ``SPREAD``; or
    the effects themselves, as an array with a dimension for each factor. missing: share of judgements that are not there.
    scale: the ends where scores are cut off; None for none. step: what scores are rounded to a multiple of.
    pace: mean seconds a judgement; adds started and ended. columns: added, or instead of plain ones.
    """
    rng, spread = np.random.default_rng(seed), SPREAD | (spread or {})
    systems, people = (
        named(name, range(given)) if isinstance(given, int) else list(given)
        for name, given in (("system", systems), ("annotator", people))
    )
    lengths = np.broadcast_to(length, documents)
    sizes = {"system": len(systems), "doc": documents, "place": lengths.max(), "annotator": len(people)}
    at = dict(zip(sizes, np.indices(tuple(sizes.values())).reshape(4, -1), strict=True))
    there = (at["place"] < lengths[at["doc"]]) & judged(rng, sizes, at, each, dealt)
    if missing:
        there &= rng.random(len(there)) >= missing
    at = {name: code[there] for name, code in at.items()}
    leads = -gap * np.arange(len(systems)) if np.isscalar(gap) else np.asarray(gap, dtype=float)
    score = level + leads[at["system"]] + spread["residual"] * rng.normal(size=there.sum())
    for name, factors in COMPONENTS.items():
        effects = spread.get(name, 0.0)
        if np.isscalar(effects):
            shape = [sizes[factor] for factor in factors]
            effects = rng.normal(0, effects, shape) if effects else np.zeros(shape)
        score += effects[tuple(at[factor] for factor in factors)]
    score = np.clip(score, *scale) if scale else score
    frame = pd.DataFrame(
        {
            "system": np.array(systems, dtype=object)[at["system"]],
            "doc": named("doc", at["doc"]),
            "segment": named("segment", (np.cumsum(lengths) - lengths)[at["doc"]] + at["place"]),
            "annotator": np.array(people, dtype=object)[at["annotator"]],
            "score": np.round(score / step) * step if step else score,
        }
    )
    if pace:
        taken = pd.Series(rng.gamma(2, pace / 2, len(frame)))
        frame["ended"] = 1e9 + taken.groupby(frame["annotator"]).cumsum()
        frame["started"] = frame["ended"] - taken
    return finished(frame.assign(**columns), scale or (-1000.0, 2000.0))


def judged(rng, sizes, at, each, dealt):
    """Say which cells of a campaign are judged."""
    people = sizes["annotator"]
    if each is None:
        return np.ones(len(at["annotator"]), dtype=bool)
    if dealt == "doc":
        turns = (np.arange(sizes["doc"])[:, None] + np.arange(each) * people // each) % people
        return (turns[at["doc"]] == at["annotator"][:, None]).any(axis=1)
    units = {"showing": ("system", "doc"), "item": ("system", "doc", "place")}[dealt]
    order = rng.random([sizes[factor] for factor in (*units, "annotator")]).argsort(axis=-1)
    return order[tuple(at[factor] for factor in (*units, "annotator"))] < each


def comparisons(
    seed=1,
    *,
    strengths,
    size=None,
    people=2,
    documents=8,
    length=1,
    pairs=None,
    tie=1.0,
    place=0.0,
    first=None,
    **columns,
):
    """Draw preferences after Bradley and Terry with Davidson's ties; the order of the two systems is drawn.

    strengths: system -> log strength, or only the strengths. size: how many answers, each by a person about a segment
    and a pair drawn by chance; None: everybody compares each of pairs (all, if None) on every segment.
    tie: weight of a tie, 0 for none. place: lead of what stood first; first: which that was, drawn if None.
    """
    rng = np.random.default_rng(seed)
    strengths = strengths if isinstance(strengths, dict) else dict(zip(named("system", range(99)), strengths))
    names = list(strengths)
    pairs = pairs or [(one, other) for k, one in enumerate(names) for other in names[k + 1 :]]
    sizes = (len(pairs), documents * length, people)
    which, segment, who = rng.integers(0, sizes, (size, 3)).T if size else np.indices(sizes).reshape(3, -1)
    sides = rng.permuted(np.array(pairs, dtype=object)[which], axis=1)
    stood = rng.choice(["a", "b"], len(sides)) if first is None else np.full(len(sides), first)
    lead = np.array([strengths[a] - strengths[b] for a, b in sides]) + np.where(stood == "a", place, -place)
    chance = np.column_stack([np.exp(lead / 2), np.exp(-lead / 2), np.full(len(lead), tie)])
    reached = chance.cumsum(axis=1) / chance.sum(axis=1, keepdims=True)
    answer = np.array(["a", "b", "tie"])[(rng.random((len(lead), 1)) > reached[:, :2]).sum(axis=1)]
    frame = pd.DataFrame(
        {
            "system_a": sides[:, 0],
            "system_b": sides[:, 1],
            "preference": answer,
            "first": stood,
            "annotator": named("annotator", who),
            "doc": named("doc", segment // length),
            "segment": named("segment", segment),
        }
    )
    return frame.assign(**{"src_lang": "eng", "tgt_lang": "deu"} | columns)


def as_judgements(comparisons):
    """Write each comparison as the importer does, as judgements of either system: 1, 0, or 0.5 in a tie."""
    halves = []
    for own, other in ("ab", "ba"):
        half = comparisons.assign(
            system=comparisons[f"system_{own}"],
            against=comparisons[f"system_{other}"],
            score=comparisons["preference"].map({own: 1.0, other: 0.0, "tie": 0.5}),
            item_type="system",
            hit=[f"comparison {n + 1}" for n in range(len(comparisons))],
        )
        halves.append(half.assign(screen_place=half["first"].map({own: 1.0, other: 2.0})) if "first" in half else half)
    both = pd.concat(halves).sort_index(kind="stable").reset_index(drop=True)
    return both[[name for name in (*RATINGS.columns, "screen_place") if name in both]]


def named_scores(values, human, *, length=1000, **told):
    """Name arrays of metrics × systems × segments beside human scores; without segments they are of whole systems.

    length: segments a document. told: what else is known of the scores, or names instead of m0, s0, d0:0.
    """
    values, human = np.asarray(values, dtype=float), np.asarray(human, dtype=float)
    segments = ("",)
    if human.ndim == 1:
        values, human = values[..., None], human[:, None]
    else:
        segments = tuple(f"d{n // length}:{n}" for n in range(human.shape[1]))
    metrics, systems = (tuple(f"{kind}{n}" for n in range(size)) for kind, size in zip("ms", values.shape))
    names = {"metrics": metrics, "systems": systems, "segments": segments}
    return Scores(**names | {"values": values, "human": human} | told)


def metric_scores(seed=1, shape=(4, 6), *, metrics=3, values=0, gaps=0.0, noise=1.0, length=1000, **told):
    """Draw human scores and metrics that resemble them.

    shape: systems × segments, or how many systems, as (5,), for scores of whole systems. metrics: how many, or their
    names. values: about how many distinct
    values a score takes, 0 for all distinct. gaps: share of scores missing on both sides. noise: of metrics, or of each.
    """
    if not isinstance(metrics, int):
        told["metrics"], metrics = tuple(metrics), len(metrics)
    rng = np.random.default_rng(seed)
    human = rng.normal(size=shape)
    if len(shape) > 1:
        human += rng.normal(size=(shape[0], 1))
    noise = np.reshape(np.broadcast_to(noise, metrics), (metrics, *(1 for _ in shape)))
    found = human + noise * rng.normal(size=(metrics, *shape))
    if values:
        human, found = np.round(human * values / 4), np.round(found * values / 4) / 8
    for side in (found, human):
        side[rng.random(side.shape) < gaps] = np.nan
    return named_scores(found, human, length=length, **told)


def changed(result, **values):
    """Return a result of ``evalkit.campaign`` with other values."""
    return type(result)(**vars(result) | values)


def means(ratings):
    """Average the scores of each system, to nine digits."""
    return ratings.groupby("system")["score"].mean().round(9).to_dict()


def in_lines(*objects):
    """Write objects in JSON, one a line."""
    return "".join(json.dumps(one) + "\n" for one in objects)


def rejected_rows(path):
    """Read the rows that an import set apart."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def notebook(path, *cells):
    """Write a notebook in the canonical form, and return its path.

    cells: the code of each, of parameters where it begins with a typed name; or its kind, its source and its tags.
    """
    made = []
    for cell in cells:
        kind, source, tags = cell if isinstance(cell, tuple) else ("code", cell, ["parameters"] * (": " in cell[:12]))
        run = {"outputs": [], "execution_count": None} if kind == "code" else {}
        made.append({"cell_type": kind, "source": source, "metadata": {"tags": tags}, **run})
    path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    notebooks.tidy(path)
    return path


def project(folder, studies, **entry):
    """Lay out a project of studies, name -> cells, whose entries have these further keys; return its layout."""
    keys = {"title": '"One"'} | entry
    for name, cells in studies.items():
        notebook(folder / f"{name}.ipynb", *cells)
    entries = [
        "\n".join([f"[{name}]", f'notebook = "{name}.ipynb"', *(f"{key} = {value}" for key, value in keys.items())])
        for name in studies
    ]
    (folder / "studies.toml").write_text("\n".join([*entries, ""]), encoding="utf-8")
    return Layout(studies=folder / "studies.toml", reports=folder / "reports", reference=folder / "reference")


def chances_by_orders(weights, shown):
    """Enumerate every order of draws: the probability that each is among those drawn."""
    found = np.zeros(len(weights))
    for order in itertools.permutations(range(len(weights)), shown):
        left, chance = sum(weights), 1.0
        for one in order:
            chance *= weights[one] / left
            left -= weights[one]
        found[list(order)] += chance
    return found
