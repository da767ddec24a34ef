# SPDX-License-Identifier: MIT
"""The page shows the stored rows, rows can be replayed, and an interrupted comparison continues."""

import json
import pickle
import re
import runpy
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler_gym
from benchmarks import methods
from benchmarks.methods import Job, Method, Size
from compiler_gym.tools.tune.llvm.plugin import explain_problem

DATA: dict[str, Any] = json.loads(methods.DATA.read_text("utf-8"))
TINY = Size(
    ("cbench-v1/crc32",), ("cbench-v1/sha",), seeds=2, trainings=1, steps=20, training=64, coreset=1
)


def test_the_page_shows_what_is_stored() -> None:
    page = methods.PAGE.read_text("utf-8")
    for suite, table in methods.tables(DATA["rows"]).items():
        assert table in page, f"{suite}: run `python -m benchmarks.methods --small --write`"


def test_every_method_has_rows_for_all_programs_and_seeds() -> None:
    size: dict[str, Any] = DATA["size"]
    assert not set(size["programs"]) & set(size["train"])
    for name, method in methods.METHODS.items():
        own = [row for row in DATA["rows"] if row["method"] == name]
        found = {(row["program"], row["seed"]) for row in own}
        expected = {
            (program, seed)
            for program in size["programs"]
            for seed in range(method.count_seeds(Size(**size)))
            if program.partition("/")[0] in method.suites
        }
        assert {pair for pair in found if not pair[0].startswith(("large/", "held-out/"))} == (
            expected
        ), name


@pytest.mark.parametrize(
    "name", "random portfolio compiler-r1 maskable-ppo cluster grace-like recipe".split()
)
def test_a_stored_row_can_be_replayed(name: str, tmp_path: Path) -> None:
    row = next(row for row in DATA["rows"] if row["method"] == name and row["passes"])
    program = row["program"]
    if name == "maskable-ppo":  # which begins after clang -Oz
        program = (tmp_path / "after-oz.bc").as_uri()
        with compiler_gym.make("llvm-tails-v0", benchmark=row["program"]) as env:
            env.reset()
            (tmp_path / "after-oz.bc").write_bytes(env.observation["Bitcode"])
    with methods._make() as env:  # pyright: ignore[reportPrivateUsage]  # what measured it
        env.reset(benchmark=row["program"])
        assert env.observation["IrInstructionCountOptOz"] == row["instructions_opt_oz"]
        assert env.observation["IrInstructionCountOz"] == row["instructions_oz"]
        env.reset(benchmark=program)
        env.multistep([env.action_space[passed] for passed in row["passes"]])
        assert env.observation["IrInstructionCount"] == row["instructions"]


def test_a_search_gives_a_row_with_its_cost() -> None:
    (row,) = methods.METHODS["random"].work(Job("random", 0, TINY.programs, TINY))
    assert row["compilations"] > 0
    assert row["cpu_seconds"] > 0
    assert row["instructions"] < 586  # of crc32 before any pass
    assert row["loaded"] > 1000 < row["loaded_oz"]


def test_a_coreset_covers_programs_together() -> None:
    gains = np.array([[5.0, 0.0, 4.0], [0.0, 5.0, 4.0]])
    assert methods.choose_coreset(gains, 1) == [2]
    assert methods.choose_coreset(gains, 9) == [2, 0, 1]


def test_clusters_join_what_is_near() -> None:
    points = np.array([[0.0, 0.0], [5.0, 5.0], [0.0, 1.0], [5.0, 4.0]])
    centres, members = methods.find_clusters(points, 2)
    assert members.tolist() == [0, 1, 0, 1]
    assert centres.tolist() == [[0.0, 0.5], [5.0, 4.5]]


def test_programs_judged_with_the_plugin_are_compared_with_the_rival_of_the_same_packing() -> None:
    judged = json.loads(methods.JUDGED.read_text("utf-8"))["held-out"]["programs"]
    rows = {(row["method"], row["program"]): row for row in methods.read_judged()}
    beep = judged["beep/beep.gcc"]
    row = rows["plugin-packed", "held-out/beep/beep.gcc"]
    assert row["loaded"] == beep["plug-in, packed"]["loaded"]
    assert row["loaded_oz"] == beep["rival, packed"]["loaded"]
    assert ("plugin-packed", "held-out/hdparm/hdparm") not in rows, "its link failed"


