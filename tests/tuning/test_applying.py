# SPDX-License-Identifier: MIT
"""A plan in a project's own build, command by command."""

import subprocess
from pathlib import Path

from compiler_gym.errors import ProjectError
from compiler_gym.tuning import BinaryPlan, Plan, SourceFile, apply_plan
from tests.builds.projects import write_project
from tests.tuning.simple_tuner import SimpleTuner

PLAN = Plan("simple 1", "size", "1.0", (BinaryPlan("program", "simple", flags=("-Os",)),))


def build(tree: Path, plan: Plan, tuner: SimpleTuner) -> list[str]:
    """Build the project, command by command; return what was said."""
    said: list[str] = []
    for text in ("-c main.c", "-c twice.c", "main.o twice.o -o program"):
        words = ["cc", *text.split()]
        subprocess.run(words, cwd=tree, check=True)
        apply_plan(plan, tuner, words, tree, say=said.append)
    return said


def test_what_is_planned_is_made_so(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    tuner = SimpleTuner("-Os")
    assert build(tree, PLAN, tuner) == []
    assert tuner.built == [("-Os",)]
    made = subprocess.run([tree / "program"], capture_output=True, check=True)
    assert made.stdout == b"2\n"


def test_sources_that_changed_are_told(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    sources = (SourceFile("main.c", "0" * 64),)
    plan = Plan("simple 2", "size", "1.0", (BinaryPlan("program", "simple", sources=sources),))
    changed, version = build(tree, plan, SimpleTuner())
    assert "2 of 2 sources changed since the plan was made (main.c, twice.c)" in changed
    assert version == "the plan was made with simple 2, this is simple 1"


def test_other_binaries_stay_as_they_are(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    tuner = SimpleTuner()
    other = Plan("simple 1", "size", "1.0", (BinaryPlan("other", "simple"),))
    assert build(tree, other, tuner) == []
    assert tuner.built == []


def test_a_failure_leaves_the_compilers_own(tmp_path: Path) -> None:
    class Failing(SimpleTuner):
        def build(self, *args: object, **options: object) -> Path:
            raise ProjectError("no room")

    tree = write_project(tmp_path / "tree")
    (said,) = build(tree, PLAN, Failing())
    assert said == "program stays as the compiler made it: no room"
    subprocess.run([tree / "program"], check=True)


def test_what_grew_is_not_used(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    larger = Plan(
        "simple 1", "size", "1.0",
        (BinaryPlan("program", "simple", flags=("-O0", "-fsanitize=address")),),
    )  # fmt: skip
    (said,) = build(tree, larger, SimpleTuner())
    assert "makes it larger now" in said


def test_an_object_of_unknown_origin_is_told(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    subprocess.run(["cc", "-c", "main.c", "-DNEVER_COMPILED_HERE", "-O2"], cwd=tree, check=True)
    subprocess.run(["cc", "main.o", "twice.c", "-o", "program"], cwd=tree, check=True)
    said: list[str] = []
    words = ["cc", "main.o", "-o", "program"]
    apply_plan(PLAN, SimpleTuner(), words, tree, say=said.append)
    assert said == ["program: no object of it was compiled here: build from the start"]
