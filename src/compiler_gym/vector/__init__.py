# SPDX-License-Identifier: MIT
"""Several episodes as one environment, or side by side.

It drives what an environment begins, and knows nothing of sessions. ``vector_env`` is the
environment of Gymnasium's kind, made of ``rows`` whose results a ``batch`` holds; a
``sampler`` draws what they run on and ``durations`` guesses which takes longest. ``entry``
is where Gymnasium finds it. ``pool`` steps environments and takes what is done first.
"""

from compiler_gym.vector.entry import make_vector
from compiler_gym.vector.pool import StepPool
from compiler_gym.vector.sampler import Sampler
from compiler_gym.vector.vector_env import CompilerVectorEnv, VectorStepResult

__all__ = ["CompilerVectorEnv", "Sampler", "StepPool", "VectorStepResult", "make_vector"]
