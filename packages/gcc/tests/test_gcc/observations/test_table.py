# SPDX-License-Identifier: MIT
"""The table of observations: what its rows say is what a session offers and computes."""

import pytest

from compiler_gym.session import BoxSpec
from compiler_gym_gcc.actions.options import GccFlagOption, GccOOption, Option
from compiler_gym_gcc.observations import LEVELS, TABLE, observation_spaces

OPTIONS: list[Option] = [GccOOption(("0", "1", "2")), GccFlagOption("-fgcse")]
ENDINGS = ("_o0", "_o1", "_o2", "_o3", "_os")


def test_the_names_are_those_that_clients_know() -> None:
    names = [spec.name for spec in observation_spaces(OPTIONS)]
    assert names[:16] == [
        *("source", "rtl", "asm", "asm_size", "asm_hash", "instruction_counts"),
        *("obj", "obj_size", "obj_hash", "text_size", "choices", "command_line", "action_mask"),
        *("runtime", "runtime_seconds", "runtime_instructions"),
    ]
    costs = ("asm_size", "obj_size", "text_size", "runtime_seconds", "runtime_instructions")
    assert names[16:] == [f"{cost}{ending}" for cost in costs for ending in ENDINGS]
    assert tuple(level.name for level in LEVELS) == ENDINGS


def test_option_dependent_observations_have_the_width_of_the_options() -> None:
    found = {spec.name: spec for spec in observation_spaces(OPTIONS)}
    assert found["choices"].space == BoxSpec(-1, 2, (2,), "int64")
    assert found["choices"].default == [-1, -1]
    assert found["action_mask"].space == BoxSpec(0, 1, (4,), "int8")  # none, and three levels


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_baseline_is_computed_as_its_cost_is_at_another_level(ending: str) -> None:
    for cost in TABLE.costs:
        row, baseline = TABLE[cost.observation], TABLE[f"{cost.name}{ending}"]
        assert baseline.compute == row.compute
        assert baseline.space == row.space
        assert baseline.deterministic == row.deterministic
        assert baseline.level == f"-O{ending[2:]}"
        assert baseline.description.endswith(f", compiled with -O{ending[2:]} alone.")


def test_only_what_a_run_measures_may_differ_from_time_to_time() -> None:
    unsure = {row.name for row in TABLE.observations if not row.deterministic}
    assert unsure == {row.name for row in TABLE.observations if row.name.startswith("runtime")}


def test_the_choices_are_the_same_on_every_machine() -> None:
    same = {row.name for row in TABLE.observations if not row.platform_dependent}
    assert same == {"choices", "command_line", "action_mask"}
