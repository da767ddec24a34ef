# SPDX-License-Identifier: MIT
"""Wrappers that change the behaviour of the environments they contain.

``wrapper`` contains the base class, ``layers`` defines how wrappers call the environment below and
how they are copied, and ``conversions`` contains three base classes for converting actions,
observations and rewards. ``actions`` changes the set of actions, ``observations`` and ``rewards``
change the results of steps, ``benchmarks`` chooses programs, and ``episodes`` changes the course of
episodes. ``recording`` and ``sqlite_logger`` write episodes to files, as any `EpisodeStream` may,
and ``legacy`` provides the interface of OpenAI Gym.
"""

from compiler_gym.wrappers.actions import (
    ActionMasks,
    CommandlineWithTerminalAction,
    ConstrainedCommandline,
    MacroActions,
)
from compiler_gym.wrappers.benchmarks import (
    CycleOverBenchmarks,
    CycleOverBenchmarksIterator,
    IterateOverBenchmarks,
    RandomOrderBenchmarks,
)
from compiler_gym.wrappers.conversions import ActionWrapper, ObservationWrapper, RewardWrapper
from compiler_gym.wrappers.episodes import Counter, ForkOnStep, NeverWorse, TimeLimit
from compiler_gym.wrappers.layers import Lasting
from compiler_gym.wrappers.legacy import LegacyGym
from compiler_gym.wrappers.observations import ActionHistory, LogCounts, StepBudget
from compiler_gym.wrappers.recording import (
    EpisodeList,
    EpisodeRecord,
    EpisodeRecorder,
    EpisodeStream,
    StepRecord,
    write_json_text,
)
from compiler_gym.wrappers.rewards import (
    BestSavings,
    NoEffectPenalty,
    RelativeSavings,
    RewardAtEnd,
    RuntimePointEstimateReward,
    ValidateBenchmarkAfterEveryStep,
)
from compiler_gym.wrappers.sqlite_logger import SynchronousSqliteLogger
from compiler_gym.wrappers.wrapper import CompilerEnvWrapper

__all__ = [
    "ActionHistory",
    "ActionMasks",
    "ActionWrapper",
    "BestSavings",
    "CommandlineWithTerminalAction",
    "CompilerEnvWrapper",
    "ConstrainedCommandline",
    "Counter",
    "CycleOverBenchmarks",
    "CycleOverBenchmarksIterator",
    "EpisodeList",
    "EpisodeRecord",
    "EpisodeRecorder",
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
    "write_json_text",
]
