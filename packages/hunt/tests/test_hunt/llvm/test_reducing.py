# SPDX-License-Identifier: MIT
"""A reduction keeps what the test asks for, and ends when its time is over."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from compiler_gym.errors import BenchmarkInitError
from compiler_gym_hunt.llvm import reducing
from compiler_gym_hunt.llvm.reducing import reduce_ir

from .conftest import ADDS


def test_code_that_the_test_does_not_need_is_removed() -> None:
    found = reduce_ir(ADDS, lambda data: b"mul i32" in data, seconds=60)
    assert found.is_finished
    assert "mul i32" in found.texts[-1]
    assert len(found.texts[-1]) < len(ADDS)
    assert "icmp" not in found.texts[-1]


def test_a_reduction_that_hangs_is_ended_and_keeps_the_best_so_far() -> None:
    def slow(data: bytes) -> bool:
        time.sleep(0.2)
        return b"icmp sgt" in data and len(data) >= len(ADDS) - 100

    found = reduce_ir(ADDS, slow, seconds=0.5)
    assert not found.is_finished
    assert "icmp sgt" in found.texts[-1]


def test_a_reduction_whose_process_is_killed_leaves_none_behind() -> None:
    script = f"""
import time
from compiler_gym_hunt.llvm.reducing import reduce_ir
def wait(data):
    print("asked", flush=True)
    time.sleep(60)
reduce_ir({ADDS!r}, wait, seconds=60)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"asked\n"
        begun = [child for one in children_of(process.pid) for child in (one, *children_of(one))]
        process.kill()
    assert len(begun) >= 2
    for _ in range(100):
        if not any(Path(f"/proc/{one}/cwd").exists() for one in begun):
            break
        time.sleep(0.05)
    assert not [one for one in begun if Path(f"/proc/{one}/cwd").exists()]


def children_of(process: int) -> list[int]:
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(one) for one in text.split()]


def test_without_the_tool_it_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BenchmarkInitError, match="apt install llvm"):
        reduce_ir(ADDS, lambda data: True, seconds=1)
    assert reducing.reduce_ir is reduce_ir