def test_the_policy_links_with_and_without_the_plugin() -> None:
    job = Job("plugin", 0, ("cbench-v1/qsort",), TINY)
    plain, packed = (methods.METHODS[name].work(job)[0] for name in ("policy", "policy-packed"))
    assert packed["loaded"] <= plain["loaded"] < plain["loaded_oz"]
    if not explain_problem():
        (row,) = methods.METHODS["plugin"].work(job)
        assert row["loaded"] < plain["loaded"]


def test_seeds_of_a_program_count_once() -> None:
    rows = [{"program": "a", "found": 50, "base": 100}] * 9 + [
        {"program": "b", "found": 100, "base": 100}
    ]
    assert methods.summarise(rows, "found", "base") == (25.0, 0.0, 50.0)
    assert methods.summarise(rows, "loaded", "base") is None


def test_a_finished_job_does_not_run_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played: list[str] = []

    def work(job: Job) -> list[dict[str, Any]]:
        if job.seed == fails_at:
            raise KeyboardInterrupt
        played.append(job.key)
        costs = {"compilations": 1, "cpu_seconds": 0.5}
        return [{"method": "fake", "program": job.programs[0], "seed": job.seed, **costs}]

    monkeypatch.setattr(methods, "METHODS", {"fake": Method(work, "Fake")})
    monkeypatch.setattr(methods, "_small", lambda: replace(TINY, seeds=3))
    fails_at = 1
    with pytest.raises(KeyboardInterrupt):
        methods.main(["--small", "--run", str(tmp_path)])
    fails_at = -1
    methods.main(["--small", "--run", str(tmp_path)])
    assert played == [f"fake/{seed}/cbench-v1/crc32" for seed in range(3)]
    assert re.search(r"^\| Fake \|.*\| 1 \| 0.5 \| - \| 1 \| 3 \|$", capsys.readouterr().out, re.M)


def test_rows_of_large_modules_stay_if_they_were_not_measured_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page, data = tmp_path / "page.md", tmp_path / "page.json"
    page.write_text("<!-- baselines large -->\n<!-- end baselines -->\n")
    data.write_text(json.dumps({"rows": [{"method": "oz", "program": "large/lua", "seed": 0}]}))
    monkeypatch.setattr(methods, "PAGE", page)
    monkeypatch.setattr(methods, "DATA", data)
    for _ in range(2):
        methods._write([{"method": "oz", "program": "cbench-v1/sha", "seed": 0}], TINY)  # pyright: ignore[reportPrivateUsage]
        rows: list[dict[str, Any]] = json.loads(data.read_text())["rows"]
        assert [row["program"] for row in rows] == ["cbench-v1/sha", "large/lua"]
    assert "| The action `-Oz`" in page.read_text()


def test_a_node_of_a_cluster_finds_the_work_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def spread(jobs: list[Job], work: Callable[[Job], Any]) -> Iterator[tuple[Job, Any]]:
        for job in jobs:
            sent = pickle.dumps((work, job))
            assert b"__main__" not in sent
            there, again = pickle.loads(sent)
            yield job, there(again)

    monkeypatch.setattr("compiler_gym.tools.learn.integrations.ray.spread_tasks", spread)
    monkeypatch.setattr(methods, "_small", lambda: TINY)
    words = ["methods", "--small", "--ray", "--method", "clang", "--run", str(tmp_path)]
    monkeypatch.setattr("sys.argv", words)
    with warnings.catch_warnings(action="ignore"):  # the module is imported already
        runpy.run_module("benchmarks.methods", run_name="__main__")
    assert "| `clang -Oz` |" in capsys.readouterr().out


def test_the_programs_are_those_of_the_zoo() -> None:
    pytest.importorskip("sb3_contrib")
    size = methods._small()  # pyright: ignore[reportPrivateUsage]  # needs a library that learns
    assert DATA["size"]["train"] == list(size.train)
    assert DATA["size"]["programs"] == list(size.programs)
