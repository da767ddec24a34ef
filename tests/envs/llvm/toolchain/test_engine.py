# SPDX-License-Identifier: MIT
"""Work on whole modules in a process of its own, compared with LLVM's own tools."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.envs.llvm.toolchain.engine import run_engine
from compiler_gym.errors import BenchmarkInitError

Tool = Callable[..., bytes]
MAIN = (
    b"declare i32 @part(i32)\ndefine i32 @main() {\n  %x = call i32 @part(i32 2)\n  ret i32 %x\n}\n"
)
PART = b"define i32 @part(i32 %n) {\n  ret i32 %n\n}\n"


def defined(printed: bytes) -> list[str]:
    return re.findall(r"^define .*@(\w+)\(", printed.decode(), re.M)


def test_modules_are_linked_as_llvm_link_does(tool: Tool, tmp_path: Path) -> None:
    for name, text in (("main", MAIN), ("part", PART)):
        (tmp_path / f"{name}.ll").write_bytes(text)
    (linked,) = run_engine("link", [MAIN, PART])
    theirs = tool("llvm-link-22", "-S", tmp_path / "main.ll", tmp_path / "part.ll")
    ours = tool("llvm-dis-22", "-o", "-", input=linked)
    assert sorted(defined(ours)) == sorted(defined(theirs)) == ["main", "part"]
    assert b"declare" not in ours


def test_a_module_is_split_into_its_functions_and_its_globals(tool: Tool) -> None:
    (whole,) = run_engine("link", [MAIN, PART])
    parts = [defined(tool("llvm-dis-22", "-o", "-", input=p)) for p in run_engine("split", [whole])]
    assert sorted(parts) == [[], ["main"], ["part"]]


def test_symbols_are_defined_or_needed() -> None:
    assert run_engine("symbols", [MAIN, PART]) == [b"main\0part", b"part\0"]


def test_modules_are_stripped_one_by_one(tool: Tool) -> None:
    text = b"define ptr @f(ptr %p) {\n  %q = bitcast ptr %p to ptr\n  ret ptr %q\n}\n"
    stripped, same = run_engine("strip", [text, PART])
    assert b"bitcast" not in tool("llvm-dis-22", "-o", "-", input=stripped)
    assert defined(tool("llvm-dis-22", "-o", "-", input=same)) == ["part"]


def test_a_refusal_by_the_engine_becomes_its_error() -> None:
    with pytest.raises(BenchmarkInitError, match="expected top-level entity"):
        run_engine("link", [b"no module"])
    with pytest.raises(BenchmarkInitError, match="symbol multiply defined"):
        run_engine("link", [PART, PART])


def test_an_engine_that_does_not_answer_is_not_waited_for() -> None:
    with pytest.raises(BenchmarkInitError, match=r"cannot link: no answer within 0\.001 s"):
        run_engine("link", [PART], timeout=0.001)


def test_a_dead_engine_is_reported_with_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compiler_gym.envs.llvm.toolchain.engine.sys.executable", "/bin/false")
    with pytest.raises(BenchmarkInitError, match="cannot split: the process exited with status 1"):
        run_engine("split", [PART])
