"""Small made-up test sets in mt-metrics-eval's layout."""

from pathlib import Path

import numpy as np

SYSTEMS = ("Alpha", "Beta-2", "Gamma.3", "delta_4", "Epsilon")
#: The shapes of years: pair -> what people and metrics scored; all names are made up but those of kinds of scores.
SHAPES = {
    "wmt15": {"pair": "cs-en", "golds": {"wmt-raw": ("seg", "sys"), "wmt-z": ("seg", "sys")}, "refs": ("ref",)},
    "wmt22": {
        "pair": "en-de",
        "golds": {"mqm": ("seg", "sys", "domain"), "wmt-appraise": ("seg", "sys")},
        "refs": ("refA", "refB"),
    },
    "wmt24": {"pair": "en-cs", "golds": {"esa": ("seg", "sys", "domain", "doc")}, "refs": ("refA",)},
    "wmt25": {
        "pair": "en-sr_Cyrl_RS",
        "golds": {"esa-human2": ("seg",), "esa-human1": ("seg", "sys")},
        "refs": ("refA",),
    },
}


def documents(segments: int) -> list[tuple[str, str]]:
    """List domain and document of each segment: two domains, documents of three segments."""
    return [("news" if place < segments // 2 else "speech", f"doc-{place // 3}") for place in range(segments)]


def lines(scores: dict[str, list[float | None]]) -> str:
    return "".join(f"{system}\t{score}\n" for system, row in scores.items() for score in row)


def write(folder: Path, shape: str = "wmt24", *, segments: int = 12, seed: int = 7, pair: str = "") -> Path:
    """Write a whole test set of a shape: people's scores with gaps, and metrics that follow them more or less."""
    rng = np.random.default_rng(seed)
    told = SHAPES[shape]
    pair, refs = pair or told["pair"], told["refs"]
    files: dict[str, str] = {f"documents/{pair}.docs": "".join(f"{d}\t{doc}\n" for d, doc in documents(segments))}
    files[f"sources/{pair}.txt"] = "".join(f"source {n}\n" for n in range(segments))
    names = [*SYSTEMS, *refs]
    truth = {name: rng.normal(place, 2, segments).round(2) for place, name in enumerate(names)}
    for name in refs:
        files[f"references/{pair}.{name}.txt"] = "".join(f"reference {n}\n" for n in range(segments))
    for name in names:
        files[f"system-outputs/{pair}/{name}.txt"] = "".join(f"{name} says {'x' * n}\n" for n in range(segments))
    for gold, levels in told["golds"].items():
        seg = {
            name: [None if n and (n + place) % 5 == 0 else float(row[n]) for n in range(segments)]
            for place, (name, row) in enumerate(truth.items())
        }
        means = {name: [float(np.mean([one for one in row if one is not None]))] for name, row in seg.items()}
        domains = "".join(f"{domain}\t{name}\t1.5\n" for name in seg for domain in ("news", "speech"))
        content = {
            "seg": lines(seg),
            "sys": lines(means),
            "domain": domains,
            "doc": "".join(f"{name}\t1.0\n" for name in seg for _ in range(-(-segments // 3))),
        }
        files |= {f"human-scores/{pair}.{gold}.{level}.score": content[level] for level in levels}
    metrics = [f"{name}-{ref}" for name in ("COMET", "chrF") for ref in refs] + ["Kiwi-22-src", "UniTE-src-src"]
    for number, metric in enumerate(metrics):
        seg = {name: (row + rng.normal(0, number + 0.5, segments)).round(3).tolist() for name, row in truth.items()}
        files[f"metric-scores/{pair}/{metric}.seg.score"] = lines(seg)
        files[f"metric-scores/{pair}/{metric}.sys.score"] = lines({k: [float(np.mean(v))] for k, v in seg.items()})
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder
