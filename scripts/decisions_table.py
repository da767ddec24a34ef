# SPDX-License-Identifier: MIT
"""What is left of each bundled program by passes, marks, options of the code generator, and all.

    python -m scripts.decisions_table

Every search of a program makes the same number of compilations: one is a run over the program
as it was at the start, of which the cost is looked at once, at the end. Compilations that a search
asks for again are not made, nor counted. What was found is validated, and taken apart: without
each of its kinds of decisions, how much more is left? A line of ``docs/decisions_found.jsonl``
is one search; those that are there are not made again, so that the command can be ended at any
time. The reference page is made of the file.
"""

import argparse
import json
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.errors import CompilerGymError
from compiler_gym.search.decisions import DecisionSearch
from compiler_gym.search.local_search import LocalSearch
from compiler_gym.search.moves import Moves, find_known_sequences, level_sequences, move_names
from compiler_gym.search.settings import SettingsSearch
from compiler_gym.search.strategy import MoveSequence, Moveset, Strategy
from compiler_gym.search.tree import Failure, Node, State, Walk
from compiler_gym.spaces import Decision

__all__ = ["COSTS", "SPACES", "Compilations", "SpentError", "kind_of", "main", "search", "without"]

FOUND = Path(__file__).parent.parent / "docs/decisions_found.jsonl"
COSTS = {"text": "ObjectTextSize", "instructions": "IrInstructionCount"}
"""The baselines' names, by what the page calls a cost."""
_OBSERVED = {"text": "ObjectTextSizeBytes", "instructions": "IrInstructionCount"}
SPACES = {
    "passes": "PassesAndPipelines",
    "marks": "Marks",
    "codegen": "PipelinesAndCodegen",
    "all": "MarksAndCodegen",
}
"""What is searched, and in which action space."""
_SMALL = 2_500
"""Instructions at the start up to which a program is small."""
_FEW, _MANY = 40, 100
"""Compilations of a program, and of a small one."""
_LEVEL = "-Oz"
_SECONDS = 60.0
_PARTS = {
    "text": {"passes": 0.2, "codegen": 0.6, "marks": 1.0},
    "instructions": {"passes": 0.5, "marks": 1.0},
}
"""At which share of the compilations a search of everything ends with its parts."""
_BASELINES = ("O0", "OptOz", "Oz")
_IDLE = 40
"""Batches of a search without anything new after which it ends."""


class SpentError(Exception):
    """Every compilation that there was has been made."""


class Compilations:
    """Compiles one program with actions, and remembers what it cost."""

    def __init__(self, env: CompilerEnv, uri: str, cost: str, most: int) -> None:
        self._env, self._uri, self._observation = env, uri, _OBSERVED[cost]
        self._known: dict[tuple[int, ...], tuple[float, str] | None] = {}
        self._kept: CompilerEnv | None = None
        self._most = most
        self.made = 0
        """How many there were."""
        self.best: tuple[float, tuple[int, ...]] = (float("inf"), ())
        """The least cost, and the actions that lead to it."""

    def allow(self, more: int) -> None:
        """Let `more` compilations be made."""
        self._most = self.made + more

    def cost(self, actions: Sequence[int]) -> tuple[float, str] | None:
        """Return the cost after `actions` and the hash of the program; None if they fail."""
        key = tuple(actions)
        if key not in self._known:
            if self.made >= self._most:
                raise SpentError(f"{self._most} compilations were made")
            self.made += 1
            self._known[key] = found = self._compile(key)
            if found is not None and (found[0], len(key)) < (self.best[0], len(self.best[1])):
                self.best = found[0], key
        return self._known[key]

    def close(self) -> None:
        """Close the environment that is kept."""
        if self._kept is not None:
            self._kept.close()

    def _compile(self, actions: tuple[int, ...]) -> tuple[float, str] | None:
        space: Any = self._env.action_space
        if getattr(space, "sets", ()) and actions and actions[0] == space[_LEVEL]:
            with self._after_level(actions[0]).fork() as env:  # what follows are settings
                return self._looked_at(env, actions[1:])
        self._env.reset(benchmark=self._uri)
        return self._looked_at(self._env, actions)

    def _after_level(self, level: int) -> CompilerEnv:
        if self._kept is None:
            self._env.reset(benchmark=self._uri)
            self._env.step(level)
            self._kept = self._env.fork()
        return self._kept

    def _looked_at(self, env: CompilerEnv, actions: Sequence[int]) -> tuple[float, str] | None:
        try:
            *_, info = env.multistep(list(actions), timeout=_SECONDS)
            if "error" in info:
                return None
            return float(env.observation[self._observation]), str(env.observation["IrHash"])
        except CompilerGymError as error:
            print(f"{self._uri}: {error}", file=sys.stderr)
            return None


