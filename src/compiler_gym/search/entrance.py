# SPDX-License-Identifier: MIT
"""Run searches for good sequences of actions on programs."""

import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from types import MappingProxyType
from typing import Any

import gymnasium

from compiler_gym.core import CompilerEnv, KeptForks
from compiler_gym.errors import CompilerGymError, InvalidParameterError, UnknownNameError
from compiler_gym.errors.nearest import unknown_name
from compiler_gym.options import SearchOptions
from compiler_gym.search.decisions import DecisionSearch, DecisionSweep, EpsilonDecisionSweep
from compiler_gym.search.local_search import LocalSearch, PortfolioSearch
from compiler_gym.search.moves import Moves, starting_sequences
from compiler_gym.search.results import FailureReason, SearchResult, SearchWatcher, Silent
from compiler_gym.search.scheduler import Budget, Campaign, Scheduler
from compiler_gym.search.settings import AnswerSearch, SettingsSearch
from compiler_gym.search.strategy import (
    CONTINUE,
    EpsilonGreedySearch,
    GreedySearch,
    MakeStrategy,
    Moveset,
    RandomSearch,
)
from compiler_gym.search.tree import Node, State
from compiler_gym.search.walker import SearchedProgram, Walker
from compiler_gym.spaces import Reward, space_name

_MOST_CHARACTERS = 300
"""Characters of an error message kept in a result."""

_DEFAULTS = SearchOptions()
KEPT_PROCESSES = _DEFAULTS.kept_processes
"""The largest number of processes that a search keeps in states to continue from."""
KEPT_BYTES = _DEFAULTS.kept_bytes
"""The largest private memory of all kept processes, in bytes."""

ALGORITHMS: Mapping[str, MakeStrategy] = MappingProxyType(
    {
        "random": RandomSearch,
        "greedy": GreedySearch,
        "e-greedy": EpsilonGreedySearch,
        "local": LocalSearch,
        "portfolio": PortfolioSearch,
    }
)
"""Every algorithm by name."""
_DECISION_ALGORITHMS: Mapping[str, MakeStrategy] = {
    "greedy": DecisionSweep,
    "e-greedy": EpsilonDecisionSweep,
    "local": DecisionSearch,
    "portfolio": DecisionSearch,
}
"""The algorithms for programs that offer decisions; ``random`` draws from decisions too."""


def run_search(
    make_env: Callable[[], CompilerEnv],
    benchmarks: Sequence[Any] = (None,),
    options: SearchOptions | None = None,
    *,
    watcher: SearchWatcher | None = None,
    **given: Any,
) -> list[SearchResult]:
    """Return the best sequence found for each of `benchmarks`, shortened.

    Pass options as a record, or as keywords with the names of its fields, which override the
    record: ``run_search(make_env, steps=150)``. `budget` may replace the limits.

    The result is never worse than the best of the starts that were tried: the default ones after
    the tenth wait until local search gains nothing more. An action
    that exceeds its time limit counts as failed; a level has a longer limit, because it takes as
    long as a whole compilation. The behaviour of the algorithms depends on the action space:

    - If actions are settings, such as the flags of a command line, ``local`` and ``portfolio``
      flip a few at a time from the best of the levels, and a step is one compilation.
    - If a program offers decisions, they search for decisions to make before the best of the
      starts; ``greedy`` and ``e-greedy`` try every choice of one decision after another, and
      ``random`` draws from decisions too.
    - If actions are answers to the compiler's questions, all but ``random`` change a few of the
      default answers, and a step is one episode: only its end counts.

    A state from which several sequences continue is kept as a separate process and forked for
    each. At most ``kept_processes`` are kept, with about ``kept_bytes`` of private memory in
    total; if either is 0, states are reached by replaying. This changes the speed of a search,
    but not its result within a number of steps. A ``KeyboardInterrupt``, including one raised by
    a watcher, ends the search, which then returns its results so far.

    Args:
        make_env: Builds environments with a reward space: one per thread, and one that confirms
            the results.
        benchmarks: Programs as accepted by ``reset``; None for the environment's default.
        options: The options of the search; None for the defaults.
        watcher: Receives reports in the calling thread.
        **given: Individual options, and `budget`.

    Returns:
        One result for each of `benchmarks`, in the same order.

    Raises:
        UnknownNameError: The algorithm does not exist.
        BenchmarkInitError: A program cannot be started.
    """
    options = choose_options(options, **given)
    with make_env() as env:
        prepared = _prepare(env)
        moves = Moves(env.action_space, seed=options.seed)
        campaigns = _prepare_campaigns(prepared, benchmarks, moves, options)
        scheduler = Scheduler(
            lambda: _prepare(make_env()),
            moves,
            campaigns,
            options,
            KeptForks[State](options.kept_processes, options.kept_bytes),
            watcher or Silent(),
        )
        interrupted = False
        try:
            scheduler.run()
        except KeyboardInterrupt:
            interrupted = True
        walker = Walker(prepared, moves, KeptForks[State](0), options)
        return [
            _result(prepared, walker, campaign, moves, options, interrupted)
            for campaign in campaigns
        ]


