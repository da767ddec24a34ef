# SPDX-License-Identifier: MIT
"""A plan is what was written, and what is none is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.errors import PlanError
from compiler_gym.tools.tune import (
    BinaryPlan,
    BuildPlan,
    Request,
    SourceFile,
    TuningJob,
    read_plan,
    write_plan,
    write_report,
)
from tests.tools.tune.builds.projects import write_project
from tests.tools.tune.simple_tuner import SimpleTuner

TEXTS = st.text("abé<>=,-.'\"\\ 1/#[", max_size=6)
"""Text that a terminal may show: what is not printable is refused."""
BINARIES = st.builds(
    BinaryPlan,
    name=TEXTS,
    method=TEXTS,
    passes=TEXTS,
    options=st.dictionaries(TEXTS, TEXTS, max_size=3),
    flags=st.lists(TEXTS, max_size=2).map(tuple),
    linker=st.lists(TEXTS, max_size=2).map(tuple),
    scope=TEXTS,
    sizes=st.dictionaries(TEXTS, st.dictionaries(TEXTS, st.integers(0, 2**40), max_size=2)),
    sources=st.lists(st.builds(SourceFile, TEXTS, TEXTS), max_size=2).map(tuple),
)


@given(binaries=st.lists(BINARIES, max_size=2).map(tuple))
def test_a_plan_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, binaries: tuple[BinaryPlan, ...]
) -> None:
    plan = BuildPlan("simple 1", "size", "1.0", binaries)
    path = tmp_path_factory.mktemp("plan") / "tuned.toml"
    write_plan(path, plan)
    assert read_plan(path) == plan
    assert path.read_text().startswith("version = 1\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("version = 2", "version 2"),
        ("", "version None"),
        ("version = ", "not valid TOML"),
        ("version = 1", "required field"),
        ('version = 1\ncompiler = 3\ngoal = ""\nmade_by = ""\nbinaries = []', "compiler"),
    ],
)
def test_an_invalid_plan_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "tuned.toml").write_text(text)
    with pytest.raises(PlanError, match=said):
        read_plan(tmp_path / "tuned.toml")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="cannot read"):
        read_plan(tmp_path / "missing.toml")
    with pytest.raises(PlanError, match="cannot write"):
        write_plan(Path("/proc/tuned.toml"), BuildPlan("", "", "", ()))


def test_decisions_are_taken_away_by_name() -> None:
    plan = BinaryPlan(
        "p", "program", "sroa", {"a": "1", "b": "2"}, ("-O3",), ("--gc",), scope="internalize<>"
    )
    names = ("passes", "option a=1", "option b=2", "flag -O3", "linker --gc")
    assert plan.decisions() == names
    assert plan.only(names) == plan
    less = plan.only(["option b=2"])
    assert less.decisions() == ("option b=2",)
    assert less.scope == plan.scope


def test_a_binary_is_found_by_its_place_or_its_name() -> None:
    plan = BuildPlan(
        "", "", "", (BinaryPlan("a/x", "m"), BinaryPlan("b/x", "m"), BinaryPlan("y", "m"))
    )
    assert plan.binary("b/x") is plan.binaries[1]
    assert plan.binary("elsewhere/y") is plan.binaries[2]
    assert plan.binary("z") is None


def test_without_one_decision_are_all_the_others() -> None:
    plan = BinaryPlan("a", "m", "sroa", {"x": "1", "y": "2"}, ("-O2",), ("-s",), profile="p")
    for decision in plan.decisions():
        expected = tuple(other for other in plan.decisions() if other != decision)
        assert plan.without(decision).decisions() == expected


def test_decisions_and_passes_are_reported(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    request = Request(("make",), project, tmp_path / "out", seconds=100.0)
    tuner = SimpleTuner("-O1", passes="-fno-inline")
    summary = write_report(
        request,
        TuningJob(request, tuner).run(),
        compiler="simple 1",
        others=(),
        is_interrupted=False,
    )
    (binary,) = summary.binaries
    assert {d.name: d.meaning for d in binary.decisions} == {
        "passes": "Says passes.", "flag -O1": "Says flag -O1."
    }  # fmt: skip
    assert {d.link for d in binary.decisions} == {"https://example.org/"}
    assert binary.steps == {"-fno-inline": "Says pass -fno-inline."}
