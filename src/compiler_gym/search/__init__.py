# SPDX-License-Identifier: MIT
"""Search for good sequences of actions, without learning.

``entrance`` starts a search, ``scheduler`` distributes the work over threads and programs,
``walker`` is the only module that steps an environment, ``tree`` stores every sequence walked and
the programs along it, and ``moves`` numbers actions and finds sequences to start from. The
algorithms (in ``strategy``, ``local_search``, ``settings`` and ``decisions``) depend on no
compiler, run nothing and read no clock. ``results`` defines reports and results, and stores both
in a run folder. ``trajectory`` shortens a finished episode, and ``attribution`` measures the
contribution of each of its actions.
"""

from typing import TYPE_CHECKING, Any

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from collections.abc import Callable

    from compiler_gym.options import SearchOptions
    from compiler_gym.search.attribution import Contribution, attribute
    from compiler_gym.search.entrance import (
        ALGORITHMS,
        KEPT_BYTES,
        KEPT_PROCESSES,
        choose_options,
        run_search,
    )
    from compiler_gym.search.moves import (
        default_starts,
        find_known_sequences,
        level_sequences,
        starting_sequences,
    )
    from compiler_gym.search.results import (
        Budget,
        FailureReason,
        Improvement,
        KeepingWatcher,
        ProgressLog,
        SearchProgress,
        SearchResult,
        SearchWatcher,
        Silent,
        compute_remaining,
        keep_results,
        read_kept_starts,
        take_up,
        write_json,
        write_results,
    )
    from compiler_gym.search.scheduler import available_jobs
    from compiler_gym.search.shrinking import shrink, smallest_failing
    from compiler_gym.search.strategy import MakeStrategy, Moveset, Strategy
    from compiler_gym.search.trajectory import (
        Hypothesis,
        bisect_trajectory,
        minimize_trajectory_iteratively,
        random_minimization,
        validation_fails,
    )
    from compiler_gym.search.tree import Failure, Node, Walk

    random_search: Callable[..., tuple[float, list[Any]]]  # of 0.2.5, which `compat` holds

__all__ = [
    "ALGORITHMS",
    "KEPT_BYTES",
    "KEPT_PROCESSES",
    "Budget",
    "Contribution",
    "Failure",
    "FailureReason",
    "Hypothesis",
    "Improvement",
    "KeepingWatcher",
    "MakeStrategy",
    "Moveset",
    "Node",
    "ProgressLog",
    "SearchOptions",
    "SearchProgress",
    "SearchResult",
    "SearchWatcher",
    "Silent",
    "Strategy",
    "Walk",
    "attribute",
    "available_jobs",
    "bisect_trajectory",
    "choose_options",
    "compute_remaining",
    "default_starts",
    "find_known_sequences",
    "keep_results",
    "level_sequences",
    "minimize_trajectory_iteratively",
    "random_minimization",
    "random_search",
    "read_kept_starts",
    "run_search",
    "shrink",
    "smallest_failing",
    "starting_sequences",
    "take_up",
    "validation_fails",
    "write_json",
    "write_results",
]

__getattr__ = door(__name__, {"random_search": "compiler_gym.compat"})