def choose_options(options: SearchOptions | None = None, **given: Any) -> SearchOptions:
    """Return `options` with individual fields replaced; `budget` replaces the limits.

    Raises `InvalidParameterError` for an invalid value of an option, `UnknownNameError` for an
    unknown algorithm, and `TypeError` for an unknown option.
    """
    budget: Budget | None = given.pop("budget", None)
    if budget is not None:
        given = {**asdict(budget), **given}
    names = [field.name for field in fields(SearchOptions)]
    for name in given:
        if name not in names:
            raise TypeError(f"run_search() has no argument {name!r}; it accepts {names}")
    result = replace(options or _DEFAULTS, **given)
    if result.algorithm not in ALGORITHMS:
        raise UnknownNameError(unknown_name("algorithm", result.algorithm, ALGORITHMS))
    return result


def _prepare_campaigns(
    env: CompilerEnv, benchmarks: Sequence[Any], moves: Moves, options: SearchOptions
) -> list[Campaign]:
    """Return the search of each of `benchmarks`, on which `env` is reset."""
    moveset = _moveset(env, moves, options)
    campaigns: list[Campaign] = []
    for index, benchmark in enumerate(benchmarks):
        env.reset(benchmark=benchmark)
        name = str(env.benchmark)
        own_moveset = _with_decisions(moveset, env.action_space)
        generator = random.Random(f"{options.seed} {name}")
        strategy = _maker(options.algorithm, own_moveset)(own_moveset, generator)
        program = SearchedProgram(env.benchmark)
        campaigns.append(Campaign(index, program, name, strategy, Budget.of(options), moves))
    if options.steps is options.sequences is None:
        for campaign in campaigns:
            campaign.others = [other for other in campaigns if other is not campaign]
    return campaigns


def _moveset(env: CompilerEnv, moves: Moves, options: SearchOptions) -> Moveset:
    starts = starting_sequences(options.starts, env.action_space)
    opening = _check_starts(starts, sys.maxsize if moves.depend_on_program else len(moves))
    plain = tuple(start for start in opening if start[:1] != (CONTINUE,))
    is_measured = env.reward_space is not None and env.reward_space.platform_dependent
    return Moveset(
        len(moves),
        plain,
        opening if len(plain) < len(opening) else (),
        sets=moves.sets,
        pack=moves.pack,
        join=moves.join if is_measured else moves.pack,
        rest=moves.rest,
        vary=moves.vary if moves.can_vary else None,
    )


def _with_decisions(moveset: Moveset, space: gymnasium.Space[Any]) -> Moveset:
    """Return `moveset` with the decisions of the program that was just reset, if any."""
    list_decisions = getattr(space, "decisions", None)
    return moveset if list_decisions is None else replace(moveset, decisions=list_decisions())


