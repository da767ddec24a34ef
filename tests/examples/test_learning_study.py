# SPDX-License-Identifier: MIT
"""The study of what learning shows: its figures are right, and it runs, in a small version."""

import importlib
import json
import math
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnvStateReader

STUDY = Path(__file__).parents[2] / "examples" / "learning_study"
MODULES = [path.stem for path in STUDY.glob("*.py")]
SMALL_PPO = (
    "--seeds 2 --whole 2 --functions 2 --steps 256 --compilations 9 --episode 4 --test crc32"
)
SMALL_CLONE = (
    "--functions 3 --steps 30 --sequences 3 --seeds 2 --members 2 --epochs 20 --test crc32"
)


SMALL_REAL = "--seeds 2 --steps 256 --most 4 --judged 2 --episode 4 --elsewhere 0"


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Give what imports a module of the study; it is no part of the package."""
    monkeypatch.syspath_prepend(str(STUDY))  # pyright: ignore[reportUnknownMemberType]  # pytest leaves its path untyped
    before = list(sys.path)
    yield importlib.import_module
    sys.path[:] = before
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.fixture
def command(study: Any, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for library in ("torch", "matplotlib"):
        pytest.importorskip(library, reason=f"{library} is missing")
    if shutil.which("csmith") is None:
        pytest.skip("needs csmith: apt install csmith libcsmith-dev")
    return study("study")


def write(folder: Path, *episodes: tuple[str, dict[str, Any]]) -> Path:
    lines = [json.dumps({"key": key, "result": result}) for key, result in episodes]
    (folder / "episodes.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def played(baseline: int, *best: list[int], last: int = 0) -> dict[str, Any]:
    return {
        "start": 400, "baseline": baseline, "last": last, "compilations": 10, "best": list(best),
    }  # fmt: skip


def test_scores_are_geometric_means_of_the_best_so_far(study: Any, tmp_path: Path) -> None:
    figures = study("figures")
    found = figures.results(
        write(
            tmp_path,
            ("training programs", {"programs": ["x"]}),
            ("ppo 0 a", played(100, [1, 200], [4, 50])),
            ("ppo 0 b", played(100, [2, 100], [10, 25])),
        )
    )
    (seed,) = figures.of(found, "ppo")
    scores = [math.exp(figures.score(seed, number)) for number in (1, 2, 4, 10)]
    expected = [(0.5 * 0.25) ** 0.5, 0.5**0.5, 2**0.5, (2 * 4) ** 0.5]
    assert scores == pytest.approx(expected)


def test_an_interval_is_students(study: Any) -> None:
    mean, low, high = study("figures").interval([math.log(x) for x in (1.0, 1.1, 1.21)])
    step = math.log(1.1)
    assert mean == pytest.approx(1.1)
    width = 4.303 * step / 3**0.5
    assert (low, high) == pytest.approx((1.1 * math.exp(-width), 1.1 * math.exp(width)))
    assert math.isnan(study("figures").interval([0.0])[1])


def test_the_table_counts_the_programs_that_are_ahead(study: Any, tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        *(
            item
            for seed in (0, 1)
            for item in (
                (f"random {seed} a", played(100, [1, 120])),
                (f"random {seed} b", played(100, [1, 80])),
                (f"ppo {seed} a", played(100, [1, 130], [7, 60 + seed])),
                (f"ppo {seed} b", played(100, [1, 90])),
            )
        ),
    )
    table = study("figures").ppo_table(folder)
    assert "ahead on 1 programs and behind on 1." in table
    assert "| 10 | 1.021 [1.021, 1.021] |" in table


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_ppo_and_random_search_are_compared_and_a_second_run_adds_nothing(
    command: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["ppo", str(tmp_path / "run"), *SMALL_PPO.split()]
    command.main(arguments)
    written = (tmp_path / "run" / "episodes.jsonl").read_text()
    command.main(arguments)
    assert (tmp_path / "run" / "episodes.jsonl").read_text() == written
    found = command.figures.results(tmp_path / "run")
    for kind in ("random", "ppo"):
        seeds = command.figures.of(found, kind)
        assert len(seeds) == 2
        for seed in seeds:
            (item,) = seed.values()
            assert item["compilations"] == 9
            counts = [count for _, count in item["best"]]
            assert counts == sorted(counts, reverse=True)
    trained = json.loads(written.splitlines()[0])["result"]["programs"]
    assert len(trained) == 4
    assert not any("cbench" in program for program in trained)
    command.main(["report", str(tmp_path / "run"), str(tmp_path / "plot.png")])
    assert "| 9 |" not in capsys.readouterr().out
    assert (tmp_path / "plot.png").stat().st_size > 10_000
    check_states(tmp_path / "run", found)


def test_real_code_is_compared_with_generated_seed_by_seed(study: Any, tmp_path: Path) -> None:
    figures = study("figures")
    held, bundled = "benchmark://debian-v0/a/a.c", "benchmark://cbench-v1/crc32"
    episodes = [
        (f"{method} {program}", played(100, [1, left], last=left))
        for method, lefts in {
            "random 0": (200, 400), "random 1": (200, 400),
            "generated 0 after 64": (150, 110), "generated 1 after 64": (150, 110),
            "generated 0 after 128": (120, 100), "generated 1 after 128": (120, 100),
            "real 0 after 64": (120, 150), "real 1 after 64": (120, 150),
            "real 0 after 128": (100, 125), "real 1 after 128": (100, 125),
        }.items()
        for program, left in zip((held, bundled), lefts, strict=True)
    ]  # fmt: skip
    table = figures.real_table(write(tmp_path, *episodes))
    assert "| nothing: random actions | 0.500 [0.500, 0.500] | 0.250 [0.250, 0.250] |" in table
    assert "| real code | 1.000 [1.000, 1.000] | 0.800 [0.800, 0.800] |" in table
    assert "Real over generated, packages held out: 1.200 [1.200, 1.200]." in table
    assert "Real over generated, cbench-v1: 0.800 [0.800, 0.800]." in table


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_real_code_is_learnt_from_and_a_second_run_adds_nothing(
    command: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["real", str(tmp_path / "run"), *SMALL_REAL.split()]
    arguments += ["--dataset", "benchmark://debian-sample-v0"]
    command.main(arguments)
    written = (tmp_path / "run" / "episodes.jsonl").read_text()
    command.main(arguments)
    assert (tmp_path / "run" / "episodes.jsonl").read_text() == written
    known = {line["key"]: line["result"] for line in map(json.loads, written.splitlines())}
    assert len(known["programs"]["real"]) == 4
    assert not {*known["programs"]["real"]} & {*known["held out"]["programs"]}
    command.main(["report", str(tmp_path / "run"), str(tmp_path / "plot.png")])
    assert "| real code |" in capsys.readouterr().out
    assert (tmp_path / "plot.png").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("actions", ["", "--finish 3"])
def test_a_policy_is_cloned_and_a_second_run_adds_nothing(
    actions: str, command: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["clone", str(tmp_path / "run"), *SMALL_CLONE.split(), *actions.split()]
    command.main(arguments)
    written = (tmp_path / "run" / "episodes.jsonl").read_text()
    command.main(arguments)
    assert (tmp_path / "run" / "episodes.jsonl").read_text() == written
    traces = (tmp_path / "run" / "traces.jsonl").read_text().splitlines()
    assert len({json.loads(line)["benchmark"] for line in traces}) == 3
    command.main(["report", str(tmp_path / "run"), str(tmp_path / "plot.png")])
    assert "cloned policy, 2 seeds" in capsys.readouterr().out
    command.main(["check", str(tmp_path / "run"), "--sample", "1"])
    outcomes = json.loads((tmp_path / "run" / "validation.json").read_text())["outcomes"]
    assert [outcome["okay"] for outcome in outcomes] == [True]


def check_states(folder: Path, found: Any) -> None:
    """Replay the state of every episode: it has as many instructions as was recorded."""
    recorded = [item["best"][-1][1] for programs in found.values() for item in programs.values()]
    with open(folder / "states.jsonl") as file:
        states = list(CompilerEnvStateReader(file))
    with compiler_gym.make("llvm-v0") as env:
        counts: list[int] = []
        for state in states:
            env.apply(state)
            counts.append(min(int(env.observation["IrInstructionCount"]), 586))
    assert counts == recorded