def search(
    compilations: Compilations, moves: Moves, strategy: Strategy, *, until: int = sys.maxsize
) -> None:
    """Compile what `strategy` proposes until `until` compilations are made, or none is left."""
    idle = 0
    while compilations.made < until and idle < _IDLE:
        before = compilations.made
        try:
            strategy.tell([_walk(compilations, moves, one) for one in strategy.ask()])
        except SpentError:
            return
        idle = idle + 1 if compilations.made == before else 0


def _walk(compilations: Compilations, moves: Moves, sequence: MoveSequence) -> Walk:
    """Return what came of `sequence`: the cost is known at its end alone."""
    node = Node(known=State(reward=-math.inf))
    nodes = [node]
    found = compilations.cost(moves.flat(sequence))
    if found is None:
        return Walk(sequence, (node,), 1, Failure("CompilerError", "it failed"))
    cost, key = found
    end = State(key, reward=-cost)
    for place, move in enumerate(sequence, 1):
        known = end if place == len(sequence) else State(reward=-math.inf)
        node = Node(node, move, count=len(moves.flat([move])), known=known)
        nodes.append(node)
    if not sequence:
        nodes = [Node(known=end)]
    return Walk(sequence, tuple(nodes), 1)


def kind_of(name: str) -> str:
    """Return what kind of decision an action is; a pass is none.

    >>> [kind_of(name) for name in ("call:17=never", "regalloc=basic", "licm", "-Oz")]
    ['call=never', 'regalloc=basic', '', '']
    >>> kind_of("loop-unroll<O3>"), kind_of("sroa<max-iterations=8>")
    ('', '')
    """
    decision, _, choice = name.partition("=")
    if "<" in decision or not choice:
        return ""
    return f"{decision.partition(':')[0]}={choice}"


