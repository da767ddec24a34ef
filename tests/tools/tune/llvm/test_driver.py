# SPDX-License-Identifier: MIT
"""A plan is described to the driver with options for any link, and rustc with its LLVM."""

from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.errors import PlanError, ProjectError
from compiler_gym.tools.tune import recipe_named
from compiler_gym.tools.tune.llvm.driver import describe_plan, find_rustc, our_llvm
from compiler_gym.tools.tune.llvm.flags import FRAMES, LEAVES, PACKED
from compiler_gym.tools.tune.llvm.plugin import (
    PLUGIN,
    PLUGIN_VARIABLE,
    explain_problem,
    find_plugin,
)
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld
SMALL = recipe_named("small").plan


def test_options_are_distinguished_by_their_reader() -> None:
    plan = replace(
        SMALL, flags=("-fno-plt",), linker=("-Wl,--gc-sections", "-Wl,-z,now,--icf=safe", PACKED),
        options={"enable-pre": "false"},
    )  # fmt: skip
    described = describe_plan(plan, is_packed=False)
    fat = ["-Oz", "-flto", "-ffat-lto-objects", "-fno-addrsig"]
    assert described[2] == [*fat, "-fno-plt"]
    assert described[3][:2] == ["-z", "nostart-stop-gc"]
    assert described[3][-3:] == ["-z", "now", "--icf=safe"]
    assert described[4][-1:] == ["enable-pre=false"]
    assert described[6:] == [[], [], ["pack"]]
    assert all(word.startswith("/") for word in (described[0][0], *described[1]))
    unpacked = replace(plan, linker=())
    assert describe_plan(unpacked, is_packed=False)[-1] == []
    assert describe_plan(unpacked, is_packed=True)[-1] == ["pack"]


@pytest.mark.parametrize(("flags", "rules"), [((FRAMES, LEAVES), ()), ((), ("-a", "-b")), ((), ())])
@pytest.mark.skipif(bool(explain_problem()), reason="needs the size plug-in")
def test_the_plug_in_gets_settings_and_adds_frame_pointers(
    monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], rules: tuple[str, ...]
) -> None:
    plan = replace(SMALL, flags=(*flags, "-fno-plt"), plugin=(PLUGIN, *rules))
    described = describe_plan(plan, is_packed=False)
    settings = ["frames=non-leaf"] if flags else ["rules=-a+b"] if rules else []
    assert described[6:8] == [[str(find_plugin()), *settings], []]
    assert described[2][-2:] == ["-fno-addrsig", "-fno-plt"]
    monkeypatch.setenv(PLUGIN_VARIABLE, "/none.so")
    loading, (problem,) = describe_plan(plan, is_packed=False)[6:8]
    assert loading == []
    assert problem.startswith("/none.so does not exist")


def test_a_plan_of_more_than_one_link_is_refused() -> None:
    for plan in (replace(SMALL, method="program"), replace(SMALL, profile="x.profdata")):
        with pytest.raises(PlanError, match="cannot link in one step: use `--plan`"):
            describe_plan(plan, is_packed=False)


@pytest.mark.parametrize("llvm", [our_llvm(), "18.1.7"])
def test_the_version_of_llvm_decides(tmp_path: Path, llvm: str) -> None:
    command = tmp_path / "rustc"
    command.write_text(f"#!/bin/sh\necho 'release: 1.80.0'\necho 'LLVM version: {llvm}'\n")
    command.chmod(0o755)
    found = find_rustc(str(command))
    assert (found.release, found.llvm, found.is_ours) == ("1.80.0", llvm, llvm == our_llvm())


def test_a_missing_rustc_is_an_error() -> None:
    with pytest.raises(ProjectError, match="no-such-rustc"):
        find_rustc("no-such-rustc")
