# SPDX-License-Identifier: MIT
"""Several environments as one vector environment, or stepped side by side.

``vector_env`` is a Gymnasium vector environment. It consists of ``rows``, whose results are in a
``batch``; a ``sampler`` draws their programs, and ``durations`` estimates which row takes longest.
Gymnasium finds it through ``entry``. ``pool`` steps environments and returns results in order of
completion. Nothing here uses sessions; it only sends the steps and resets that episodes prepare.
"""

from compiler_gym.vector.entry import make_vector
from compiler_gym.vector.pool import StepPool
from compiler_gym.vector.sampler import Sampler
from compiler_gym.vector.vector_env import CompilerVectorEnv, VectorStepResult

__all__ = ["CompilerVectorEnv", "Sampler", "StepPool", "VectorStepResult", "make_vector"]
