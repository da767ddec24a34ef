# SPDX-License-Identifier: MIT
"""The Gymnasium environment over a compiler session.

``env`` is the environment as users see it, and ``episode`` does its work: it holds the connection
to the session, which ``sessions`` opens. A step or a reset that has begun is ``pending``.
``selection`` has the spaces and which are chosen, ``plan`` the observations that a request asks
for, ``views`` the observations and rewards that are computed when read, and ``specs`` turns a
session's plain descriptions into Gymnasium's spaces. ``programs`` chooses the program of the next
episode, and ``arguments`` are those of resets and steps, as records for wrappers. ``replaying``
applies a ``state``, which also has files, and records an episode. ``repeated_runs`` is an
environment that runs programs. ``forking`` forks environments and keeps forks to continue from.
``rendering`` shows programs, ``panes`` describes the panes of the explorer, and ``description``
lists the spaces of an environment.
"""

from compiler_gym.core.arguments import OptionalArgumentValue, ResetArguments, StepArguments
from compiler_gym.core.description import describe
from compiler_gym.core.env import CompilerEnv
from compiler_gym.core.episode import Episode
from compiler_gym.core.forking import KeptForks, Weight, fork_wrapped
from compiler_gym.core.panes import (
    CostPane,
    GraphPane,
    PaneEdge,
    PaneGraph,
    PaneNode,
    Panes,
    PaneText,
    TextPane,
    cost_panes,
    runs_program,
)
from compiler_gym.core.pending import Pending, ResetResult, StepPending, StepResult, StepTuple
from compiler_gym.core.rendering import Listing, comparable, parts_by_function
from compiler_gym.core.repeated_runs import RunnableEnv
from compiler_gym.core.replaying import resume
from compiler_gym.core.specs import (
    plain_from_value,
    space_from_spec,
    value_from_plain,
)
from compiler_gym.core.state import (
    CompilerEnvState,
    CompilerEnvStateReader,
    CompilerEnvStateWriter,
    StateVersionWarning,
    require_state,
    state_from_fields,
)
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
    "CostPane",
    "DerivedObservation",
    "Episode",
    "GraphPane",
    "KeptForks",
    "Listing",
    "ObservationSpaceSpec",
    "ObservationView",
    "OptionalArgumentValue",
    "PaneEdge",
    "PaneGraph",
    "PaneNode",
    "PaneText",
    "Panes",
    "Pending",
    "ResetArguments",
    "ResetResult",
    "RewardView",
    "RunnableEnv",
    "StateVersionWarning",
    "StepArguments",
    "StepPending",
    "StepResult",
    "StepTuple",
    "TextPane",
    "Weight",
    "comparable",
    "cost_panes",
    "describe",
    "fork_wrapped",
    "parts_by_function",
    "plain_from_value",
    "require_state",
    "resume",
    "runs_program",
    "space_from_spec",
    "state_from_fields",
    "value_from_plain",
]
