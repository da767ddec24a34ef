# SPDX-License-Identifier: MIT
"""A profile is read or trained, and a build with it is the result if it is significantly faster."""

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import BinaryPlan, Found, Request, TuningJob, read_plan
from compiler_gym.tools.tune.builds import Binary
from compiler_gym.tools.tune.llvm import speed
from compiler_gym.tools.tune.llvm.flags import FAST, FOLDING
from compiler_gym.tools.tune.llvm.linker import Linker
from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner
from compiler_gym.tools.tune.llvm.speed import FAIR_FAST, Profiler, ProfileTrial
from tests.stand_ins import always
from tests.tools.tune.llvm.hot_and_cold import linker_of, make_project, run_of

SAMPLES = "hot:9000:1\n 3: 1000\n 4: 1000\n 5: 1000\nmain:100:1\n 2: 1\n"
"""What AutoFDO writes as text: functions, lines from their first one, and counts."""
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
def linker(tmp_path: Path) -> Linker:
    return linker_of(make_project(tmp_path / "project"))


def test_a_profile_from_another_tool_is_used(linker: Linker, tmp_path: Path) -> None:
    profiler = Profiler(linker)
    made = profiler.train_profile(run_of(linker.binary))
    assert made is not None
    raw = next(made.with_name("raw").glob("*.profraw"))
    samples = tmp_path / "samples.txt"
    samples.write_text(SAMPLES)
    found = [profiler.read_profile(file, linker.binary.path) for file in (made, raw, samples)]
    assert [path.suffix for path in found] == [".profdata", ".profdata", ".afdo"]
    assert profiler.notes[0] == f"the profile {made.name} covers 3 of 3 functions"
    assert "2 of 3 functions" in profiler.notes[2]


def test_a_run_that_fails_or_runs_something_else_leaves_no_profile(linker: Linker) -> None:
    profiler = Profiler(linker)
    for text, said in (
        ("./program 100; exit 3", "exited with status 3"),
        ("true", "wrote no profile; it must run the program"),
    ):
        assert profiler.train_profile(run_of(linker.binary, text)) is None
        assert said in profiler.notes[-1]


def test_a_profile_of_another_program_is_refused(linker: Linker, tmp_path: Path) -> None:
    samples = tmp_path / "other.txt"
    samples.write_text("elsewhere:9000:1\n 3: 1000\n")
    with pytest.raises(ProjectError, match=r"the profile .* matches none of .* 3 functions"):
        Profiler(linker).read_profile(samples, linker.binary.path)


def test_an_invalid_profile_is_refused(
    linker: Linker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiler, file = Profiler(linker), tmp_path / "some.profile"
    with pytest.raises(ProjectError, match="cannot read the profile"):
        profiler.read_profile(file, linker.binary.path)
    file.write_bytes(b"hello, world, nothing of use")
    with pytest.raises(ProjectError, match="clang cannot use the profile"):
        profiler.read_profile(file, linker.binary.path)
    file.write_bytes(b"PERFILE2 and no more")
    if shutil.which("create_llvm_prof"):
        with pytest.raises(ProjectError, match="perf record -b"):
            profiler.read_profile(file, linker.binary.path)
    monkeypatch.setattr(shutil, "which", always(None))
    with pytest.raises(ProjectError, match="apt install autofdo"):
        profiler.read_profile(file, linker.binary.path)


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
    assert list(result.sizes)[-3:] == ["clang -O3 -flto", FAIR_FAST, "tuned"]
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
    assert any("no time was left" in note for note in result.found.notes)
    made = LlvmTuner().build(result.binary, result.found.plan, project.parent / "b", jobs=1)
    assert made.read_bytes() == result.found.path.read_bytes()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"run": None}, "--run"),
        ({"run": "exit 127"}, "status 127 on the untuned build"),
        ({"train": "./no-such-program"}, "status 127 on the untuned build"),
        ({"max_slowdown": 0.1}, "--max-slowdown"),
        ({"profile": "/nowhere.profdata"}, "no profile at /nowhere"),
        ({"goal": "size", "train": "./program"}, "--train"),
    ],
)
def test_an_unmeasurable_run_is_reported_first(
    project: Path, more: dict[str, object], said: str
) -> None:
    with pytest.raises(ProjectError, match=said):
        TuningJob(request(project, **more), LlvmTuner()).run()


