# SPDX-License-Identifier: MIT
"""Remembers what actions did, so that no worker does it twice.

``memory`` and ``disk`` are the two places, ``cache`` puts them together, and
``connection`` stands between an environment and its session and asks the session only
for what is not known; ``lazy_session`` spares the session all else.
"""

from compiler_gym.caching.cache import CacheStatistics, TranspositionCache
from compiler_gym.caching.connection import CachingConnection

__all__ = ["CacheStatistics", "CachingConnection", "TranspositionCache"]
