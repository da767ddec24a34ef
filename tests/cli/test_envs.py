# SPDX-License-Identifier: MIT
"""``compiler-gym envs`` lists what is registered."""

from compiler_gym.registration import COMPILER_GYM_ENVS
from tests.command_line import Run


def test_every_registered_environment_is_listed(cli: Run) -> None:
    listed = cli("envs", "--json").json["environments"]
    assert [env["id"] for env in listed] == list(COMPILER_GYM_ENVS)
    rewards = {env["id"]: env["reward_space"] for env in listed}
    assert rewards["llvm-v0"] is None
    assert rewards["llvm-ic-v0"] == "IrInstructionCountOz"


def test_people_see_a_table_and_how_to_go_on(cli: Run) -> None:
    shown = cli("envs").output
    for words in ("Environment", "llvm-ic-v0", "set your own", "compiler-gym describe llvm-v0"):
        assert words in shown
