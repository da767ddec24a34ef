# SPDX-License-Identifier: MIT
"""A linked program is judged by its package's own tests, which have to be able to fail."""

import pickle
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import compiler_gym
from compiler_gym.datasets import PackageTest
from compiler_gym.envs.llvm.programs.shapes import find_shapes
from compiler_gym.envs.llvm.toolchain.tools import tool_name
from compiler_gym.errors import ValidationUnavailableError
from compiler_gym_corpus.llvm.package_tests import PackageTests
from compiler_gym_corpus.packages import (
    LockedPackage,
    OwnTests,
    PackageLock,
    Root,
    gather_dataset,
    write_lock,
    write_result,
)
from compiler_gym_corpus.packages.trying import keep_tree
from test_corpus.packages.built import write_package

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("bwrap", "make", tool_name("clang")))),
    reason="needs bubblewrap, make and clang",
)
SOURCE = """
#include <stdio.h>
#include <math.h>
int main(int argc, char **argv) {{
  int sum = 0;
  for (int i = 1; i <= argc; i++) sum {sign}= i * 7;
  printf("%d %.0f\\n", sum, sqrt(argc * 4.0));
  return 0;
}}
"""
CHECK = "check:\n\ttest \"`./tool a b c`\" = '70 4'\n"


class OwnMachine:
    """Gives this machine's own system, where a supplier would unpack one."""

    def __init__(self, *_: Any) -> None:
        pass

    @contextmanager
    def root(self, package: LockedPackage) -> Generator[Root]:
        yield Root(Path("/"))


@dataclass
class Held:
    """An environment that holds a module."""

    contents: bytes
    module: bytes

    @property
    def benchmark(self) -> Any:
        return SimpleNamespace(contents=self.contents)

    @property
    def observation(self) -> Any:
        return {"Bitcode": SimpleNamespace(tobytes=lambda: self.module)}


def bitcode(text: str, *flags: str) -> bytes:
    words = [tool_name("clang"), "-x", "c", "-", *flags, "-c", "-emit-llvm", "-o", "-"]
    return subprocess.run(words, input=text.encode(), capture_output=True, check=True).stdout


RIGHT = SOURCE.format(sign="+")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with one built package, whose program is kept in its tree."""
    monkeypatch.setattr("compiler_gym_corpus.packages.kept_trees.UnpackedSupplier", OwnMachine)
    monkeypatch.setattr(PackageTests, "_checked", {})
    return built(tmp_path / "built", CHECK)


def built(folder: Path, check: str) -> Path:
    module = bitcode(RIGHT, "-O2", "-Xclang", "-disable-llvm-passes")
    result = write_package(
        folder, "tool", {"tool.c": module}, programs={"tool": (module, ["tool.c"])},
        test_command=("/usr/bin/make", "check"), test_folder=".",
    )  # fmt: skip
    tree = folder / "tree"
    tree.mkdir()
    (tree / "Makefile").write_text(check)
    (tree / "tool").write_bytes(b"the program of the package's own compiler")
    place = folder / "packages/tool_1.0"
    assert keep_tree(tree, place / "tree.tar.zst", 1 << 20)
    (program,) = result.programs
    kept = replace(program, tests=OwnTests.PASSED, tree="tree.tar.zst", libraries=("-lm",))
    write_result(place, replace(result, programs=(kept,)))
    write_lock(folder / "lock.toml", PackageLock((), (LockedPackage("tool", "1.0-1"),)))
    return folder


def checked(folder: Path) -> PackageTests:
    test = PackageTest(
        package="tool", version="1.0", file="tool", folder=".",
        command=("/usr/bin/make", "check"), libraries=("-lm",),
        tree="packages/tool_1.0/tree.tar.zst", language="c",
    )  # fmt: skip
    return PackageTests(folder, test)


def test_a_right_program_passes_and_a_planted_miscompile_is_caught(folder: Path) -> None:
    check = pickle.loads(pickle.dumps(checked(folder)))
    contents = bitcode(RIGHT, "-O0")
    assert list(check(Held(contents, bitcode(RIGHT, "-O2")))) == []
    (error,) = check(Held(contents, bitcode(SOURCE.format(sign="-"), "-O2")))
    assert error.type == "the tests of the package fail"
    assert error.data["package"] == "tool"
    assert "exited with status" in error.data["tests"]
    (error,) = check(Held(contents, bitcode("int helper(void) { return 1; }")))
    assert error.type == "the program does not link"
    assert "main" in str(error.data)


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ("check:\n\ttrue\n", "pass without tool: they do not run it"),
        ("check:\n\t./tool a b c | grep -q 71\n", "fail with the unoptimised program"),
        (
            "check:\n\t./tool a b c && cp /bin/echo new && mv new tool\n",
            "rebuild tool",
        ),
    ],
)  # fmt: skip
def test_tests_that_say_nothing_give_no_verdict(
    folder: Path, tmp_path: Path, rules: str, why: str
) -> None:
    check = checked(built(tmp_path / "other", rules))
    held = Held(bitcode(RIGHT), bitcode(RIGHT))
    for _ in range(2):
        with pytest.raises(ValidationUnavailableError, match=why):
            check(held)


def test_a_tree_that_is_gone_or_damaged_gives_no_verdict(folder: Path) -> None:
    held = Held(bitcode(RIGHT), bitcode(RIGHT))
    archive = folder / "packages/tool_1.0/tree.tar.zst"
    archive.write_bytes(archive.read_bytes()[:-20])
    with pytest.raises(ValidationUnavailableError, match="cannot unpack"):
        checked(folder)(held)
    archive.unlink()
    with pytest.raises(ValidationUnavailableError, match="the built tree of tool is missing"):
        checked(folder)(held)


def test_an_environment_validates_what_a_package_tests(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    gather_dataset("debian-v0", folder, site_data_base=site, shapes=find_shapes)
    monkeypatch.setenv("COMPILER_GYM_SITE_DATA", str(site))
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCount") as env:
        assert env.datasets["debian-v0"].validatable == "Partially"
        env.reset(benchmark="benchmark://debian-v0/tool/tool")
        env.step(env.action_space["sroa"])
        result = env.validate()
    verdicts = {rung.name: rung.verdict.value for rung in result.rungs}
    assert verdicts["callbacks"] == "ok", result
