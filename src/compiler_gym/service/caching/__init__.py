# SPDX-License-Identifier: MIT
"""Caches the results of actions, so that no worker computes one twice.

``states`` has the two stores, and ``cache`` combines them. ``connection`` sits between an
environment and its session and requests only unknown results from the session; ``lazy_session``
defers all other work.
"""

from compiler_gym.service.caching.cache import CacheStatistics, TranspositionCache
from compiler_gym.service.caching.connection import CachingConnection

__all__ = ["CacheStatistics", "CachingConnection", "TranspositionCache"]
