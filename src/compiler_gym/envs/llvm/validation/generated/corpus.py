# SPDX-License-Identifier: MIT
"""The inputs that are made for one program, and kept: the same for everybody who asks.

Known inputs are changed again and again; one that takes an edge of the program that none
took before, or takes one more often, is changed in its turn. So is one that takes an edge
which few others take: a place that is reached is not yet a place where a wrong number shows.
What is kept is sound: the unoptimised program ends by itself on it, repeats itself and does
nothing undefined.
"""

import functools
import json
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

from compiler_gym.datasets import (
    Benchmark,
    RunCase,
    RunReport,
    RunSpec,
    pack_run,
    unpack_run,
)
from compiler_gym.envs.llvm.toolchain.clang import clang_command
from compiler_gym.envs.llvm.validation.build import find_opt
from compiler_gym.envs.llvm.validation.generated.coverage import Counted, build_counted
from compiler_gym.envs.llvm.validation.generated.soundness import SoundnessJudge, build_judge
from compiler_gym.files import keep, tool_identity
from compiler_gym.files.paths import cache_path
from compiler_gym.validation import CaseMutator, Draw, choose_cases

__all__ = ["Corpus", "Effort", "make_corpus"]

_CORPUS_VERSION = 2
_SEED_COUNT = 64
_MOST_OUTPUT = 1 << 20
_MOST_UNSOUND = 3
"""Unsound inputs of one kind after which no more of it are looked at."""
_ENOUGH = 8
"""Inputs that take an edge: more of them are not looked for."""
_ANYWAY = 25
"""One input of so many is kept though it reaches nothing new: values differ too."""
_MOST_KEPT = 64


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is tried."""

    tries: int = 1000
    """Inputs that are made."""
    seconds: float = 300.0
    """Wall time after which no more are made: ten times what a quiet machine needs for most."""
    most: int = 192
    """Inputs that are kept."""
    seconds_each: float = 2.0
    """Wall time of one run."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Corpus:
    """What was made for one program."""

    cases: tuple[RunCase, ...]
    """Sound inputs, those that reach most first."""
    reached: int
    """Edges of the unoptimised program that these or the known inputs take."""
    reached_before: int
    """Edges that the known inputs take."""
    edges: int
    """Edges there are."""
    tried: int
    knows_source: bool
    """True if undefined behaviour was looked for; see `SoundnessJudge`."""

    @property
    def summary(self) -> str:
        """What the inputs reach, in words."""
        return (
            f"{len(self.cases)} inputs of {self.tried} that were made; they and the known ones "
            f"take {self.reached} of {self.edges} edges, the known ones {self.reached_before}"
        )


def make_corpus(benchmark: Benchmark, effort: Effort | None = None) -> Corpus:
    """Return the inputs of `benchmark`, made now or kept from an earlier time.

    Raises `BenchmarkInitError` if it cannot be built with the checks that this needs.
    """
    effort = effort or Effort()
    spec = benchmark.run
    assert spec is not None
    known = _list_known(spec)
    key = _corpus_key(benchmark, spec, known, effort)
    with _locks(key):
        corpus = _memory.get(key) or _load_corpus(key)
        if corpus is None:
            corpus = _make_corpus(benchmark, spec, known, effort)
            if corpus.tried == effort.tries:  # what time has cut short would stay so
                keep(_corpus_path(key), _pack(corpus))
        _memory[key] = corpus
        while len(_memory) > _MOST_KEPT:
            _memory.pop(next(iter(_memory)))
        return corpus


_memory: dict[str, Corpus] = {}


@functools.lru_cache(maxsize=_MOST_KEPT)
def _locks(key: str) -> threading.RLock:
    return threading.RLock()


def _list_known(spec: RunSpec) -> list[RunCase]:
    more = [spec.more(number) for number in range(_SEED_COUNT)] if spec.more is not None else []
    return [*choose_cases(spec), *more]


def _corpus_key(benchmark: Benchmark, spec: RunSpec, known: list[RunCase], effort: Effort) -> str:
    tools = (tool_identity(clang_command()[0]), tool_identity(find_opt()))
    tried = replace(effort, seconds=0.0)  # only what was finished is kept
    whole = sha256(repr((_CORPUS_VERSION, tried, tools, spec.reference, spec.link)).encode())
    whole.update(benchmark.contents)
    whole.update(repr(tuple(benchmark.sources)).encode())
    whole.update(pack_run(RunSpec(known)))
    return whole.hexdigest()


def _corpus_path(key: str) -> Path:
    return cache_path("generated-inputs") / f"{key}.bin"


def _pack(corpus: Corpus) -> bytes:
    facts = asdict(corpus) | {"cases": len(corpus.cases)}
    return json.dumps(facts).encode() + b"\n" + pack_run(RunSpec(corpus.cases))


