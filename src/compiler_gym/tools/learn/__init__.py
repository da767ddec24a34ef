# SPDX-License-Identifier: MIT
"""Learn from episodes, and compare trained policies.

``collection`` stores transitions, ``integrations`` connects libraries that train agents,
``leaderboard`` judges submissions, and ``commands`` contains the commands.
"""

from compiler_gym.lazy import door

__all__: list[str] = []

__getattr__ = door(__name__)
