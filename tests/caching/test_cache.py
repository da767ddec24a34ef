# SPDX-License-Identifier: MIT
"""What one process learns, others find in the file."""

import pickle
from pathlib import Path

from compiler_gym.caching import TranspositionCache
from compiler_gym.testing import FakeEnv


def test_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    for number in range(2):
        with TranspositionCache(path) as cache, FakeEnv(cache=cache) as env:
            env.reset(benchmark="benchmark://fake-v0/7")
            for action in (0, 1, 2):
                env.step(action)
            assert cache.statistics.hits == 3 * number
            twin = pickle.loads(pickle.dumps(cache))
            assert twin.path == path
            twin.close()
