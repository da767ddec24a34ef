# SPDX-License-Identifier: MIT
"""A program with the plug-in behaves, unwinds and can be debugged as it can without it.

`behaviour.cpp` steps through functions with frames of all kinds, and at each instruction asks the
unwinder for the stack. It also covers exceptions, longjmp, threads, signals, thread-local
variables, indirect calls, coroutines and inline assembly.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from compiler_gym.tools.tune.llvm.plugin import explain_problem, find_plugin
from tests.native.conftest import need

pytestmark = [
    pytest.mark.skipif(bool(explain_problem()), reason="needs the size plug-in"),
    pytest.mark.slow,
]
SOURCE = Path(__file__).with_name("behaviour.cpp")
COMPILE = (
    "-std=c++20",
    "-Oz",
    "-g",
    "-flto",
    "-fno-omit-frame-pointer",
    "-momit-leaf-frame-pointer",
)
LINK = ("-Oz", "-flto", "-fuse-ld=lld-22", "-rdynamic", "-pthread")
FIRES = {"exchange", "frame", "share-restore", "share-save", "shift-frame", "swap-registers"}
ARRAYS = [f"-ex=frame function deep{n}\n-ex=p far\n-ex=p one" for n in range(1, 9)]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the program without and with the plug-in, which changes it in all its ways."""
    folder = tmp_path_factory.mktemp("behaviour")
    module, plain, small = folder / "module.o", folder / "plain", folder / "small"
    clang, counts = need("clang++-22"), folder / "counts"
    subprocess.run([clang, *COMPILE, "-c", SOURCE, "-o", module], check=True)
    subprocess.run([clang, *LINK, module, "-o", plain], check=True)
    plugin = [f"-Wl,--load-pass-plugin={find_plugin()}", "-Wl,-mllvm,-verify-machineinstrs"]
    linked = subprocess.run(
        [clang, *LINK, *plugin, module, "-o", small],
        env=os.environ | {"COMPILER_GYM_SIZE": f"stats={counts}"},
        check=True,
        capture_output=True,
    )
    assert linked.stderr == b""
    assert {line.split("\t")[0] for line in counts.read_text().splitlines()} >= FIRES
    return plain, small


def test_it_prints_the_same_and_unwinds_at_each_instruction(programs: tuple[Path, Path]) -> None:
    plain, small = (
        subprocess.run([program], check=True, capture_output=True, text=True).stdout
        for program in programs
    )
    assert plain == small
    assert " < deep8 < deep7 < deep6 < deep5 < deep4 < deep3 < deep2 < deep1\n" in plain
    assert "main is not found" not in plain
    assert ", 1 values of registers in main\n" in plain
    assert "assembly" in plain


def test_a_debugger_sees_the_same_stack_and_variables(programs: tuple[Path, Path]) -> None:
    commands = "-ex=set debuginfod enabled off", "-ex=break leaf", "-ex=run", "-ex=ignore 1 14"
    commands += "-ex=continue", "-ex=backtrace", *"\n".join(ARRAYS).split("\n")
    seen: list[str] = []
    for program in programs:
        command = [need("gdb"), "-nx", "-batch", *commands, "--args", program, "debug"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        text = done.stdout.partition("#0 ")[2]
        seen.append(re.sub(r"0x[0-9a-f]+", "0x", text))
    assert seen[0] == seen[1]
    assert seen[0].count("$") == 16


def test_its_debug_information_is_valid(programs: tuple[Path, Path]) -> None:
    for program in programs:
        command = [need("llvm-dwarfdump-22"), "--verify", program]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:]
