"""The README's commands, as they are printed there: each is known, and those of a campaign and of a study run."""

import json
import re
import shlex

import pytest

from evalkit import ROOT
from evalkit.reports import cli
from tests.test_campaign_design import log_of

README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCED = [line.strip() for block in re.findall(r"^```\n(.*?)^```", README, re.M | re.S) for line in block.splitlines()]
COMMANDS = [shlex.split(line, comments=True)[1:] for line in FENCED if line.startswith("evalkit ")]
INLINE = [shlex.split(text)[1:] for text in re.findall(r"`(evalkit [a-z][^`]*)`", README)]
MADE_BY_MAKE = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)


def test_the_readme_has_commands():
    assert len(COMMANDS) >= 7
    assert len(INLINE) >= 6


@pytest.mark.parametrize("words", COMMANDS + INLINE, ids=" ".join)
def test_each_command_and_option_is_known(words, capsys):
    assert cli.main([*words, "--help"]) == 0
    assert "Usage: evalkit" in capsys.readouterr().out


def test_each_make_target_is_there():
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.M))
    assert named >= {"reports", "test", "wheel", "docs", "lab"}
    assert named <= {*MADE_BY_MAKE}


@pytest.mark.slow
def test_the_commands_run_as_printed(here, tmp_path, monkeypatch, capsys, own_salt):
    here("wmt22-calibration-hits", "wmt21-mturk", "wmt22-mturk")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outputs").mkdir()
    lines = [f"Sentence number {number} of a text that somebody wrote." for number in range(60)]
    (tmp_path / "source.txt").write_text("\n".join(lines) + "\n")
    for system in ("alpha", "beta", "gamma"):
        (tmp_path / "outputs" / f"{system}.txt").write_text("\n".join(f"{system}: {line}" for line in lines) + "\n")
    for words in COMMANDS:
        assert cli.main(words) == 0, (words, capsys.readouterr().err)
        printed = capsys.readouterr().out.split()
        if words[0] == "run":
            assert printed[-1].endswith(f"{words[1]}.html"), "the report just made comes last"
        if words[:2] == ["new", "campaign"]:  # then people judge, in Pearmut
            log = tmp_path / "spring" / "data" / "annotations" / "spring.jsonl"
            log.parent.mkdir(parents=True)
            log.write_text(log_of(json.loads((tmp_path / "spring" / "campaign.json").read_text())))
    assert (tmp_path / "reports" / "campaign.html").exists()
    assert (tmp_path / "for-the-paper" / "methods.bib").exists()
    assert (tmp_path / "my-reports" / "wmt22_calibration_hits.html").exists()
