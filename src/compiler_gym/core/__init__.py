# SPDX-License-Identifier: MIT
"""The one Gymnasium environment over a compiler session.

``env`` is the environment, ``runnable`` one whose programs are run, ``episode``
its numbers, ``plan`` what a step asks for, ``views`` what can be asked at any time,
``describe`` turns a session's plain descriptions into Gymnasium spaces, ``state`` is
the record that replays an episode and ``state_files`` reads and writes many of them.
``vector`` is several environments as one, made of ``row``s that run on what a
``sampler`` draws; ``vector_entry`` is where Gymnasium finds it. ``asynchronous`` steps
many environments and takes what is done first. ``foreign`` forks through wrappers of
Gymnasium. ``collector`` is for building large values.
"""

from compiler_gym.core.asynchronous import StepPool
from compiler_gym.core.collector import uncollected
from compiler_gym.core.env import CompilerEnv, OptionalArgumentValue
from compiler_gym.core.foreign import fork_of
from compiler_gym.core.runnable import RunnableEnv
from compiler_gym.core.state import CompilerEnvState, StateVersionWarning
from compiler_gym.core.state_files import CompilerEnvStateReader, CompilerEnvStateWriter
from compiler_gym.core.vector import CompilerVectorEnv
from compiler_gym.core.vector_entry import make_vector
from compiler_gym.core.views import (
    DerivedObservation,
    ObservationSpaceSpec,
    ObservationView,
    RewardView,
)

__all__ = [
    "CompilerEnv",
    "CompilerEnvState",
    "CompilerEnvStateReader",
    "CompilerEnvStateWriter",
    "CompilerVectorEnv",
    "DerivedObservation",
    "ObservationSpaceSpec",
    "ObservationView",
    "OptionalArgumentValue",
    "RewardView",
    "RunnableEnv",
    "StateVersionWarning",
    "StepPool",
    "fork_of",
    "make_vector",
    "uncollected",
]
