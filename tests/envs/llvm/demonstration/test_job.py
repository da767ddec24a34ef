# SPDX-License-Identifier: MIT
"""The demonstration keeps the better of a search and a level, and names its files apart."""

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm.demonstration import job
from compiler_gym.envs.llvm.demonstration.job import Demonstration
from compiler_gym.errors import CacheError

from .rows import row
from .test_display import Asked


def find(env: CompilerEnv, name: str) -> Benchmark:
    return env.datasets.benchmark(name)


def demonstration(folder: Path) -> Demonstration:
    return Demonstration(folder, Console(file=io.StringIO()), Asked(), find)


def result(reward: float) -> Any:
    class Found:
        sequences, action_names = 7, ("gvn",)
        commandline = "opt --passes='gvn' input.bc -o output.bc"

    Found.reward = reward  # type: ignore[attr-defined]
    return Found()


def test_what_a_search_found_is_taken_unless_a_level_is_better(tmp_path: Path) -> None:
    shown = demonstration(tmp_path)
    better, worse = row(), row()
    shown._take(better, result(120.0))
    assert (better.found, better.actions, better.sequences) == (60, ["gvn"], 7)
    assert better.command.endswith("crc32.bc -o crc32.found.bc")
    shown._take(worse, result(10.0))
    assert (worse.found, worse.actions, worse.sequences) == (worse.baseline, ["sroa"], 7)


def test_programs_of_one_name_get_files_of_their_own(tmp_path: Path) -> None:
    shown = demonstration(tmp_path)
    names = []
    for _ in range(3):
        names.append(shown._name_for(Benchmark("benchmark://cbench-v1/crc32", b"")))
        shown.rows.append(row(name=names[-1]))
    assert names == ["crc32", "crc32~2", "crc32~3"]


def test_a_command_that_fails_is_noted_in_its_row(tmp_path: Path) -> None:
    shown = demonstration(tmp_path)
    missing, failing = row(command="/nowhere/opt a -o b"), row(command="false a -o b")
    shown._check(missing)
    shown._check(failing)
    assert "No such file" in missing.problem
    assert "exit status 1" in failing.problem


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    shown = demonstration(tmp_path / "file" / "out")
    with pytest.raises(CacheError, match=r"cannot create .*: name another folder with --output"):
        shown.run(["cbench-v1/crc32"], seconds=60, jobs=1, seed=0)


def test_a_folder_in_which_nothing_came_goes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "make", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        demonstration(tmp_path / "a" / "b").run([], seconds=60, jobs=1, seed=0)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_demonstration_writes_what_it_has(tmp_path: Path) -> None:
    asked = Asked()
    asked.requested = True
    shown = Demonstration(tmp_path / "out", Console(file=io.StringIO()), asked, find)
    shown.run(["cbench-v1/crc32"], seconds=60, jobs=1, seed=0)
    assert shown.is_interrupted
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    assert document["programs"] == shown.to_json()["programs"] == []
    shutil.rmtree(tmp_path / "out")


def test_a_command_names_the_files_of_the_folder_and_keeps_its_options(tmp_path: Path) -> None:
    episode = "opt -discard-value-names '-name=a b' -passes='sroa,dce' input.bc -o output.bc"
    assert demonstration(tmp_path)._command("sha", episode) == (
        "opt-22 -discard-value-names '-name=a b' -passes='sroa,dce' sha.bc -o sha.found.bc"
    )
