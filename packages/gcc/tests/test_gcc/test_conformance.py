# SPDX-License-Identifier: MIT
"""GCC passes the public suites, like any compiler."""

from typing import ClassVar

from compiler_gym.datasets import Benchmark
from compiler_gym.service import SessionSource
from compiler_gym.testing import EnvironmentConformance, SessionConformance
from compiler_gym_gcc.observations import TABLE
from compiler_gym_gcc.session import GccSession

SOURCE = SessionSource("compiler_gym_gcc.session:GccSession", (("gcc_bin", "gcc-12"),))
PROGRAM = b"#include <stdlib.h>\nint main(int n, char **v) { return n > 1 ? atoi(v[1]) * n : 3; }\n"
MADE_BY_RUNNING = tuple(row.name for row in TABLE.observations if row.compute.startswith("runtime"))


def compiled() -> tuple[str, ...]:
    """Return the observations for which no program is run."""
    spaces = GccSession.prepare({"gcc_bin": "gcc-12"}).observation_spaces
    return tuple(s.name for s in spaces if not s.name.startswith(MADE_BY_RUNNING))


class TestGcc(EnvironmentConformance):
    env_id = "gcc-v0"
    kwargs: ClassVar = {
        "gcc_bin": "gcc-12",
        "benchmark": "benchmark://cbench-v1/crc32",
        "observation_space": "choices",
        "reward_space": "obj_size_os",
    }
    action_spaces = ("Categorical", "OptionThenValue")
    observations = ("choices", "command_line", "action_mask", "obj_hash", "instruction_counts")
    steps = 4


class TestGccSession(SessionConformance):
    source = SOURCE
    programs = (
        Benchmark("benchmark://own-v0/1", PROGRAM),
        Benchmark("benchmark://own-v0/2", b"int two(void) { return 2; }\n"),
    )
    parameters: ClassVar = {"timeout": "20", "limits.runtime_observation_count": "2"}
    bad_programs = (b"int main(", b"#include <no/such/header.h>\n", b"BC\xc0\xde\0\0\0\0")
    action_spaces = ("Categorical", "OptionThenValue")
    observations = compiled()
    steps = 4


class TestWholeConfigurations(SessionConformance):
    """Random configurations of 500 options seldom compile, so nothing compiled is looked at."""

    source = SOURCE
    programs = TestGccSession.programs
    action_spaces = ("Choices",)
    observations = ("choices", "command_line", "source")
    steps = 4
