"""Hold the encoder's likeness of translation and reference against people's scores: WMT16, WMT17 and WMT23.

    python -m evalkit.neural.similar pairs wmt23-outputs --out wmt23.jsonl
    .venv-neural/bin/python -m evalkit.neural.minilm --pairs wmt23.jsonl --out wmt23.npz
    python -m evalkit.neural.similar results --older sudoh.jsonl sudoh.npz --wmt23 wmt23.jsonl wmt23.npz --out FILE

WMT16 and WMT17 lie in sudoh-translations, whose pairs are made in the same way. ``pairs`` and ``results`` need the
suite's environment only. FILE has what the study of metric meta-evaluation shows as computed elsewhere.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.names import one_form
from evalkit.data.provenance import Elsewhere
from evalkit.data.schemas import ITEM
from evalkit.metrics import lexical
from evalkit.metrics.metaeval import bounds, intervals, rankings, scores
from evalkit.metrics.metaeval.scores import align
from evalkit.neural import minilm
from evalkit.neural.commands import in_a_sentence
from evalkit.stats.correlation import pearson
from evalkit.stats.inference import bootstrap, interval

#: The test set that chooses BERTScore's layer, as for the models in bert-score's own table, and the one that tests it.
CHOOSING, TESTING = "newstest2016", "newstest2017"
#: What the encoder's metrics are called, and the published ones that stand beside them.
BERTSCORE, COSINE = "MiniLM BERTScore", "MiniLM cosine"
BESIDE = ("BERTscore", "chrF", "BLEU", "COMET")
#: The data sets whose texts are read, by the name of the option, and how the results are made.
DATA = {"older": "sudoh-translations", "wmt23": "wmt23-outputs"}
COMMANDS = [
    "python -m evalkit.neural.similar pairs sudoh-translations --out sudoh.jsonl",
    "python -m evalkit.neural.similar pairs wmt23-outputs --out wmt23.jsonl",
    minilm.command("sudoh", "--vectors"),
    minilm.command("wmt23"),
    "python -m evalkit.neural.similar results --older sudoh.jsonl sudoh.npz --wmt23 wmt23.jsonl wmt23.npz --out FILE",
]


def pairs_of(name: str) -> list[tuple[str, str]]:
    """Return translations with references: all of sudoh-translations, in one form, or what is ``judged`` of WMT23.

    Raises DataError for another data set.
    """
    from evalkit import data

    if name == DATA["older"]:
        table = data.load(name)
        return list(zip(*(table[side].map(one_form) for side in ("hypothesis", "reference"))))
    if name != DATA["wmt23"]:
        raise DataError(f"There are no pairs of {name!r} to be read. Choose {' or '.join(DATA.values())}.")
    return list(judged()[["hypothesis", "reference"]].itertuples(index=False, name=None))


def judged() -> pd.DataFrame:
    """Return the translations of WMT23 from Chinese by systems, with references, whose errors professionals marked."""
    from evalkit import data

    outputs, human = _from_chinese(data.load("wmt23-outputs")), _from_chinese(data.load("wmt23-human"))
    keys = human.loc[human["metric"] == "mqm", ITEM].astype("str")
    table = outputs[~outputs["system"].str.startswith(scores.PEOPLE)].astype(dict.fromkeys(ITEM, "str"))
    return table.merge(keys.drop_duplicates(), on=ITEM, validate="one_to_one")


def layers(older: pd.DataFrame, f1: np.ndarray) -> pd.DataFrame:
    """Correlate BERTScore by each layer with direct assessment on the test set that chooses: layer, pairs, pearson.

    older: src_lang, doc and z of translations into English; f1: (rows, layers) of the same rows. pearson: the mean of
    Pearson's r over source languages, the rule by which bert-score's table of layers was made, on the same test set.
    Raises DataError where there are no rows of that test set.
    """
    part = _of_set(older, CHOOSING)
    rows = []
    for place in range(f1.shape[1]):
        each = [float(pearson(f1[one.index, place], one["z"])) for _, one in part.groupby("src_lang", sort=True)]
        rows.append({"layer": place + 1, "pairs": len(each), "pearson": float(np.mean(each))})
    return pd.DataFrame(rows)


def best(tried: pd.DataFrame) -> int:
    """Choose the layer with the highest mean correlation; of equal ones, the lower.

    >>> best(pd.DataFrame({"layer": [1, 2, 3], "pearson": [0.4, 0.5, 0.5]}))
    2
    """
    return int(tried.loc[tried["pearson"].idxmax(), "layer"])


def of_segments(
    older: pd.DataFrame, scores: Mapping[str, np.ndarray], *, resamples: int = 500, seed: int = 7
) -> pd.DataFrame:
    """Correlate metrics with direct assessment on the test set that tests, by source language, and the mean of these.

    older: src_lang, doc and z; scores: metric -> one number for each of the same rows. Returns pair, metric, n,
    value (Pearson's r), low, high (95 %: translations of each language are drawn again).
    """
    part, rows = _of_set(older, TESTING), []
    for metric, values in scores.items():
        drawn = []
        for language, one in part.groupby("src_lang", sort=True):
            both = np.column_stack([values[one.index], one["z"]])
            drawn.append(bootstrap(both, _pearson, resamples=resamples, seed=seed))
            rows.append(_row(f"{language}-eng", metric, len(both), float(_pearson(both[None])[0]), drawn[-1]))
        mean = float(np.mean([row["value"] for row in rows[-len(drawn) :]]))
        rows.append(_row("mean", metric, len(part), mean, np.mean(drawn, axis=0)))
    return pd.DataFrame(rows)


def as_metrics(outputs: pd.DataFrame, scored: Mapping[str, np.ndarray], layer: int) -> pd.DataFrame:
    """Turn the encoder's numbers into scores of two metrics, in the columns of the shared task's.

    outputs: what systems wrote, the rows that were scored. layer: of BERTScore, from 1.
    """
    keys = outputs[["src_lang", "tgt_lang", "system", "doc", "segment"]]
    values = {BERTSCORE: scored["f1"][:, layer - 1], COSINE: scored["cosine"]}
    return pd.concat([keys.assign(metric=name, score=each) for name, each in values.items()], ignore_index=True)


def of_wmt23(own: pd.DataFrame, outputs: pd.DataFrame, *, resamples: int = 500, seed: int = 7) -> pd.DataFrame:
    """Hold the encoder's two metrics, four published ones and the length against MQM, by the statistics of WMT.

    own: as ``as_metrics`` makes it. All are taken on the same translations; scores of systems are means over these.
    Returns statistic, metric, value, low, high, n (translations, or systems).
    """
    from evalkit import data

    published, human = data.load("wmt23-metrics"), data.load("wmt23-human")
    beside = published[published["metric"].isin(BESIDE)].drop(columns="reference")
    table = pd.concat([own, beside, bounds.lengths(outputs)], ignore_index=True)
    names = [*dict.fromkeys(own["metric"]), *BESIDE, "length"]
    people = _from_chinese(human[human["metric"] == "mqm"])
    people = people[people["system"].astype("str").isin(outputs["system"])]
    segments = align(_from_chinese(table), people, data="wmt23")
    both = segments.only(names), scores.of_systems(segments.only(names))
    found = intervals.bootstrap(*both, resamples=resamples, seed=seed)
    found = found.assign(statistic=rankings.label(found)).query("statistic in @rankings.WORDS")
    counts = {"segment": int(segments.judged.sum()), "system": len(segments.systems)}
    return found.assign(n=found["level"].map(counts))[["statistic", "metric", "value", "low", "high", "n"]]


def results(
    pairs: Sequence[tuple[str, str]], scored: Mapping[str, np.ndarray], scored23: Mapping[str, np.ndarray]
) -> dict[str, list[dict]]:
    """Choose the layer on WMT16, then hold the metrics against people on WMT17 and WMT23: tables of rows.

    pairs: the texts of older years as the encoder read them, scored: its numbers of them; scored23: those of WMT23.
    """
    from evalkit import data

    older = data.load("sudoh-translations")
    tried = layers(older, scored["f1"])
    layer = best(tried)
    overlap = lexical.scores(pd.DataFrame(pairs, columns=["hypothesis", "reference"]), metrics=["chrF", "SacreBLEU"])
    compared = {BERTSCORE: scored["f1"][:, layer - 1], COSINE: scored["cosine"]}
    compared |= {"chrF": overlap["chrF"].to_numpy(float), "BLEU": overlap["SacreBLEU"].to_numpy(float)}
    compared["length"] = overlap["hypothesis"].str.len().to_numpy(float)
    outputs = judged()
    found = {
        "layers": tried,
        "wmt17": of_segments(older, compared),
        "wmt23": of_wmt23(as_metrics(outputs, scored23, layer), outputs),
    }
    return {name: table.to_dict("records") for name, table in found.items()}


def in_words(found: Elsewhere) -> list[str]:
    """Say which layer was chosen, and how near the encoder comes to people, beside other metrics: three sentences."""
    tried = found.table("layers").set_index("layer")["pearson"]
    older = found.table("wmt17").set_index(["pair", "metric"])
    newer = found.table("wmt23").set_index(["statistic", "metric"])
    languages = older.index.get_level_values("pair").nunique() - 1
    layer = found.settings["layer"]
    rest = tried.drop(layer)
    return [
        f"Layer {layer} of {len(tried)} was chosen on WMT16: mean r {tried[layer]:.3f}, the others "
        f"{rest.min():.3f} to {rest.max():.3f}.",
        f"WMT17, direct assessment, Pearson's r over translations, mean of {languages} languages into English: "
        f"{_beside(older.loc['mean'], 'chrF', 'BLEU')}.",
        "WMT23 from Chinese, MQM, accuracy with ties (acc_eq): "
        f"{_beside(newer.loc['segment acc_eq'], 'BERTscore', 'chrF')}. BERTscore is the shared task's own.",
    ]


@in_a_sentence
def main(arguments: Sequence[str] | None = None) -> None:
    """Run one of the commands."""
    asked = parser().parse_args(arguments)
    if asked.command == "pairs":
        minilm.write_pairs(asked.out, pairs_of(asked.data))
    else:
        _made({name: getattr(asked, name) for name in DATA}).write(asked.out)
    print(asked.out)


def parser() -> argparse.ArgumentParser:
    """Describe the commands and their options."""
    top = argparse.ArgumentParser(prog="python -m evalkit.neural.similar", description="Hold likeness against people")
    commands = top.add_subparsers(dest="command", required=True)
    make = commands.add_parser("pairs", help="write translations with their references, for evalkit.neural.minilm")
    make.add_argument("data", help="sudoh-translations, or wmt23-outputs (what was judged, from Chinese)")
    tell = commands.add_parser("results", help="hold what evalkit.neural.minilm wrote against people")
    for command in (make, tell):
        command.add_argument("--out", required=True, help="the file to write")
    for name, what in DATA.items():
        tell.add_argument(f"--{name}", nargs=2, required=True, metavar=("PAIRS", "SCORED"), help=f"of {what}")
    return top


def _made(files: Mapping[str, Sequence[str]]) -> Elsewhere:
    """Compute the tables of scored files, and put them beside all that made them."""
    pairs = {name: minilm.read_pairs(file) for name, (file, _) in files.items()}
    scored = {name: minilm.read_scores(file, pairs[name]) for name, (_, file) in files.items()}
    tables = results(pairs["older"], scored["older"], scored["wmt23"])
    digests = {DATA[name]: minilm.mark(each) for name, each in pairs.items()}
    return minilm.told(COMMANDS, digests, {"layer": best(pd.DataFrame(tables["layers"]))}, tables)


def _beside(values: pd.DataFrame, *others: str) -> str:
    """List the encoder's metrics with intervals, and others without."""
    own = [
        f"{values.at[m, 'value']:.3f} by {m} ({values.at[m, 'low']:.3f} to {values.at[m, 'high']:.3f})"
        for m in (BERTSCORE, COSINE)
    ]
    return ", ".join([*own, *(f"{values.at[name, 'value']:.3f} by {name}" for name in others)])


def _from_chinese(table: pd.DataFrame) -> pd.DataFrame:
    """Take the rows of translations from Chinese into English."""
    return table[(table["src_lang"] == "zho") & (table["tgt_lang"] == "eng")]


def _of_set(older: pd.DataFrame, name: str) -> pd.DataFrame:
    """Take the rows of a test set, which are numbered as in the whole table."""
    part = older.reset_index(drop=True)
    part = part[part["doc"].astype("str").str.contains(name, regex=False)]
    if part.empty:
        raise DataError(f"There are no translations of {name}. Load sudoh-translations.")
    return part


def _pearson(stack: np.ndarray) -> np.ndarray:
    """Correlate the two columns of each resample, (batch, rows, 2)."""
    return pearson(stack[..., 0], stack[..., 1])


def _row(pair: str, metric: str, n: int, value: float, drawn: np.ndarray) -> dict:
    low, high = interval(drawn)
    return {"pair": pair, "metric": metric, "n": n, "value": value, "low": float(low), "high": float(high)}


if __name__ == "__main__":
    sys.exit(main())
