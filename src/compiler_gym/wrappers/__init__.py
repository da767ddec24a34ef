# SPDX-License-Identifier: MIT
"""Environment in, environment out.

``wrapper`` is the base of all, ``copying`` what a copy of one holds, ``conversions`` the
three to derive from.
``command_lines`` changes the set of actions, ``observations`` and ``rewards`` what is
seen and earned, ``benchmarks`` chooses programs, ``time_limit``, ``never_worse`` and
``undo`` change how episodes go, ``masks`` hides useless actions, ``counter`` counts,
``recorder`` and ``sqlite_logger`` keep episodes, as any `EpisodeStream` may, and ``legacy``
has the old interface.
"""

from compiler_gym.wrappers._recording import EpisodeRecord, EpisodeSink, EpisodeStream, StepRecord
from compiler_gym.wrappers.benchmarks import (
    CycleOverBenchmarks,
    CycleOverBenchmarksIterator,
    IterateOverBenchmarks,
    RandomOrderBenchmarks,
)
from compiler_gym.wrappers.command_lines import (
    CommandlineWithTerminalAction,
    ConstrainedCommandline,
    MacroActions,
)
from compiler_gym.wrappers.conversions import ActionWrapper, ObservationWrapper, RewardWrapper
from compiler_gym.wrappers.copying import Lasting
from compiler_gym.wrappers.counter import Counter
from compiler_gym.wrappers.legacy import LegacyGym
from compiler_gym.wrappers.masks import ActionMasks
from compiler_gym.wrappers.never_worse import NeverWorse
from compiler_gym.wrappers.observations import ActionHistory, LogCounts, StepBudget
from compiler_gym.wrappers.recorder import EpisodeRecorder
from compiler_gym.wrappers.rewards import (
    NoEffectPenalty,
    RelativeSavings,
    RewardAtEnd,
    RuntimePointEstimateReward,
    ValidateBenchmarkAfterEveryStep,
)
from compiler_gym.wrappers.sqlite_logger import SynchronousSqliteLogger
from compiler_gym.wrappers.time_limit import TimeLimit
from compiler_gym.wrappers.undo import ForkOnStep
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = [
    "ActionHistory",
    "ActionMasks",
    "ActionWrapper",
    "CommandlineWithTerminalAction",
    "CompilerEnvWrapper",
    "ConstrainedCommandline",
    "Counter",
    "CycleOverBenchmarks",
    "CycleOverBenchmarksIterator",
    "EpisodeRecord",
    "EpisodeRecorder",
    "EpisodeSink",
    "EpisodeStream",
    "ForkOnStep",
    "IterateOverBenchmarks",
    "Lasting",
    "LegacyGym",
    "LogCounts",
    "MacroActions",
    "NeverWorse",
    "NoEffectPenalty",
    "ObservationWrapper",
    "RandomOrderBenchmarks",
    "RelativeSavings",
    "RewardAtEnd",
    "RewardWrapper",
    "RuntimePointEstimateReward",
    "StepBudget",
    "StepRecord",
    "SynchronousSqliteLogger",
    "TimeLimit",
    "ValidateBenchmarkAfterEveryStep",
]
