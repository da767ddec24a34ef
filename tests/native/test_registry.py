# SPDX-License-Identifier: MIT
"""The tables of passes against LLVM's own registry."""

import pytest

from compiler_gym import _llvm

from .actions import EXCLUDED, LEGACY, PASSES, SAFE_PIPELINES

REGISTRY = {(kind, name) for kind, name, _ in _llvm.registered_passes()}


def base(name: str) -> str:
    return name.split("<")[0]


def test_every_registered_pass_is_an_action_or_excluded_with_a_reason():
    included = {(row["kind"], base(row["name"])) for row in PASSES}
    excluded = {(row["kind"], row["name"]) for row in EXCLUDED}
    assert included | excluded == REGISTRY
    assert not included & excluded
    assert all(row["reason"] for row in EXCLUDED)


def test_the_registry_lists_the_passes_that_opt_lists():
    import subprocess

    from .conftest import need

    listing = subprocess.run(
        [need("opt-22"), "--print-passes"], check=True, capture_output=True, text=True
    ).stdout
    parametric = {f"{name}<{hint}>" for _, name, hint in _llvm.registered_passes() if hint}
    plain = {name for _, name, hint in _llvm.registered_passes() if not hint}
    listed = {line.strip() for line in listing.splitlines() if line.startswith("  ")}
    assert parametric | plain <= listed


def test_names_and_pipelines_are_unique():
    assert len({row["name"] for row in PASSES}) == len(PASSES)
    assert len({row["pipeline"] for row in PASSES}) == len(PASSES)


def test_safe_actions_come_first_and_each_part_is_sorted():
    tiers = [row["tier"].startswith("risky") for row in PASSES]
    assert tiers == sorted(tiers)
    for risky in (False, True):
        names = [row["name"] for row in PASSES if row["tier"].startswith("risky") == risky]
        assert names == sorted(names)


def test_there_are_between_100_and_125_safe_actions():
    assert 100 <= len(SAFE_PIPELINES) <= 125
    assert {row["tier"] for row in PASSES} == {"core", "noop", "risky", "risky varying"}
    assert all(row["description"] for row in PASSES)


@pytest.mark.parametrize(
    "pipeline", [row["pipeline"] for row in PASSES if not row["tier"].startswith("risky")]
)
def test_a_safe_pipeline_is_accepted(pipeline: str):
    _llvm.check_pipeline(pipeline)


def test_the_legacy_table_has_124_actions_and_a_reason_for_each_gap():
    assert len(LEGACY) == 124
    assert len({row["name"] for row in LEGACY}) == 124
    assert (LEGACY[0]["name"], LEGACY[49]["name"]) == (
        "-add-discriminators",
        "-infer-address-spaces",
    )
    assert (LEGACY[104]["name"], LEGACY[123]["name"]) == ("-prune-eh", "-mergereturn")
    assert all(row["pipeline"] or row["remark"] for row in LEGACY)


@pytest.mark.parametrize("pipeline", sorted({row["pipeline"] for row in LEGACY} - {""}))
def test_a_legacy_pipeline_is_accepted(pipeline: str):
    _llvm.check_pipeline(pipeline)
