# SPDX-License-Identifier: MIT
"""Which runs a shard holds follows from what may not change."""

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.options import CollectOptions


@pytest.mark.parametrize(
    ("steps", "length", "shard_steps"), [(1, 1, None), (1005, 100, 250), (10**6, 37, None)]
)
def test_every_run_is_in_one_shard_and_no_step_is_lost(
    steps: int, length: int, shard_steps: int | None
) -> None:
    options = CollectOptions(steps=steps, length=length, shard_steps=shard_steps)
    runs = [run for shard in range(options.shards) for run in options.runs_in(shard)]
    assert runs == list(range(options.runs))
    assert sum(map(options.count_steps, runs)) == steps


def test_shards_do_not_depend_on_the_number_of_processes() -> None:
    one, many = (CollectOptions(steps=10**6, jobs=jobs) for jobs in (1, 64))
    assert one.shards == many.shards
    assert CollectOptions(steps=10**9).steps_of_a_shard == 100_000
    assert CollectOptions(steps=5).steps_of_a_shard == 1_000


def test_a_number_out_of_range_is_refused() -> None:
    with pytest.raises(
        InvalidParameterError, match="steps must be a whole number of at least 1 \\(got 0"
    ):
        CollectOptions(steps=0)
