# SPDX-License-Identifier: MIT
"""A hunt in a planted corpus: what it finds, why it drops the rest, and that it goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.errors import BenchmarkNotFoundError, CacheError
from compiler_gym_hunt.llvm import hunt as hunt_module
from compiler_gym_hunt.llvm.hunt import Hunt, HuntLimits
from compiler_gym_hunt.llvm.proving import HuntProof
from compiler_gym_hunt.llvm.reducing import Reduced
from compiler_gym_hunt.llvm.versions import VersionSize
from tests.stand_ins import always, stand_in

QUICK = HuntLimits(reduce_seconds=4.0)


def rows(folder: Path, stage: str) -> list[dict[str, Any]]:
    lines = (folder / "journal.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if row["stage"] == stage]


@pytest.fixture
def examined(corpus: Path, tmp_path: Path) -> Path:
    """Return the folder of a hunt that has examined the corpus and followed nothing."""
    output = tmp_path / "hunt"
    hunt = Hunt(str(corpus), output, goal="instructions", limits=QUICK)
    hunt._follow = lambda engine, deadline: None  # pyright: ignore[reportPrivateUsage]
    hunt.run(seconds=120)
    return output


def test_functions_are_examined_once_and_what_does_not_build_is_a_row(
    corpus: Path, examined: Path
) -> None:
    found = rows(examined, "program")
    assert len(found) == 4
    (broken,) = [row for row in found if "dropped" in row]
    assert broken["dropped"].startswith("does not build")
    assert {row["package"] for row in rows(examined, "gap")} == {"one", "two", "three"}
    before = (examined / "journal.jsonl").read_text()
    hunt = Hunt(str(corpus), examined, goal="instructions", limits=QUICK)
    hunt._follow = lambda engine, deadline: None  # pyright: ignore[reportPrivateUsage]
    figures = hunt.run(seconds=120)["figures"]
    assert len(rows(examined, "program")) == 4
    assert (examined / "journal.jsonl").read_text().startswith(before)
    assert (figures["examined"], figures["with_gap"], figures["programs_unreadable"]) == (3, 3, 1)


@pytest.mark.slow
def test_a_planted_pattern_is_found_reduced_proven_and_counted(
    corpus: Path, examined: Path
) -> None:
    document = Hunt(str(corpus), examined, goal="instructions", limits=QUICK).run(seconds=60)
    assert document["findings"]
    for number, finding in enumerate(document["findings"], start=1):
        assert finding["packages"] == 3
        assert finding["proof"]["kind"] == "execution"
        assert len(finding["text"].splitlines()) <= 30
        before, after = finding["instructions"]
        assert after < before
        draft = (examined / "findings" / f"{number:02}" / "README.md").read_text()
        assert "godbolt.org/clientstate/" in draft
        assert "opt-22 -passes=" in draft
        assert "- [ ] Is it already known?" in draft
    twins = [row["decision"] for row in document["findings"]]
    assert len(set(twins)) == len(twins)
    assert "<h1>" in (examined / "report.html").read_text()


@pytest.mark.parametrize(
    ("step", "patched"),
    [
        ("cut out", {}),
        ("reduce", {"limits": HuntLimits(lines=3)}),
        ("prove", {"proof": HuntProof(reason="differs on input 7")}),
        ("count", {"packages": 1}),
        ("versions", {"failure": "opt crashed"}),
    ],
)
def test_each_step_says_why_it_drops_a_candidate(
    corpus: Path,
    examined: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    patched: dict[str, Any],
) -> None:
    limits = patched.get("limits", HuntLimits(lines=60))
    hunt = Hunt(str(corpus), examined, goal="instructions", limits=limits)
    proof = patched.get("proof", HuntProof("execution", judged=100, reached="1 of 1"))
    monkeypatch.setattr(hunt_module, "prove_finding", always(proof))
    failed = [VersionSize(7, failure="opt crashed")]
    monkeypatch.setattr(
        hunt_module, "sizes_by_version", always(failed if "failure" in patched else [])
    )
    if step == "cut out":
        monkeypatch.setattr(hunt, "_least", always(1000.0))
    if "packages" in patched:
        counted = hunt._count_occurrences  # pyright: ignore[reportPrivateUsage]
        monkeypatch.setattr(
            hunt, "_count_occurrences", stand_in(lambda row: counted(row) | {"packages": 1})
        )
    monkeypatch.setattr(
        hunt_module,
        "reduce_ir",
        stand_in(lambda text, check, seconds: Reduced([text], tests=0, is_finished=True)),
    )
    monkeypatch.setattr(hunt, "_examine", always(None))
    ended = iter([False])
    monkeypatch.setattr(hunt, "_is_interrupted", lambda: next(ended, True))
    figures = hunt.run(seconds=60)["figures"]
    (row,) = rows(examined, "candidate")
    assert row["step"] == step
    assert row["dropped"]
    assert sum(figures["dropped"][step].values()) == 1


def test_a_gap_in_cycles_is_a_finding_with_the_cycles_of_each_version(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof = HuntProof("execution", judged=100, reached="1 of 1")
    monkeypatch.setattr(hunt_module, "prove_finding", always(proof))
    monkeypatch.setattr(
        hunt_module,
        "reduce_ir",
        stand_in(lambda text, check, seconds: Reduced([text], tests=0, is_finished=True)),
    )
    hunt = Hunt(str(corpus / "one" / "scan.c"), tmp_path, goal="cycles")
    document = hunt.run(seconds=60)
    assert document["figures"]["dropped"] == {}
    finding = document["findings"][0]
    before, after = finding["costs"]
    assert 0 < after <= 0.95 * before
    for row in finding["versions"][-1:]:  # where LLVM's tools are installed
        assert (row["level"], row["decided"]) == (before, after)
    draft = (tmp_path / "findings" / "01" / "README.md").read_text()
    assert f"improves the code: {before:g} to {after:g} cycles" in draft
    assert f"| cycles in LLVM's model, x86-64 | {before:g} | {after:g} |" in draft
    assert f"{before:g} → {after:g}" in (tmp_path / "report.html").read_text()


def test_a_hunt_that_was_killed_goes_on_and_examines_nothing_twice(
    corpus: Path, tmp_path: Path
) -> None:
    output = tmp_path / "hunt"
    command = [
        *(sys.executable, "-m", "compiler_gym.cli", "hunt", str(corpus)),
        *("--output", str(output), "--goal", "instructions", "--time", "60s"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    journal = output / "journal.jsonl"
    for _ in range(600):
        if journal.is_file() and '"gap"' in journal.read_text():
            break
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with journal.open("a") as stream:
        stream.write('{"stage": "gap", "key": "cut')  # what a kill leaves
    hunt = Hunt(str(corpus), output, goal="instructions", limits=QUICK)
    hunt._follow = lambda engine, deadline: None  # pyright: ignore[reportPrivateUsage]
    figures = hunt.run(seconds=120)["figures"]
    keys = [row["key"] for row in rows(output, "gap")]
    assert len(keys) == len(set(keys)) == 3
    assert figures["programs_examined"] == 4


def test_a_folder_of_another_hunt_is_refused(corpus: Path, examined: Path) -> None:
    with pytest.raises(CacheError, match="another folder"):
        Hunt(str(corpus), examined, goal="size").run(seconds=1)


def test_a_path_without_programs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkNotFoundError, match="no programs in"):
        Hunt(str(tmp_path), tmp_path / "hunt").run(seconds=1)
    with pytest.raises(BenchmarkNotFoundError, match="no such file"):
        Hunt(str(tmp_path / "missing"), tmp_path / "hunt").run(seconds=1)
