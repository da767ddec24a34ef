# SPDX-License-Identifier: MIT
"""A plan in a project's own build, command by command."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from compiler_gym import cache_path
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import BinaryPlan, BuildPlan, SourceFile, apply_plan, driver_facts
from tests.tools.tune.builds.projects import write_project
from tests.tools.tune.simple_tuner import SimpleTuner

PLAN = BuildPlan("simple 1", "size", "1.0", (BinaryPlan("program", "simple", flags=("-Os",)),))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path / "cache"))


def remember(tree: Path, words: list[str], made: str) -> None:
    """Note what an object was made of, as the compiled driver does."""
    digest = hashlib.sha256((tree / made).read_bytes()).hexdigest()
    note = cache_path("tuning-objects") / digest[:2] / digest[2:]
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_bytes(b"".join(os.fsencode(word) + b"\0" for word in (str(tree), made, *words)))


def build(tree: Path, plan: BuildPlan, tuner: SimpleTuner) -> list[str]:
    """Build the project, command by command; return what was said."""
    said: list[str] = []
    for text in ("-c main.c", "-c twice.c", "main.o twice.o -o program"):
        words = ["cc", *text.split()]
        subprocess.run(words, cwd=tree, check=True)
        if "-c" in words:
            remember(tree, words, Path(words[-1]).stem + ".o")
        apply_plan(plan, tuner, words, tree, say=said.append)
    return said


def test_a_plan_is_applied(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    tuner = SimpleTuner("-Os")
    assert build(tree, PLAN, tuner) == []
    assert tuner.built == [("-Os",)]
    made = subprocess.run([tree / "program"], capture_output=True, check=True)
    assert made.stdout == b"2\n"


def test_sources_that_changed_are_reported(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    sources = (SourceFile("main.c", "0" * 64),)
    plan = BuildPlan("simple 2", "size", "1.0", (BinaryPlan("program", "simple", sources=sources),))
    changed, version = build(tree, plan, SimpleTuner())
    assert "2 of 2 sources changed since the plan was made (main.c, twice.c)" in changed
    assert version == "the plan was made with simple 2, but this is simple 1"


def test_other_binaries_stay_as_they_are(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    tuner = SimpleTuner()
    other = BuildPlan("simple 1", "size", "1.0", (BinaryPlan("other", "simple"),))
    assert build(tree, other, tuner) == []
    assert tuner.built == []


def test_a_failure_leaves_the_compilers_own(tmp_path: Path) -> None:
    class Failing(SimpleTuner):
        def build(self, *args: object, **options: object) -> Path:
            raise ProjectError("no room")

    tree = write_project(tmp_path / "tree")
    (said,) = build(tree, PLAN, Failing())
    assert said == "plan not applied to program: no room"
    subprocess.run([tree / "program"], check=True)


def test_a_larger_result_is_not_used(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    larger = BuildPlan(
        "simple 1", "size", "1.0",
        (BinaryPlan("program", "simple", flags=("-O0", "-fsanitize=address")),),
    )  # fmt: skip
    (said,) = build(tree, larger, SimpleTuner())
    assert "would make the file larger" in said


def test_an_object_of_unknown_origin_is_reported(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    subprocess.run(["cc", "-c", "main.c", "-DNEVER_COMPILED_HERE", "-O2"], cwd=tree, check=True)
    subprocess.run(["cc", "main.o", "twice.c", "-o", "program"], cwd=tree, check=True)
    said: list[str] = []
    words = ["cc", "main.o", "-o", "program"]
    apply_plan(PLAN, SimpleTuner(), words, tree, say=said.append)
    assert said == ["plan not applied to program: no object was compiled with it: rebuild all"]


def test_a_note_that_is_damaged_or_of_another_file_is_not_an_origin(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    subprocess.run(["cc", "-c", "main.c", "twice.c"], cwd=tree, check=True)
    subprocess.run(["cc", "main.o", "twice.o", "-o", "program"], cwd=tree, check=True)
    remember(tree, [], "main.o")
    remember(tree, ["cc", "-c", "main.c"], "twice.o")
    said: list[str] = []
    words = ["cc", "main.o", "twice.o", "-o", "program"]
    apply_plan(PLAN, SimpleTuner(), words, tree, say=said.append)
    assert said == ["plan not applied to program: no object was compiled with it: rebuild all"]


def test_the_driver_receives_lists_of_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "7")  # of this build, not of the next
    assert driver_facts(PLAN, (["cc"], ["c++", "-x"])).split(b"\0") == [
        *(b"cc", b"", b"c++", b"-x", b"", b"program", b"", b"SOURCE_DATE_EPOCH=315532800", b""),
        *(os.fsencode(tmp_path / "cache/tuning-objects"), b"", b""),
    ]
