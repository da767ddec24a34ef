# SPDX-License-Identifier: MIT
"""The table has the rows of the module, and none about pipelines on the whole module."""

from compiler_gym.envs.llvm.observations import TABLE
from compiler_gym.envs.llvm.tails.observations import OWN, TAILS_TABLE


def test_observations_of_the_module_stay_but_for_those_of_passes() -> None:
    own = {row.name for row in OWN}
    names = {row.name for row in TAILS_TABLE.observations}
    assert names - own == {row.name for row in TABLE.observations} - {"PassStatistics"}
    assert len(own) == 5