def without(names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each kind of decision among actions with what is left without it.

    Passes are one kind; without them, and the marks that were chosen for them, there is -Oz.

    >>> list(without(["call:1=never", "call:2=never", "-Oz"]))
    [('call=never (2)', ['-Oz'])]
    >>> list(without(["licm", "dce"]))
    [('passes', ['-Oz'])]
    """
    kinds = Counter(map(kind_of, names))
    for kind, count in kinds.items():
        if kind:
            only = next(name for name in names if kind_of(name) == kind)
            shown = f"{kind} ({count})" if count > 1 else only
            yield shown, [name for name in names if kind_of(name) != kind]
    if [name for name in names if not kind_of(name)] != [_LEVEL]:
        options = [name for name in names if kind_of(name) and ":" not in name]
        yield "passes", [_LEVEL, *options]


@dataclass(frozen=True, slots=True)
class _Task:
    uri: str
    cost: str
    space: str
    compilations: int

    @property
    def key(self) -> tuple[str, str, str]:
        return self.uri.rpartition("/")[2], self.cost, self.space


def _found(env: CompilerEnv, task: _Task, seed: int) -> dict[str, Any]:
    """Search, take apart and validate; return a line of the file."""
    env.reset(benchmark=task.uri)
    baselines = {name: env.observation[f"{COSTS[task.cost]}{name}"] for name in _BASELINES}
    space: Any = env.action_space
    compilations = Compilations(env, task.uri, task.cost, task.compilations)
    _search(compilations, env, task, random.Random(f"{seed} {task.key}"))
    made, cost = compilations.made, compilations.best[0]
    names = [name for name in _named(space, compilations.best[1]) if not is_default(name)]
    actions = [space[name] for name in names]
    lost: dict[str, float] = {}
    compilations.allow(sys.maxsize)
    for kind, left in without(names):
        found = compilations.cost([space[name] for name in left])
        if found is not None:
            lost[kind] = found[0] - cost
    compilations.close()
    env.reset(benchmark=task.uri)
    env.multistep(actions)
    again = env.observation[_OBSERVED[task.cost]]
    assert again == cost, f"{task}: {again}, expected {cost}"
    result = env.validate()
    return {
        "program": task.key[0],
        "cost": task.cost,
        "space": task.space,
        "compilations": made,
        **baselines,
        "found": cost,
        "actions": " ".join(names),
        "without": {kind: more for kind, more in lost.items() if more > 0},
        "valid": "yes" if result.okay() else str(result),
    }


def is_default(name: str) -> bool:
    """Return whether an action leaves a decision as it is at the start."""
    return kind_of(name).endswith("=default")


def _named(space: Any, actions: Sequence[int]) -> list[str]:
    return [space.find_name(a) if hasattr(space, "find_name") else space.names[a] for a in actions]


def _search(
    compilations: Compilations, env: CompilerEnv, task: _Task, generator: random.Random
) -> None:
    """Search as `compiler_gym.search` does in the space; all of them in turn, each on the best."""
    space: Any = env.action_space
    moves = Moves(space, seed=0)
    names = move_names(space)[: len(moves)]
    passes = sum(not kind_of(name) for name in names)
    best: MoveSequence = (space[_LEVEL],)
    starts = [*level_sequences(names[:passes]), *find_known_sequences(names)]
    settings = [tuple(start[1:]) for start in starts if max(start) >= passes]
    parts = _PARTS[task.cost] if task.space == "all" else {task.space: 1.0}
    for part, share in parts.items():
        until = round(task.compilations * share)
        if part == "passes":
            known = [tuple(start) for start in starts if max(start) < passes]
            moveset = Moveset(passes, (best, *known[: task.compilations // 4]))
            search(compilations, moves, LocalSearch(moveset, generator), until=until)
        elif moves.sets:
            levels = (best, *(best + options for options in settings))
            moveset = Moveset(len(moves), levels, sets=moves.sets, pack=moves.pack)
            search(compilations, moves, SettingsSearch(moveset, generator), until=until)
        else:
            begin = [best, *(best + options for options in settings if part == "codegen")]
            chosen = tuple(d for d in space.decisions() if part == _part_of(d))
            moveset = Moveset(passes, tuple(begin), pack=moves.pack, decisions=chosen)
            search(compilations, moves, DecisionSearch(moveset, generator), until=until)
        best = compilations.best[1]


def _part_of(decision: Decision) -> str:
    return "codegen" if decision.groups[0] == "codegen" else "marks"


def _tasks(costs: Iterable[str], spaces: Iterable[str], few: int, many: int) -> Iterator[_Task]:
    """Yield searches, those of text and of small programs first."""
    sizes: dict[str, int] = {}
    with compiler_gym.make("llvm-v0") as env:
        for uri in env.datasets["benchmark://cbench-v1"].benchmark_uris():
            env.reset(benchmark=uri)
            sizes[str(uri)] = int(env.observation["IrInstructionCount"])
    for cost in costs:
        for uri in sorted(sizes, key=sizes.__getitem__):
            for space in spaces:
                if (cost, space) != ("instructions", "codegen"):  # it leaves the IR as it is
                    yield _Task(uri, cost, space, many if sizes[uri] <= _SMALL else few)


def main(arguments: Sequence[str] | None = None) -> None:
    """Search what was not searched yet, and write each result when it is there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--few", type=int, default=_FEW, help="compilations of a program")
    parser.add_argument("--many", type=int, default=_MANY, help="compilations of a small one")
    parser.add_argument("--cost", action="append", choices=tuple(COSTS))
    parser.add_argument("--space", action="append", choices=tuple(SPACES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=FOUND)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args(arguments)
    there = set[tuple[str, str, str]]()
    if options.output.exists():
        lines = map(json.loads, options.output.read_text(encoding="utf-8").splitlines())
        there = {(row["program"], row["cost"], row["space"]) for row in lines}
    tasks = _tasks(options.cost or COSTS, options.space or SPACES, options.few, options.many)
    for task in tasks:
        if task.key in there or (options.programs and task.key[0] not in options.programs):
            continue
        started = time.monotonic()
        with compiler_gym.make("llvm-v0", action_space=SPACES[task.space]) as env:
            row = _found(env, task, options.seed)
        with options.output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        shown = [row[name] for name in ("Oz", "found", "compilations", "valid")]
        print(*task.key, *shown, f"{time.monotonic() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
