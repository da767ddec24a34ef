# SPDX-License-Identifier: MIT
"""A program is made faster by a run of it, and what is not significantly faster is not used."""

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import BinaryPlan, Request, TuningJob, read_plan
from compiler_gym.tools.tune.llvm.fast import BY_HAND, FAIR_FAST
from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner
from compiler_gym.tools.tune.speed_search import SpeedSearch

# The work is in a function that only a profile shows to be worth inlining and unrolling.
MAIN = """
#include <stdio.h>
#include <stdlib.h>
typedef unsigned (*step)(unsigned);
unsigned often(unsigned), seldom(unsigned), never(unsigned);
step steps[3];
int main(int count, char **words) {
  unsigned state = 1, sum = 0, rounds = count > 1 ? strtoul(words[1], 0, 10) : 20000000;
  steps[0] = often; steps[1] = seldom; steps[2] = never;
  for (unsigned i = 0; i < rounds; ++i) {
    state = state * 1664525u + 1013904223u;
    unsigned which = state >> 16;
    sum += steps[which % 1000 ? 0 : which % 7 == 0 ? 2 : 1](sum + i);
  }
  printf("%u\\n", sum);
  return 0;
}
"""
STEPS = """
unsigned often(unsigned n) { return n + 3; }
unsigned seldom(unsigned n) { for (int i = 0; i < 9; ++i) n ^= n << (i & 3); return n; }
unsigned never(unsigned n) { return n / 3 + n % 11; }
"""
BUILD = ("sh", "-c", "$CC -O2 -c main.c steps.c && $CC main.o steps.o -o program")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "main.c").write_text(MAIN)
    (folder / "steps.c").write_text(STEPS)
    return folder


def request(project: Path, **more: object) -> Request:
    wanted: dict[str, object] = {
        "goal": "speed", "seconds": None, "compilations": 0, "run": "./program",
    }  # fmt: skip
    return Request(BUILD, project, project.parent / "out", **(wanted | more))  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_profile_makes_indirect_calls_fast_and_is_handed_over(project: Path) -> None:
    asked = request(project, seconds=300.0, compilations=1, train="./program 2000000")
    (result,) = TuningJob(asked, LlvmTuner()).run()
    assert list(result.sizes)[-3:] == [BY_HAND, FAIR_FAST, "tuned"]
    assert result.speed["low"] > 1
    assert any("./program 2000000" in note for note in result.found.notes)
    plan = read_plan(asked.output / "tuned.toml")
    kept = plan.binaries[0]
    assert Path(kept.profile).is_file()
    assert Path(kept.profile).parent == asked.output / "profiles"
    assert f'"profiles/{Path(kept.profile).name}"' in (asked.output / "tuned.toml").read_text()
    made = LlvmTuner().build(result.binary, kept, project.parent / "again", jobs=1)
    assert made.read_bytes() == (asked.output / "bin/program").read_bytes()
    tree = asked.output / "work/tree"
    subprocess.run(["sh", asked.output / "reproduce.sh", tree, project.parent / "r"], check=True)
    assert (project.parent / "r/program").read_bytes() == made.read_bytes()


def test_without_time_the_fair_rival_is_handed_over(project: Path) -> None:
    asked = request(project, seconds=0.0, compilations=None, run="./program 1000")
    (result,) = TuningJob(asked, LlvmTuner()).run()
    assert result.found.path.read_bytes() == result.found.rivals[FAIR_FAST].read_bytes()
    assert result.speed == {"speedup": 1.0, "low": 1.0, "high": 1.0}
    assert any("the baseline" in note for note in result.found.notes)
    made = LlvmTuner().build(result.binary, result.found.plan, project.parent / "b", jobs=1)
    assert made.read_bytes() == result.found.path.read_bytes()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"run": None}, "--run"),
        ({"run": "exit 127"}, "status 127 on the untuned build"),
        ({"train": "./no-such-program"}, "status 127 on the untuned build"),
        ({"max_slowdown": 0.1}, "--max-slowdown"),
        ({"max_growth": 0.1}, "--max-growth"),
        ({"profile": "/nowhere.profdata"}, "no profile at /nowhere"),
        ({"goal": "size", "train": "./program"}, "--train"),
    ],
)
def test_what_cannot_be_measured_is_said_first(
    project: Path, more: dict[str, object], said: str
) -> None:
    with pytest.raises(ProjectError, match=said):
        TuningJob(request(project, **more), LlvmTuner()).run()


PROFILED = BinaryPlan("program", "link-time fast", profile="p")
FAIR_PLAN = BinaryPlan("program", "link-time fast")
OWN, FAIR, BEST = Path("own"), Path("fair"), Path("profiled")


def judged(times: dict[Path, float], *, rounds: int = 12) -> Any:
    """Return the end of a search in which each binary takes so long, and its notes."""

    def alternate(paths: list[Path], rounds: int) -> list[list[float]]:
        return [[times[path] * (1 + 0.001 * (i % 3)) for i in range(rounds)] for path in paths]

    bench: Any = SimpleNamespace(
        fair=FAIR, own=OWN if OWN in times else None, notes=[], rounds=rounds, wall=1.0,
        run=SimpleNamespace(alternate=alternate),
        subject=SimpleNamespace(allowance=SimpleNamespace(seconds_left=0.0)),
    )  # fmt: skip
    search = SpeedSearch(bench, FAIR_PLAN, PROFILED, BEST, bench.run)
    search._plan, search._path = PROFILED, BEST  # pyright: ignore[reportPrivateUsage]  # no public name tells
    plan, path, speed = search._judge()  # pyright: ignore[reportPrivateUsage]  # tested on its own
    return SimpleNamespace(plan=plan, path=path, speed=speed, notes=bench.notes)


def test_a_build_that_is_faster_for_certain_is_handed_over() -> None:
    ended = judged({FAIR: 1.0, BEST: 0.8, OWN: 1.2})
    assert (ended.plan, ended.path) == (PROFILED, BEST)
    assert ended.speed["low"] > 1
    assert ended.notes == []


@pytest.mark.parametrize("best", [1.0, 1.1])
def test_a_build_that_is_not_faster_makes_room_for_the_rival(best: float) -> None:
    ended = judged({FAIR: 1.0, BEST: best})
    assert (ended.plan, ended.path) == (FAIR_PLAN, FAIR)
    assert ended.speed == {"speedup": 1.0, "low": 1.0, "high": 1.0}
    assert "not significantly faster" in ended.notes[0]
    assert "the result is the baseline" in ended.notes[0]


def test_own_flags_that_are_faster_are_named() -> None:
    ended = judged({FAIR: 1.0, BEST: 0.95, OWN: 0.8})
    assert "your own flags are faster" in ended.notes[-1]
    assert "keep your own build" in ended.notes[-1]
    ended = judged({FAIR: 1.0, BEST: 1.2, OWN: 0.8})
    assert ended.path == FAIR
    assert "1.250 times as fast as this build" in ended.notes[-1]


def test_without_an_interval_the_estimate_decides() -> None:
    assert judged({FAIR: 1.0, BEST: 0.8}, rounds=2).path == BEST
    assert judged({FAIR: 1.0, BEST: 1.1}, rounds=2).path == FAIR