def _maker(algorithm: str, moves: Moveset) -> MakeStrategy:
    """Return the class of the strategy, which depends on the kind of actions."""
    if moves.decisions and algorithm in _DECISION_ALGORITHMS:
        return _DECISION_ALGORITHMS[algorithm]
    if moves.sets and algorithm in ("local", "portfolio"):
        return SettingsSearch
    if moves.rest is not None and algorithm != "random":
        return AnswerSearch
    return ALGORITHMS[algorithm]


def _prepare(env: CompilerEnv) -> CompilerEnv:
    if env.reward_space is None:
        raise InvalidParameterError(
            "cannot search without a reward to maximise: make the environment with "
            f"reward_space=NAME, one of {', '.join(env.reward)}"
        )
    state = env.state_observation  # equal programs have equal observations
    env.observation_space = state if state in env.observation else None
    # A reset is followed by a replay, in which a copy loses more to page faults than it saves.
    sessions = env.episode.sessions
    env.episode.sessions = replace(sessions, limits=replace(sessions.limits, kept_programs=0))
    return env


def _check_starts(starts: Sequence[Sequence[int]], size: int) -> tuple[tuple[int, ...], ...]:
    unique = tuple(dict.fromkeys(tuple(start) for start in starts))
    for start in unique:
        for move in start[start[:1] == (CONTINUE,) :]:
            if not 0 <= move < size:
                raise InvalidParameterError(f"a start has action {move} (actions: {size})")
    return unique


def _result(
    env: CompilerEnv,
    walker: Walker,
    campaign: Campaign,
    moves: Moves,
    options: SearchOptions,
    interrupted: bool,
) -> SearchResult:
    best, reward = _reproduce(walker, campaign, env.reward_space)
    # An episode may end before the last answer of a proposal.
    actions = moves.flat(best.actions())[: len(env.actions)]
    assert env.reward_space is not None
    return SearchResult(
        benchmark=campaign.name,
        actions=tuple(moves.actions(actions)),
        action_names=tuple(moves.name(move) for move in actions),
        commandline=_commandline(env),
        reward=reward,
        reward_space=env.reward_space.name,
        action_space=space_name(env.action_space) or "",
        algorithm=options.algorithm,
        seed=options.seed,
        seconds=campaign.spent,
        steps=campaign.counts.steps,
        sequences=campaign.counts.sequences,
        recognised=campaign.counts.recognised,
        failures=campaign.counts.failures,
        is_interrupted=interrupted,
        improvements=tuple(campaign.improvements),
        failure_reasons=_reasons(campaign, moves),
    )


def _reasons(campaign: Campaign, moves: Moves) -> tuple[FailureReason, ...]:
    """Return the reasons why sequences failed and their counts, the most frequent first."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for failure, times in campaign.failures.items():
        action = moves.name(failure.move) if 0 <= failure.move < len(moves) else ""
        first_line = failure.details.strip().partition("\n")[0][:_MOST_CHARACTERS]
        counts[action, failure.type, first_line] += times
    return tuple(FailureReason(*reason, times) for reason, times in counts.most_common())


def _reproduce(
    walker: Walker, campaign: Campaign, reward_space: Reward | None
) -> tuple[Node, float]:
    """Return the best sequence that a replay after a reset confirms, with its reward."""
    is_exact = reward_space is None or reward_space.deterministic
    for node in reversed(campaign.bests):
        try:
            reward = walker.replay(campaign.program, node.actions())
        except CompilerGymError:
            continue
        # Measured times differ between runs: the result has the reward of the replay.
        if reward is not None and (reward >= node.reward or (not is_exact and reward > 0)):
            return node, reward
    walker.replay(campaign.program, ())
    return campaign.program.root, 0.0


def _commandline(env: CompilerEnv) -> str:
    try:
        return env.commandline()
    except AttributeError:  # an action space without a command line
        return ""
