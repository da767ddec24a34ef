# SPDX-License-Identifier: MIT
"""Several environments as one vector environment, or stepped side by side.

``vector_env`` is a Gymnasium vector environment, which consists of ``rows``.
Gymnasium finds it through ``entry``. ``pool`` steps environments and returns results in order of
completion. Nothing here uses sessions; it only sends the steps and resets that episodes prepare.
"""

from compiler_gym.vector.entry import make_vector
from compiler_gym.vector.pool import StepPool
from compiler_gym.vector.rows import Sampler
from compiler_gym.vector.vector_env import CompilerVectorEnv, VectorStepResult

__all__ = ["CompilerVectorEnv", "Sampler", "StepPool", "VectorStepResult", "make_vector"]
