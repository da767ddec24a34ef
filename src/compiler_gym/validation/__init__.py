# SPDX-License-Identifier: MIT
"""Replay an episode and report findings as records, not exceptions.

``ladder`` runs the checks in order, on one state or on many at once, and compares a state with a
fresh run. ``result`` holds the records, and distinguishes a machine in trouble from a wrong state.
``behaviour`` runs programs and compares their output, in which it recognises times and addresses,
``mutation`` derives new inputs from known ones, and ``tracing`` finds the first action on which two
machines disagree.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.statistics import Comparison, compare_fastest
    from compiler_gym.validation.behaviour import (
        MOST_CASES,
        Compared,
        Reference,
        choose_cases,
        compare_behaviour,
        compare_built,
        run_program,
    )
    from compiler_gym.validation.ladder import (
        CALLBACKS,
        REPLAY,
        Finding,
        Rung,
        Subject,
        choose_rungs,
        climb,
        replay,
        replay_differences,
        validate_by_replay,
        validate_states,
    )
    from compiler_gym.validation.mutation import MOST_BYTES, CaseMutator, Draw, is_mutable
    from compiler_gym.validation.result import (
        RungResult,
        ValidationError,
        ValidationResult,
        Verdict,
        machine_trouble,
    )
    from compiler_gym.validation.tracing import Trace, first_disagreement, trace

__all__ = [
    "CALLBACKS",
    "MOST_BYTES",
    "MOST_CASES",
    "REPLAY",
    "CaseMutator",
    "Compared",
    "Comparison",
    "Draw",
    "Finding",
    "Reference",
    "Rung",
    "RungResult",
    "Subject",
    "Trace",
    "ValidationError",
    "ValidationResult",
    "Verdict",
    "choose_cases",
    "choose_rungs",
    "climb",
    "compare_behaviour",
    "compare_built",
    "compare_fastest",
    "first_disagreement",
    "is_mutable",
    "machine_trouble",
    "replay",
    "replay_differences",
    "run_program",
    "trace",
    "validate_by_replay",
    "validate_states",
]

__getattr__ = door(__name__)