def test_a_run_without_a_profile_leaves_the_baseline_and_reports_it(project: Path) -> None:
    asked = request(project, train="true", run="./program 1000", compilations=1)
    (result,) = TuningJob(asked, LlvmTuner()).run()
    assert any("wrote no profile" in note for note in result.found.notes)
    assert list(result.sizes)[-2:] == [FAIR_FAST, "tuned"]
    assert result.found.plan.profile == ""


def test_a_profile_from_production_is_used_instead_of_a_run(project: Path) -> None:
    samples = project.parent / "samples.txt"
    samples.write_text(SAMPLES)
    asked = request(project, seconds=5.0, profile=str(samples), run="./program 1000")
    (result,) = TuningJob(asked, LlvmTuner()).run()
    assert any("covers 1 of 4 functions" in note for note in result.found.notes)


def test_a_program_that_fails_when_built_by_clang_is_not_a_baseline() -> None:
    with pytest.raises(ProjectError, match="status 7 for the build with"):
        judged({FAIR: 1.0, BEST: 0.8}, status=7)


def test_a_long_run_is_compared_in_fewer_rounds_and_that_is_reported() -> None:
    found = judged({FAIR: 1.0, BEST: 0.8}, seconds_left=0.0)
    assert "in 2 rounds instead of 10" in found.notes[1]


OWN, FAIR, BEST = Path("own"), Path("fair"), Path("profiled")
PLAN = BinaryPlan("program", FAST, linker=FOLDING)


@pytest.fixture(autouse=True)
def no_builds(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Let builds and profiles of `judged` be names only."""
    if not {"project", "linker"} & {*request.fixturenames}:
        monkeypatch.setattr(speed.FastPlan, "link", always(BEST))
        monkeypatch.setattr(speed.Profiler, "train_profile", always(Path("p")))


def judged(times: dict[Path, float], *, status: int = 0, seconds_left: float = 1e9) -> Found:
    """Return the result if runs of each binary take this long."""

    def alternate(paths: list[Path], rounds: int) -> list[list[float]]:
        return [[times[path] * (1 + 0.001 * (i % 3)) for i in range(rounds)] for path in paths]

    outcome = SimpleNamespace(status=status, tail="", seconds=times[FAIR])
    run: Any = SimpleNamespace(
        text="./program", expected=0, alternate=alternate, run=always(outcome),
        has_failed=always(status != 0),
    )  # fmt: skip
    subject: Any = SimpleNamespace(
        run=run, train=None, profile=None, watch=always(None),
        measure=SimpleNamespace(of=always(1)),
        allowance=SimpleNamespace(seconds_left=seconds_left, is_over=False),
    )  # fmt: skip
    rivals = {"your flags": OWN, FAIR_FAST: FAIR} if OWN in times else {FAIR_FAST: FAIR}
    linker = Linker(cast("Binary", None), Path())
    return ProfileTrial(linker, subject, PLAN, rivals).judge()


def test_a_build_that_is_faster_for_certain_is_the_result() -> None:
    found = judged({FAIR: 1.0, BEST: 0.8, OWN: 1.2})
    assert (found.plan.profile, found.path) == ("p", BEST)
    assert found.speed["low"] > 1
    assert found.notes == ("profiled run: ./program",)


@pytest.mark.parametrize("best", [1.0, 1.1])
def test_a_build_that_is_not_faster_makes_room_for_the_baseline(best: float) -> None:
    found = judged({FAIR: 1.0, BEST: best})
    assert (found.plan, found.path) == (PLAN, FAIR)
    assert found.speed == {"speedup": 1.0, "low": 1.0, "high": 1.0}
    assert "not significantly faster: the result is the baseline" in found.notes[1]


def test_own_flags_that_are_faster_are_named() -> None:
    found = judged({FAIR: 1.0, BEST: 0.95, OWN: 0.8})
    assert "your own flags are faster" in found.notes[-1]
    found = judged({FAIR: 1.0, BEST: 1.2, OWN: 0.8})
    assert found.path == FAIR
    assert "1.250 times as fast as this build" in found.notes[-1] or "own flags" in found.notes[1]


def test_without_an_interval_the_estimate_decides() -> None:
    assert judged({FAIR: 1.0, BEST: 0.8}, seconds_left=0.0).path == BEST
    assert judged({FAIR: 1.0, BEST: 1.1}, seconds_left=0.0).path == FAIR
