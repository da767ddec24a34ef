# SPDX-License-Identifier: MIT
"""Every door that takes a path of the caller's refuses what is no file, at once and by name."""

import os
import resource
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import compiler_gym
from compiler_gym import CompilerEnvStateReader
from compiler_gym.datasets import Benchmark, BenchmarkWithSource
from compiler_gym.errors import CompilerGymError
from compiler_gym.tools.learn.leaderboard import read_submission
from compiler_gym.tools.tune import read_plan


def _reset(id: str) -> Callable[[str], Any]:
    def door(path: str) -> Any:
        with compiler_gym.make(id) as env:
            env.reset(benchmark=f"file://{path}")

    return door


def _make_llvm_benchmark(path: str) -> Any:
    with compiler_gym.make("llvm-v0") as env:
        env.make_benchmark(path)  # type: ignore[attr-defined]  # the LLVM environment has it


def _submission(path: str) -> Any:
    """A folder of a submission whose results are a link to the path, where a link can be made."""
    folder = Path(os.environ["GIVEN"]) / "entry"
    folder.mkdir(exist_ok=True)
    (folder / "submission.toml").write_text('task = "llvm-ic-1s"\n')
    results = folder / "results.jsonl"
    results.unlink(missing_ok=True)
    try:
        results.symlink_to(path)
    except (ValueError, OSError):
        return read_submission(Path(path))
    return read_submission(folder)


DOORS: dict[str, Callable[[str], Any]] = {
    "plugins": lambda path: compiler_gym.make("llvm-v0", plugins=[path]),
    "states": lambda path: list(CompilerEnvStateReader.read_paths([path])),
    "plan": lambda path: read_plan(Path(path)),
    "benchmark": lambda path: Benchmark.from_file("benchmark://a-v0/b", path),
    "source": lambda path: BenchmarkWithSource.create("benchmark://a-v0/b", b"", "a.c", Path(path)),
    "submission": _submission,
    "make_benchmark": _make_llvm_benchmark,
    **{f"reset {id}": _reset(id) for id in ("llvm-v0", "loop_tool-v0")},
}


@contextmanager
def _in_two_gigabytes() -> Generator[None]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (2 << 30), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("door", DOORS)
def test_a_path_that_is_not_a_file_is_refused_at_once(
    door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIVEN", str(tmp_path))
    os.mkfifo(tmp_path / "pipe.c")  # nobody writes: who opens it waits for ever
    with (tmp_path / "long.c").open("wb") as file:
        file.truncate(64 << 30)
    refused = [
        "/dev/zero", f"{tmp_path}/pipe.c", str(tmp_path), f"{tmp_path}/long.c",
        f"{tmp_path}/a\0b.c", f"{tmp_path}/{'a' * 5000}.c",
    ]  # fmt: skip
    with _in_two_gigabytes():
        for path in refused:
            with pytest.raises(CompilerGymError, match=r"\w"):
                DOORS[door](path)
