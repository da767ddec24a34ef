# SPDX-License-Identifier: MIT
"""Caches for a test, and what stands behind one."""

from collections.abc import Iterator
from typing import Any

import pytest

from compiler_gym.service.caching import CachingConnection, TranspositionCache


@pytest.fixture
def cache() -> Iterator[TranspositionCache]:
    with TranspositionCache() as made:
        yield made


def session_of(env: Any) -> Any:
    """Return the session behind the cache; None if nothing needed it yet."""
    connection = env.unwrapped.episode.connection
    assert isinstance(connection, CachingConnection)
    return connection.session
