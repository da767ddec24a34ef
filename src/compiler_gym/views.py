# SPDX-License-Identifier: MIT
"""The views under the path CompilerGym 0.2.5 documents; they live in `compiler_gym.core`."""

from compiler_gym.core.views import ObservationSpaceSpec, ObservationView, RewardView

__all__ = ["ObservationSpaceSpec", "ObservationView", "RewardView"]
__path__: list[str] = []  # old paths are looked for below this one: see `compat`
