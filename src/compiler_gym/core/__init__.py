# SPDX-License-Identifier: MIT
"""The one Gymnasium environment over a compiler session.

``env`` is the environment as users see it, ``episode`` does what it does: it holds the
session, that ``sessions`` opens, and the ``history`` of what was done. A step or a reset that
was begun is ``pending``, whoever drives it; ``lockstep`` is many of them at once.
``selection`` knows the spaces and which are chosen, ``plan`` what a request must observe for
them, ``views`` what can be asked at any time, and ``specs`` turns a session's plain
descriptions into Gymnasium's spaces. ``arguments`` are the records that wrappers get,
``repeated_runs`` is an environment whose programs are run, and ``forking`` goes through
wrappers of Gymnasium; ``kept_forks`` keeps a few to go on from. ``state`` is the record that
replays an episode and ``state_files`` reads and writes many of them. ``description`` says what
an environment offers, ``panes`` what people look at of a program. ``garbage`` is for building
large values.
"""

from compiler_gym.core.arguments import OptionalArgumentValue, ResetArguments, StepArguments
from compiler_gym.core.description import describe
from compiler_gym.core.env import CompilerEnv
from compiler_gym.core.episode import Episode
from compiler_gym.core.forking import fork_of
from compiler_gym.core.garbage import uncollected
from compiler_gym.core.kept_forks import KeptForks, Weight
from compiler_gym.core.lockstep import Lockstep
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
)
from compiler_gym.core.pending import Pending, ResetResult, StepPending, StepResult
from compiler_gym.core.rendering import Listing, parts_by_function
from compiler_gym.core.repeated_runs import RunnableEnv
from compiler_gym.core.replaying import resume
from compiler_gym.core.specs import plain_from_value, space_from_spec, value_from_plain
from compiler_gym.core.state import CompilerEnvState, StateVersionWarning, require_state
from compiler_gym.core.state_files import (
    CompilerEnvStateReader,
    CompilerEnvStateWriter,
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
    "Lockstep",
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
    "TextPane",
    "Weight",
    "cost_panes",
    "describe",
    "fork_of",
    "parts_by_function",
    "plain_from_value",
    "require_state",
    "resume",
    "space_from_spec",
    "state_from_fields",
    "uncollected",
    "value_from_plain",
]
