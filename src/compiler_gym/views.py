# SPDX-License-Identifier: MIT
"""The views under the path that CompilerGym 0.2.5 documents; `compiler_gym.core` defines them."""

from compiler_gym.core.views import ObservationSpaceSpec, ObservationView, RewardView

__all__ = ["ObservationSpaceSpec", "ObservationView", "RewardView"]
__path__: list[str] = []  # `compat` serves the old submodule paths below this one
