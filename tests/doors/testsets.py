"""The door of test sets: small made-up folders in mt-metrics-eval's layout, and ways to spoil them."""

import os
import shutil
from pathlib import Path

import numpy as np

from evalkit import DataError
from evalkit.data import testsets
from evalkit.metrics.metaeval import yours

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


JUNK = (
    b"",
    b"\x00",
    b"\xff\xfe",
    b"nan",
    b"inf",
    b"-",
    b"1e999",
    b"None",
    b"\t",
    b"\r",
    b" ",
    b"\xe2\x80\xa8",
    b"True",
    b"\xd9\xa1",
    b"1_0",
    b"[No translation supplied]",
    b"\xef\xbb\xbf",
    b"0x1F",
    b"1,5",
    b"\x85",
    b"9" * 400,
)
OTHER_NAMES = (b"Beta-2", b"Alhpa", b"refA", b"\xe2\x80\x8b", b"A B")
SAME = (b"None", b"0", b"1e308", b"-1e308")


def mutate(rng: np.random.Generator, folder: Path) -> str:
    """Spoil a test set in one to three ways; say which."""
    told = []
    for _ in range(rng.integers(1, 4)):
        way = WAYS[rng.integers(len(WAYS))]
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        if files:
            told.append(f"{way.__name__} {way(rng, folder, files[rng.integers(len(files))])}")
    return "; ".join(told)


def flip_bytes(rng, folder, path):
    content = bytearray(path.read_bytes())
    for _ in range(rng.integers(1, 6)):
        if content:
            content[rng.integers(len(content))] = rng.integers(256)
    path.write_bytes(bytes(content))
    return path.name


def drop_lines(rng, folder, path):
    rows = path.read_bytes().splitlines(keepends=True)
    kept = [row for row in rows if rng.random() > 0.1]
    path.write_bytes(b"".join(kept))
    return path.name


def double_lines(rng, folder, path):
    rows = path.read_bytes().splitlines(keepends=True)
    some = rows[: rng.integers(len(rows) + 1)]
    path.write_bytes(b"".join(rows + some))
    return path.name


def put_junk(rng, folder, path):
    rows = path.read_bytes().split(b"\n")
    place, junk = rng.integers(len(rows)), JUNK[rng.integers(len(JUNK))]
    cells = rows[place].split(b"\t")
    cells[rng.integers(len(cells))] = junk
    rows[place] = b"\t".join(cells) if rng.random() < 0.7 else rows[place] + junk
    path.write_bytes(b"\n".join(rows))
    return f"{path.name} {junk[:8]!r}"


def cut(rng, folder, path):
    path.write_bytes(path.read_bytes()[: rng.integers(path.stat().st_size + 1)])
    return path.name


def remove(rng, folder, path):
    path.unlink()
    return path.name


def rename(rng, folder, path):
    endings = (".txt", ".score", "x", ".seg.score", "-refZ.seg.score", ".sys.score", "..", "\u202e", ".jsonl", ".docs")
    new = path.with_name(path.name[: rng.integers(1, len(path.name) + 1)] + endings[rng.integers(len(endings))])
    if not new.exists():
        path.rename(new)
    return new.name


def become_folder(rng, folder, path):
    path.unlink()
    deep = path.joinpath(*["deep"] * int(rng.integers(1, 30)))
    deep.mkdir(parents=True)
    return path.name


def become_link(rng, folder, path):
    path.unlink()
    os.symlink([path, folder, "nowhere"][rng.integers(3)], path)
    return path.name


def lose_part(rng, folder, path):
    part = path.relative_to(folder).parts[0]
    shutil.rmtree(folder / part, ignore_errors=True)
    return part


def other_file(rng, folder, path):
    files = sorted(one for one in folder.rglob("*") if one.is_file())
    path.write_bytes(files[rng.integers(len(files))].read_bytes())
    return path.name


def rename_system(rng, folder, path):
    path.write_bytes(path.read_bytes().replace(b"Alpha", OTHER_NAMES[rng.integers(len(OTHER_NAMES))]))
    return path.name


def all_same(rng, folder, path):
    rows, score = path.read_bytes().splitlines(), SAME[rng.integers(len(SAME))]
    path.write_bytes(b"".join(b"\t".join([*row.split(b"\t")[:-1], score]) + b"\n" for row in rows))
    return path.name


WAYS = (
    flip_bytes,
    drop_lines,
    double_lines,
    put_junk,
    put_junk,
    cut,
    remove,
    rename,
    become_folder,
    become_link,
    lose_part,
    other_file,
    rename_system,
    all_same,
)
#: What the user may pass beside the folder: mostly nothing.
OPTIONS = (
    {},
    {},
    {},
    {"pair": "en-de"},
    {"pair": ""},
    {"gold": "mqm"},
    {"gold": "zz"},
    {"reference": "refB"},
    {"leave_out": ["Alpha"]},
    {"leave_out": ["x"]},
    {"lower_is_better": ["COMET"]},
    {"lower_is_better": ["yours"]},
)


def case(rng: np.random.Generator, folder: Path) -> tuple[str, dict]:
    """Write a test set of some shape into an empty folder, spoil it, and draw options; say what was done."""
    shape = sorted(SHAPES)[rng.integers(len(SHAPES))]
    write(folder, shape, segments=int(rng.integers(1, 8)), seed=int(rng.integers(1 << 30)))
    told, options = mutate(rng, folder), dict(OPTIONS[rng.integers(len(OPTIONS))])
    files = sorted(path for path in folder.rglob("*.score") if path.is_file())
    if files and rng.random() < 0.4:
        own = folder.with_name(f"{folder.name}-own.{('seg.score', 'tsv', 'csv')[rng.integers(3)]}")
        header = (b"", b"system\tsegment\tscore\n", b"system,score\n")[rng.integers(3)]
        own.write_bytes(header + files[rng.integers(len(files))].read_bytes())
        if rng.random() < 0.5:
            put_junk(rng, folder, own)
        options["metric"] = str(own)
    return f"{shape}: {told}", options


def attempt(seed: int, parent: Path) -> str:
    """Open the spoilt test set of a seed: read, or refused in one sentence.

    What was read is lined up with people's scores and counted, too. Raises whatever else happens.
    """
    folder = parent / f"set{seed}"
    folder.mkdir()
    _, options = case(np.random.default_rng(seed), folder)
    try:
        testset = testsets.open_testset(folder, **options)
        segments, systems = yours.aligned(testset)
    except DataError as problem:
        told = str(problem)
        assert told == told.strip().splitlines()[0], told
        assert len(told) < 700, told
        assert told.endswith((".", "…")), told
        return "refused"
    finally:
        shutil.rmtree(folder)
    assert np.isfinite(testset.human["score"]).all()
    assert np.isfinite(testset.metrics["score"]).all()
    assert {"refA", "refB", "ref"}.isdisjoint(segments[testset.pair].systems + systems[testset.pair].systems)
    assert all(note.endswith((".", "…).")) for note in testset.notes), testset.notes
    return "told" if testset.notes else "read"
