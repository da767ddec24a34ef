# SPDX-License-Identifier: MIT
"""The generated inputs for one program, cached so that every check uses the same inputs.

Known inputs are mutated repeatedly. An input that takes a new edge, or takes an edge more often, is
mutated in turn. So is one that takes a rare edge, because reaching a place once does not mean that
a wrong value would show there. The inputs kept are sound: the unoptimised program terminates on
them by itself, is deterministic and does nothing undefined.
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
"""The number of unsound inputs with the same coverage after which further ones are skipped."""
_ENOUGH = 8
"""The number of inputs that take an edge before the edge no longer counts as rare."""
_ANYWAY = 25
"""One in this many inputs is kept without new coverage, because its values also differ."""
_MOST_KEPT = 64


@dataclass(frozen=True, slots=True)
class Effort:
    """Limits on the generation of inputs."""

    tries: int = 1000
    """The number of inputs to generate."""
    seconds: float = 300.0
    """The time limit in seconds: ten times the time that most programs take on an idle machine."""
    most: int = 192
    """The most inputs to keep."""
    seconds_each: float = 2.0
    """The time limit of one run, in seconds."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Corpus:
    """The generated inputs of one program and their coverage."""

    cases: tuple[RunCase, ...]
    """The sound inputs, those with the most coverage first."""
    reached: int
    """The number of edges of the unoptimised program that these or the known inputs take."""
    reached_before: int
    """The number of edges that the known inputs take."""
    edges: int
    """The total number of edges."""
    tried: int
    knows_source: bool
    """True if undefined behaviour was checked; see `SoundnessJudge`."""

    @property
    def summary(self) -> str:
        """A sentence on the coverage of the inputs."""
        return (
            f"{len(self.cases)} of {self.tried} generated inputs; with the known inputs, they take "
            f"{self.reached} of {self.edges} edges, the known inputs alone {self.reached_before}"
        )


def make_corpus(benchmark: Benchmark, effort: Effort | None = None) -> Corpus:
    """Return the generated inputs of `benchmark`, from the cache if possible.

    Raises `BenchmarkInitError` if the program cannot be built with the sanitizers.
    """
    effort = effort or Effort()
    spec = benchmark.run
    assert spec is not None
    known_cases = _list_known(spec)
    key = _corpus_key(benchmark, spec, known_cases, effort)
    with _locks(key):
        corpus = _memory.get(key) or _load_corpus(key)
        if corpus is None:
            corpus = _make_corpus(benchmark, spec, known_cases, effort)
            if corpus.tried == effort.tries:  # do not cache a corpus cut short by the time limit
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


def _corpus_key(benchmark: Benchmark, spec: RunSpec, cases: list[RunCase], effort: Effort) -> str:
    tools = (tool_identity(clang_command()[0]), tool_identity(find_opt()))
    untimed = replace(effort, seconds=0.0)  # only complete corpora are cached
    digest = sha256(repr((_CORPUS_VERSION, untimed, tools, spec.reference, spec.link)).encode())
    digest.update(benchmark.contents)
    digest.update(repr(tuple(benchmark.sources)).encode())
    digest.update(pack_run(RunSpec(cases)))
    return digest.hexdigest()


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
    benchmark: Benchmark, spec: RunSpec, cases: list[RunCase], effort: Effort
) -> Corpus:
    original = benchmark
    if spec.reference is not None:
        original = Benchmark(benchmark.uri, spec.reference, sources=benchmark.sources)
    with (
        build_counted(original.contents, spec.link) as program,
        build_judge(original, spec.link) as judge,
    ):
        hunt = _Hunt(program, judge, effort)
        before = hunt.begin(cases)
        tried = hunt.go_on(CaseMutator(cases, program.tokens, effort.seed))
        return Corpus(
            hunt.best(),
            program.count(hunt.reached),
            program.count(before),
            program.edges,
            tried,
            judge.knows_source,
        )


