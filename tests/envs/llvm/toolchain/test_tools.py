# SPDX-License-Identifier: MIT
"""The version of LLVM stands in one file, which is that of the engine; tools are found by it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.envs.llvm.toolchain.tools import (
    MAJOR,
    find_tool,
    name_package,
    require_tool,
    tool_name,
)
from compiler_gym.errors import EnvironmentNotSupported, ProjectError

SOURCES = Path(__file__).parents[4] / "src" / "compiler_gym"
OWNER = SOURCES / "envs" / "llvm" / "toolchain" / "tools.py"
VERSIONED = re.compile(rf"[a-z+]-{MAJOR}(?!\d)|LLVM {MAJOR}(?!\d)|^{MAJOR}$|version {MAJOR}(?!\d)")
"""How a version is written: behind a tool or a package, behind LLVM, or alone as a text."""


def version_facts(source: str) -> Iterator[str]:
    """Yield what code and docstrings say of LLVM's version."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from VERSIONED.findall(node.value)


def test_no_other_file_says_which_llvm_it_is() -> None:
    found = {
        str(path.relative_to(SOURCES)): facts
        for path in sorted(SOURCES.rglob("*.py"))
        if path != OWNER and (facts := list(version_facts(path.read_text())))
    }
    assert found == {}, "a version belongs in envs/llvm/toolchain/tools.py"


@pytest.mark.parametrize(
    "source", ["x = 'opt-22'", "x = 'apt install lld-22'", '"""Of LLVM 22."""', "x = '22'"]
)
def test_a_version_elsewhere_is_seen(source: str) -> None:
    assert list(version_facts(source.replace("22", str(MAJOR))))


@pytest.mark.parametrize("source", ["x = 2**22", "x = '22 programs'", "x = 'sha-224'"])
def test_a_number_is_not_a_version(source: str) -> None:
    assert not list(version_facts(source.replace("22", str(MAJOR))))


def test_the_tools_are_those_of_the_engine() -> None:
    assert _llvm.LLVM_VERSION.partition(".")[0] == str(MAJOR)


def test_a_tool_of_this_version_is_found_before_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_tool("strip", any_version=True) is None
    for name in ("strip", tool_name("strip")):
        (tmp_path / name).touch(mode=0o755)
        assert find_tool("strip", any_version=True) == str(tmp_path / name)
    assert find_tool("strip") == str(tmp_path / tool_name("strip"))


def test_a_missing_tool_says_what_it_is_for_and_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    message = (
        rf"opt-{MAJOR} not found; it is needed to optimise; install it.*apt install llvm-{MAJOR}"
    )
    with pytest.raises(EnvironmentNotSupported, match=message):
        require_tool("opt", "to optimise")
    with pytest.raises(ProjectError, match=f"apt install lld-{MAJOR}"):
        require_tool("ld.lld", "to link", error=ProjectError)
    assert name_package("clang_rt") == f"libclang-rt-{MAJOR}-dev"
