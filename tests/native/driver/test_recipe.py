# SPDX-License-Identifier: MIT
"""The driver asks the library once about a recipe or a policy, and again when something changes."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.envs.llvm.toolchain import clang_command
from compiler_gym.tools.tune.commands.cc import describe_recipe
from compiler_gym.tools.tune.llvm.plugin import find_linker
from tests.native.driver.trees import DRIVER, POLICY, RECIPE, SMALL, Tree
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld
LIBRARY = '#!/bin/sh\ncat description\necho "$*" >>asked\n'


class Driver(Tree):
    """A driver next to a library that only prints a description."""

    def asked(self, line: str = "-c x.c", *, status: int = 0, **variables: str) -> list[str]:
        """Return what a call asks the library."""
        (self.path / "asked").unlink(missing_ok=True)
        cache = {"COMPILER_GYM_CACHE": "cache", **variables}
        self.run(f"bin/compiler-gym-cc --policy small.toml {line}", status=status, **cache)
        asked = self.path / "asked"
        return asked.read_text().splitlines() if asked.exists() else []

    @property
    def kept(self) -> Path:
        (path,) = (self.path / "cache/link-recipes").iterdir()
        return path


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    (tmp_path / "bin").mkdir()
    for name in ("cc", "cxx", "ld"):
        shutil.copy(DRIVER.removesuffix("cc") + name, tmp_path / "bin")
    tree = Driver(tmp_path)
    tree.write({"x.c": "int main(void) { return 7; }\n", "bin/compiler-gym": LIBRARY})
    (tmp_path / "bin/compiler-gym").chmod(0o755)
    tree.by(replace(SMALL, name="small"))
    describe(tree)
    return tree


def describe(tree: Driver) -> None:
    policy = tree.path / "small.toml"
    (tree.path / "description").write_bytes(describe_recipe("policy", str(policy)))


def test_the_library_runs_once(driver: Driver) -> None:
    question = f"cc --describe-recipe policy {driver.path}/small.toml"
    assert driver.asked() == [question]
    for line in ("-c x.c", "x.o -o x", "x.c", "--version", "-E x.c"):
        assert driver.asked(line) == []
    assert driver.asked("-c x.c", COMPILER_GYM_SIZE_PLUGIN="x.so") == [question]
    assert driver.asked("-c x.c", COMPILER_GYM_CLANG="clang-22") == [question]
    assert driver.asked("-c x.c", PATH=f"/none:{os.environ['PATH']}") == [question]


def test_a_damaged_file_of_the_cache_is_made_anew(driver: Driver) -> None:
    driver.asked()
    whole = driver.kept.read_bytes()
    for damaged in (b"", b"\0", whole[:40], whole[:-1], whole + b"x\0", whole + b"\0"):
        driver.kept.write_bytes(damaged)
        assert len(driver.asked()) == 1, damaged
        assert driver.kept.read_bytes() == whole
    if os.geteuid() == 0:  # only root may give files away
        os.chown(driver.kept, 12345, 12345)
        assert len(driver.asked()) == 1
        assert driver.asked() == []


def test_a_cache_that_cannot_be_written_only_costs_time(driver: Driver) -> None:
    driver.write({"file": ""})
    for cache in ("/proc/none", "file", "file/more"):
        for line in ("-c x.c", "x.o"):
            assert len(driver.asked(line, COMPILER_GYM_CACHE=cache)) == (1 if "c" in line else 2)
        assert driver.run("./a.out", status=7) == ("", "")


def test_a_changed_recipe_is_described_again(driver: Driver) -> None:
    driver.asked()
    (driver.path / "small.toml").touch()
    assert driver.run("bin/compiler-gym-cc --policy small.toml -c x.c", status=2)[1] == (
        f"compiler-gym cc: {driver.path}/bin/compiler-gym has another version than "
        f"{driver.path}/bin/compiler-gym-cc: install both together\n"
    )  # because the library says the same as before
    describe(driver)
    assert len(driver.asked()) == 1
    assert driver.asked() == []


def test_a_refusal_by_the_library_is_explained_once(driver: Driver) -> None:
    driver.write({"bin/compiler-gym": "#!/bin/sh\necho error: no such policy >&2\nexit 3\n"})
    for line in ("-c x.c", "x.c"):
        words = f"bin/compiler-gym-cc --policy small.toml {line}"
        assert driver.run(words, status=3) == ("", "error: no such policy\n")


@pytest.mark.parametrize(
    ("how", "variables", "said"),
    [
        ("--policy nosuch", {}, "no policy 'nosuch'; there is size"),
        ("--policy siz", {}, "no policy 'siz': did you mean size?"),
        ("--recipe tiny", {}, "no recipe 'tiny'; there are small, small-packed"),
        ("--policy none.toml", {}, "cannot read none.toml"),
        ("--policy", {}, "--policy needs a name, as in `compiler-gym cc --policy size`"),
        (POLICY, {"COMPILER_GYM_CLANG": "/none/clang"}, "/none/clang"),
        (RECIPE, {"PATH": "/none"}, "clang"),
    ],
)
def test_the_real_library_explains_what_is_missing(
    tmp_path: Path, how: str, variables: dict[str, str], said: str
) -> None:
    tree = Tree(tmp_path)
    tree.write({"x.c": "int main(void) { return 7; }\n"})
    errors = tree.cc("" if how == "--policy" else "x.c", how, status=2, **variables)
    assert said in errors
    assert errors.count("error") == 1, errors


def test_without_lld_links_are_native_and_say_why(driver: Driver) -> None:
    description = driver.path / "description"
    linker = find_linker(clang_command()[0])
    described = description.read_bytes()
    description.write_bytes(described.replace(f"\0\0{linker}\0\0".encode(), b"\0\0\0"))
    call = "bin/compiler-gym-cc --policy small.toml"
    for line in (
        f"{call} -c x.c -o conftest.o",
        f"{call} conftest.o -o conftest",
        f"{call} -c x.c",
    ):
        assert driver.run(line, COMPILER_GYM_CACHE="cache") == ("", "")
    said = driver.run(f"{call} x.o -o run", COMPILER_GYM_CACHE="cache")[1]
    assert said == (
        "compiler-gym cc: run: linked with the usual linker, without --policy small.toml, which "
        "needs lld\n"
    )
    for program in ("./run", "./conftest"):
        driver.run(program, status=7)