@dataclass(frozen=True, slots=True)
class _SoundInput:
    """A sound input and the coverage that it added."""

    case: RunCase
    new_edges: int
    rare_edges: int
    new_steps: int

    def worth(self) -> tuple[int, int, int]:
        return self.new_edges, self.rare_edges, self.new_steps


class _Hunt:
    """A search for inputs that add coverage."""

    def __init__(self, program: Counted, judge: SoundnessJudge, effort: Effort) -> None:
        self.reached = 0
        self._program, self._judge, self._effort = program, judge, effort
        self._parents: list[RunCase] = []
        self._found: list[_SoundInput] = []
        self._unsound: Counter[int] = Counter()
        self._taken = [0] * _ENOUGH  # edges taken by at least one, two, three ... inputs
        self._deadline = time.monotonic() + effort.seconds

    def begin(self, cases: list[RunCase]) -> int:
        """Run the known inputs and return their coverage; keep those that write to stderr.

        Known inputs record no standard error; it is compared only for generated inputs.
        """
        for case in cases:
            if time.monotonic() > self._deadline:
                break
            report, reached = self._run(case)
            if report is None:
                continue
            if reached & ~self.reached or len(self._parents) < 2:
                self._parents.append(case)
            if report.stderr and self._is_sound(case, report, reached):
                self._found.append(_SoundInput(replace(case, expected=None), 0, 0, 1))
            self._take(reached)
        return self.reached

    def go_on(self, mutator: CaseMutator) -> int:
        """Generate inputs up to the limit on number or time; return the number tried."""
        for number in range(self._effort.tries):
            if not self._parents or time.monotonic() > self._deadline:
                return number
            draw = Draw(f"parent {self._effort.seed} {number}")
            parents = self._parents[-len(self._parents) // 3 :] if draw.below(2) else self._parents
            self._try(mutator.mutate(draw.choice(parents), number), is_kept=number % _ANYWAY == 0)
        return self._effort.tries

    def best(self) -> tuple[RunCase, ...]:
        """Return the inputs that add the most coverage."""
        ordered = sorted(self._found, key=_SoundInput.worth, reverse=True)
        return tuple(item.case for item in ordered[: self._effort.most])

    def _try(self, case: RunCase, *, is_kept: bool) -> None:
        report, reached = self._run(case)
        new, rare = (
            reached & ~self.reached,
            self._program.count_new_edges(reached) & ~self._taken[-1],
        )
        if (
            report is None
            or not (new or rare or is_kept)
            or self._unsound[new | rare] >= _MOST_UNSOUND
        ):
            return
        if not self._is_sound(case, report, reached):
            self._unsound[new | rare] += 1
            return
        first = self._program.count_new_edges(reached) & ~self._taken[0]
        self._take(reached)
        self._found.append(_SoundInput(case, first.bit_count(), rare.bit_count(), new.bit_count()))
        if new or rare:
            self._parents.append(case)

    def _take(self, reached: int) -> None:
        """Count one more input for every edge in `reached`."""
        self.reached |= reached
        edges = self._program.count_new_edges(reached)
        for number, previous in enumerate(self._taken):
            self._taken[number] = previous | edges
            edges &= previous

    def _run(self, case: RunCase) -> tuple[RunReport | None, int]:
        """Return the report of a run, None if it did not end by itself, and the coverage."""
        report, reached = self._program.run(case, seconds=self._effort.seconds_each)
        size = len(report.stdout) + len(report.stderr) + sum(map(len, report.files.values()))
        is_ended = report.stopped_by is None and report.exit_status >= 0 and size <= _MOST_OUTPUT
        return (report if is_ended else None), reached

    def _is_sound(self, case: RunCase, report: RunReport, reached: int) -> bool:
        again, as_before = self._program.run(case, seconds=self._effort.seconds_each)
        seconds = self._effort.seconds_each
        return (
            as_before == reached
            and (again.exit_status, again.stdout, again.stderr, again.files)
            == (report.exit_status, report.stdout, report.stderr, report.files)
            and self._judge.is_sound(case, report, seconds=seconds)
        )