def _load_corpus(key: str) -> Corpus | None:
    try:
        head, _, packed = _corpus_path(key).read_bytes().partition(b"\n")
        cases = tuple(unpack_run(packed).cases)
        return Corpus(**(json.loads(head) | {"cases": cases}))
    except (OSError, ValueError, TypeError):
        return None


def _make_corpus(
    benchmark: Benchmark, spec: RunSpec, known: list[RunCase], effort: Effort
) -> Corpus:
    right = benchmark
    if spec.reference is not None:
        right = Benchmark(benchmark.uri, spec.reference, sources=benchmark.sources)
    with (
        build_counted(right.contents, spec.link) as program,
        build_judge(right, spec.link) as judge,
    ):
        hunt = _Hunt(program, judge, effort)
        before = hunt.begin(known)
        tried = hunt.go_on(CaseMutator(known, program.tokens, effort.seed))
        return Corpus(
            hunt.best(),
            program.count(hunt.reached),
            program.count(before),
            program.edges,
            tried,
            judge.knows_source,
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """An input that is kept, and what it was the first to reach."""

    case: RunCase
    new_edges: int
    rare_edges: int
    new_steps: int

    def worth(self) -> tuple[int, int, int]:
        return self.new_edges, self.rare_edges, self.new_steps


class _Hunt:
    """A search for inputs that reach something new."""

    def __init__(self, program: Counted, judge: SoundnessJudge, effort: Effort) -> None:
        self.reached = 0
        self._program, self._judge, self._effort = program, judge, effort
        self._parents: list[RunCase] = []
        self._found: list[_Found] = []
        self._unsound: Counter[int] = Counter()
        self._taken = [0] * _ENOUGH  # the edges that one, two, three ... inputs take
        self._deadline = time.monotonic() + effort.seconds

    def begin(self, known: list[RunCase]) -> int:
        """Run the known inputs and return what they reach; those with messages are kept.

        Standard error is not recorded: it is looked at where inputs are generated.
        """
        for case in known:
            if time.monotonic() > self._deadline:
                break
            ran, reached = self._run(case)
            if ran is None:
                continue
            if reached & ~self.reached or len(self._parents) < 2:
                self._parents.append(case)
            if ran.stderr and self._is_sound(case, ran, reached):
                self._found.append(_Found(replace(case, expected=None), 0, 0, 1))
            self._take(reached)
        return self.reached

    def go_on(self, mutator: CaseMutator) -> int:
        """Make inputs until enough were tried, or time is over; return how many were."""
        for number in range(self._effort.tries):
            if not self._parents or time.monotonic() > self._deadline:
                return number
            draw = Draw(f"parent {self._effort.seed} {number}")
            some = self._parents[-len(self._parents) // 3 :] if draw.below(2) else self._parents
            self._try(mutator.mutate(draw.choice(some), number), is_kept=number % _ANYWAY == 0)
        return self._effort.tries

    def best(self) -> tuple[RunCase, ...]:
        """Return the inputs that are worth most."""
        ordered = sorted(self._found, key=_Found.worth, reverse=True)
        return tuple(one.case for one in ordered[: self._effort.most])

    def _try(self, case: RunCase, *, is_kept: bool) -> None:
        ran, reached = self._run(case)
        new, rare = (
            reached & ~self.reached,
            self._program.count_new_edges(reached) & ~self._taken[-1],
        )
        if (
            ran is None
            or not (new or rare or is_kept)
            or self._unsound[new | rare] >= _MOST_UNSOUND
        ):
            return
        if not self._is_sound(case, ran, reached):
            self._unsound[new | rare] += 1
            return
        first = self._program.count_new_edges(reached) & ~self._taken[0]
        self._take(reached)
        self._found.append(_Found(case, first.bit_count(), rare.bit_count(), new.bit_count()))
        if new or rare:
            self._parents.append(case)

    def _take(self, reached: int) -> None:
        """Count one more input for every edge of `reached`."""
        self.reached |= reached
        edges = self._program.count_new_edges(reached)
        for number, taken in enumerate(self._taken):
            self._taken[number] = taken | edges
            edges &= taken

    def _run(self, case: RunCase) -> tuple[RunReport | None, int]:
        """Return what the program did, None where it did not end by itself, and what it reached."""
        ran, reached = self._program.run(case, seconds=self._effort.seconds_each)
        size = len(ran.stdout) + len(ran.stderr) + sum(map(len, ran.files.values()))
        is_ended = ran.stopped_by is None and ran.exit_status >= 0 and size <= _MOST_OUTPUT
        return (ran if is_ended else None), reached

    def _is_sound(self, case: RunCase, ran: RunReport, reached: int) -> bool:
        again, as_before = self._program.run(case, seconds=self._effort.seconds_each)
        seconds = self._effort.seconds_each
        return (
            as_before == reached
            and (again.exit_status, again.stdout, again.stderr, again.files)
            == (ran.exit_status, ran.stdout, ran.stderr, ran.files)
            and self._judge.is_sound(case, ran, seconds=seconds)
        )
