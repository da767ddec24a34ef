# SPDX-License-Identifier: MIT
"""Programs of modules are the modules as they are, and a tool that fails is quoted."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.datasets import Benchmark, RunCase, RunSpec
from compiler_gym.envs.llvm.validation.build import (
    build_program,
    build_reference,
    find_opt,
    link_program,
    other_machine,
    run_tool,
)
from compiler_gym.errors import BenchmarkInitError, EnvironmentNotSupported

Tool = Callable[..., bytes]
pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")
MODULE = (
    b'target triple = "x86_64-pc-linux-gnu"\n'
    b"define internal i32 @unused() noinline {\n  ret i32 1\n}\n"
    b"define i32 @main() {\n  %x = call i32 @unused()\n  ret i32 5\n}\n"
)


def status_of(program: Path) -> int:
    return subprocess.run([program], check=False, timeout=120).returncode


def test_a_program_is_there_while_it_is_lent() -> None:
    with build_program(MODULE) as program:
        assert status_of(program) == 5
    assert not program.parent.exists()


def test_no_pass_changes_the_module_on_its_way(tmp_path: Path, tool: Tool) -> None:
    program = link_program(MODULE, tmp_path / "program")
    listing = tool("llvm-objdump-22", "-d", "--disassemble-symbols=main", program).decode()
    assert re.search(r"call.*<unused>", listing), "an optimiser would have dropped the call"
    optimised = link_program(MODULE, tmp_path / "fast", flags=("-O2",))
    assert "<unused>" not in tool("llvm-objdump-22", "-d", optimised).decode()


def test_libraries_are_linked_and_a_missing_one_is_quoted(tmp_path: Path) -> None:
    body = b"%r = call double @cbrt(double 8.0)\n  %i = fptosi double %r to i32\n  ret i32 %i"
    module = MODULE.replace(b"ret i32 5", body) + b"declare double @cbrt(double)\n"
    assert status_of(link_program(module, tmp_path / "program", link=("-lm",))) == 2
    with pytest.raises(BenchmarkInitError, match=r"clang-22 failed:\n(.|\n)*nowhere"):
        link_program(MODULE, tmp_path / "other", link=("-lnowhere",))
    with pytest.raises(BenchmarkInitError, match=r"clang-22 failed:\n(.|\n)*error"):
        link_program(b"no module", tmp_path / "other")


def test_the_reference_is_built_once_and_is_the_unchanged_program() -> None:
    benchmark = Benchmark("benchmark://user-v0/reference", MODULE)
    spec = RunSpec((RunCase(),))
    reference = build_reference(benchmark, spec)
    assert reference.run(RunCase()).exit_status == 5
    assert build_reference(benchmark, spec) is reference
    other = RunSpec((RunCase(),), reference=MODULE.replace(b"ret i32 5", b"ret i32 6"))
    assert build_reference(benchmark, other).run(RunCase()).exit_status == 6
    slower = RunSpec((RunCase(),), time_limit=3.0)
    assert build_reference(benchmark, slower) is not reference


def test_a_tool_gives_what_it_prints_or_why_it_did_not_run() -> None:
    assert run_tool([sys.executable, "-c", "print(7)"]).stdout == b"7\n"
    with pytest.raises(BenchmarkInitError, match=r"failed:\nno such thing"):
        run_tool(["sh", "-c", "echo no such thing >&2; exit 3"])
    with pytest.raises(BenchmarkInitError, match=r"sleep did not finish within 0\.1 s"):
        run_tool(["sleep", "60"], seconds=0.1)
    with pytest.raises(BenchmarkInitError, match="cannot run /nowhere/opt: No such file"):
        run_tool(["/nowhere/opt"])


def test_opt_is_found_or_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "22" in run_tool([find_opt(), "--version"]).stdout.decode()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EnvironmentNotSupported, match=r"opt-22 not found; .*apt install llvm-22"):
        find_opt()


@pytest.mark.parametrize(
    ("query", "machine"),
    [
        ("", ""),
        ("?goal=speed", ""),
        ("?target=x86_64", ""),
        ("?target=x86_64-linux-gnu", ""),
        ("?target=aarch64", "aarch64"),
        ("?target=riscv64-linux-gnu", "riscv64-linux-gnu"),
    ],
)
def test_a_program_of_another_machine_is_known_by_its_address(query: str, machine: str) -> None:
    assert other_machine(Benchmark(f"benchmark://demo/1{query}", MODULE)) == machine
