# SPDX-License-Identifier: MIT
"""Programs are linked, and how large they are is what LLVM's tools say."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.errors import ObservationError
from tests.envs.llvm.running_programs import MakeEnv, program, started

Tool = Callable[..., bytes]


def test_the_text_size_is_what_llvm_size_says_of_the_linked_program(
    make_env: MakeEnv, tool: Tool, tmp_path: Path
) -> None:
    env = started(make_env, "cbench-v1/crc32")
    for action in ("sroa", "instcombine"):
        path = env.write_bitcode(tmp_path / "module.bc")
        tool("llc-22", "-filetype=obj", path, "-o", tmp_path / "module.o")
        tool("clang-22", "-no-pie", tmp_path / "module.o", "-o", tmp_path / "program")
        flags = tool("llvm-readelf-22", "-SW", tmp_path / "program").decode()
        sections = re.findall(
            r"\] (\S+) +\w+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +\w*X\w* ", flags
        )
        assert sections
        assert env.observation["TextSizeBytes"] == sum(int(size, 16) for _, size in sections)
        env.step(env.action_space[action])


def test_a_program_without_main_is_no_program(make_env: MakeEnv) -> None:
    env = started(make_env, program("int f(int x) { return x; }"))
    assert env.observation["IsBuildable"] is False
    assert env.observation["IsRunnable"] is False
    for name in ("TextSizeBytes", "Buildtime", "Runtime", "RuntimeInstructions"):
        with pytest.raises(ObservationError, match="does not link"):
            _ = env.observation[name]


def test_the_worker_loads_no_linker_before_it_is_asked_to() -> None:
    program = (
        "import sys; import compiler_gym.envs.llvm.session; "
        "late = ('machine.running', 'machine.build', 'machine.program'); "
        "print(any(name.endswith(late) for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
