"""Beside mt-metrics-eval itself, where a clone of its repository is here: the same values.

EVALKIT_MTME names the clone, of https://github.com/google-research/mt-metrics-eval (never the package of that name on
the index, which is another project); what it imports besides numpy and scipy, absl-py and dacite, is to be installed,
or its folder to be on PYTHONPATH. It wants a folder of its own layout, which is made here of links to the registered
files of WMT23; Apache Beam, which it imports for runs on clusters, is stood in for.
"""

import importlib
import os
import sys
import tempfile
import types
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np

from evalkit import data
from evalkit.data import files, registry
from evalkit.metrics import statistics
from evalkit.metrics.statistics import correlations, pair_differences
from tests.bench.metaeval import aligned

VARIABLE = "EVALKIT_MTME"
_SETS = ("wmt23-metrics", "wmt23-human", "wmt23-metrics-systems", "wmt23-human-systems", "wmt23-outputs")
_PAIRS = {"en-de": ("eng", "deu"), "zh-en": ("zho", "eng")}
_GROUPINGS = {"none": "none", "item": "item", "sys": "system"}


def cases():
    """Say how far values are apart; how long both take is told by ``metaeval``."""
    clone = os.environ.get(VARIABLE)
    if not clone or not data.available("wmt23-metrics"):
        lacking = f"{VARIABLE} names no clone of its repository" if data.available("wmt23-metrics") else "no WMT23 here"
        print(f"mt-metrics-eval itself: not run, {lacking}; what it took elsewhere is told above as reported.")
        return []
    theirs = _imported(Path(clone))
    with tempfile.TemporaryDirectory() as folder:
        _lay_out(Path(folder))
        for name in os.environ.get(f"{VARIABLE}_PAIRS", " ".join(_PAIRS)).split():
            _of_pair(theirs, name, folder)
    return []


def _imported(clone):
    """Import its modules from the clone."""
    sys.path.insert(0, str(clone))
    sys.modules.setdefault("apache_beam", types.ModuleType("apache_beam"))
    return types.SimpleNamespace(
        **{name: importlib.import_module(f"mt_metrics_eval.{name}") for name in ("data", "meta_info", "pce", "stats")}
    )


def _lay_out(folder):
    """Link the registered files; a system that metrics scored and whose texts were not released gets empty lines."""
    for entry in map(registry.entry, _SETS):
        for file in entry.files:
            place = folder / "wmt23" / file.url.partition("/wmt23/")[2]
            place.parent.mkdir(parents=True, exist_ok=True)
            if not place.exists():
                place.symlink_to(files.locate(file).resolve())
    for pair in _PAIRS:
        texts = folder / "wmt23" / "system-outputs" / pair
        empty = "\n" * len((folder / "wmt23" / "sources" / f"{pair}.txt").read_text(encoding="utf-8").splitlines())
        scored = {
            line.split()[0]
            for path in (folder / "wmt23" / "metric-scores" / pair).glob("*.sys.score")
            for line in path.read_text(encoding="utf-8").splitlines()
        }
        for system in sorted(scored):
            if not (texts / f"{system}.txt").exists():
                (texts / f"{system}.txt").write_text(empty, encoding="utf-8")


def _of_pair(theirs, name, folder):
    info = replace(theirs.meta_info.DATA["wmt23"][name], std_gold={"sys": "mqm", "seg": "mqm"})  # domains are not here
    evaluated = theirs.data.EvalSet("wmt23", name, True, info, folder)
    options = ({evaluated.std_ref}, set(), False, False, "mqm", False)
    found = {
        level: {
            _plain(metric): each
            for metric, each in theirs.data.GetCorrelations(
                evaluated, level, *options, metric_format="spreadsheet"
            ).items()
        }
        for level in ("seg", "sys")
    }
    segment, system = aligned(*_PAIRS[name])
    pair = "-".join(_PAIRS[name])
    for line in _agreement(theirs, found, segment, system):
        print(f"{pair}: {line}", flush=True)


def _plain(metric):
    return metric.removeprefix("*").removesuffix("[noref]")


def _agreement(theirs, found, segment, system):
    """Say how far values are apart at most, statistic by statistic, over all metrics."""
    called = {"pearson": "Pearson", "kendall_b": "Kendall"}
    for level, scores in (("seg", segment), ("sys", system)):
        for short, grouping in _GROUPINGS.items() if level == "seg" else [("none", "none")]:
            ours = correlations(scores, statistics=list(called), groupings=[grouping])
            for statistic, method in called.items():
                own = ours[ours["statistic"] == statistic].set_index("metric")["value"]
                other = {m: getattr(c, method)(short)[0] for m, c in found[level].items()}
                yield _told(f"{level} {method} by {short}", own, other)
    own = statistics.acc_eq(segment).set_index("metric")["value"]
    other = {m: c.KendallWithTiesOpt("item", sample_rate=1.0)[0] for m, c in found["seg"].items()}
    yield _told("acc_eq", own, other)
    own = pair_differences(segment).set_index("metric")["value"]
    yield _told(
        "pairwise difference Pearson", own, {m: c.Pearson("item", pdp=True)[0] for m, c in found["seg"].items()}
    )
    agree = {m: theirs.stats.Agreement(c.gold_scores, c.metric_scores) for m, c in found["sys"].items()}
    own = correlations(system, statistics=["accuracy_3way"]).set_index("metric")["value"]
    yield _told("accuracy of systems", own, {m: right / pairs for m, (right, pairs) in agree.items()})
    other = {m: _spa(theirs, segment.human, values) for m, values in zip(segment.metrics, segment.values)}
    with mock.patch.object(statistics, "flipped", _their_flips):
        yield _told("SPA, with their flips", statistics.spa(segment).set_index("metric")["value"], other)
    yield _told("SPA, with flips of our own", statistics.spa(segment).set_index("metric")["value"], other)


def _told(what, own, other):
    shared = [metric for metric in own.index if metric in other]
    apart = max(abs(own[metric] - other[metric]) for metric in shared)
    return f"{what}: {len(shared)} metrics, at most {apart:.1e} apart"


def _spa(theirs, gold, metric):
    """Compute SPA by its functions, systems in the order of their names: its own order is that of a set."""
    whole = np.isfinite(gold + metric).all(axis=0)
    p = [theirs.pce.compute_pairwise_p_values(side[:, whole]) for side in (gold, metric)]
    return theirs.pce.compute_one_minus_pce(*p)


def _their_flips(segments, *, flips, seed):
    """Draw the sign flips that it draws, from its seed."""
    kept = np.rint(np.random.default_rng(4).random((flips, segments), dtype=np.float32))
    return (1 - kept).T / segments
