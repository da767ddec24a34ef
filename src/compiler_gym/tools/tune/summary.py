# SPDX-License-Identifier: MIT
"""What a tuning found, as plain data: the terminal, JSON and the page show the same numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from compiler_gym.builds import function_sizes
from compiler_gym.tools.tune.builds import bytes_by_file
from compiler_gym.tools.tune.goal import Goal
from compiler_gym.tools.tune.handing_over import FRONT, Result
from compiler_gym.tools.tune.meaning import Meaning
from compiler_gym.tools.tune.measure import Measure
from compiler_gym.tools.tune.request import Request
from compiler_gym.tools.tune.tuner import Found, FunctionSize

__all__ = [
    "BinarySummary",
    "FrontRow",
    "ReportedDecision",
    "SourceSize",
    "TuningSummary",
    "share",
    "write_summary",
]

TUNED = "tuned"
"""The name that the tuned build has among the sizes."""


@dataclass(frozen=True, slots=True)
class ReportedDecision:
    """One decision of a plan."""

    name: str
    gain: int | None
    """By how many bytes the file grows without it, all others kept; None if not measured."""
    meaning: str = ""
    """What it does, a sentence."""
    link: str = ""
    """Where more is written."""


@dataclass(frozen=True, slots=True)
class SourceSize:
    """The functions of one source."""

    path: str
    """Empty for start-up files, libraries, and functions that no object has by itself."""
    alone: int
    """Bytes of its object's code in a plain build."""
    before: int
    """Bytes in the fair rival."""
    after: int


@dataclass(frozen=True, slots=True)
class FrontRow:
    """One build of a front."""

    name: str
    file: str
    """Where it lies, from the folder of the tuning."""
    plan: str
    """The plan that makes it, from that folder."""
    code: int
    """Bytes of machine code."""
    speed: Mapping[str, float]
    """``speedup``, ``low`` and ``high`` against the fair rival."""
    is_recommended: bool


@dataclass(frozen=True, slots=True)
class BinarySummary:
    """One linked file."""

    name: str
    file: str
    """Where the tuned one lies."""
    sizes: Mapping[str, Mapping[str, int]]
    """Bytes of ``text``, ``loaded`` and ``total``, and as ``compressed`` where that is the
    measure: the rivals first, the fair one last of them, then ``tuned``."""
    rival: str
    """The fair rival."""
    is_better: bool
    """True if it is better than the fair rival, by the goal."""
    tried: int
    """Compilations that were measured."""
    passes: str
    """What optimises it, as the compiler writes it."""
    decisions: tuple[ReportedDecision, ...]
    taken_back: tuple[str, ...]
    speed: Mapping[str, float]
    sources: tuple[SourceSize, ...]
    functions: tuple[FunctionSize, ...]
    notes: tuple[str, ...] = ()
    """What the user should be told, a sentence each."""
    steps: Mapping[str, str] = field(default_factory=dict[str, str])
    """What each of the passes does, a sentence."""
    measure: Measure = Measure.LOADED
    """Which of the bytes count."""
    front: tuple[FrontRow, ...] = ()
    """Where speed and size both count: builds from smallest to fastest."""

    @property
    def not_measured(self) -> tuple[str, ...]:
        """The decisions that were not left out alone, where others were or bytes are the goal."""
        names = tuple(decision.name for decision in self.decisions if decision.gain is None)
        return names if not self.speed or len(names) < len(self.decisions) else ()

    @property
    def change(self) -> str:
        """How much smaller the tuned file is than the fair rival, by the measure."""
        key = self.measure.key
        return share(self.sizes[self.rival][key], self.sizes[TUNED][key])


@dataclass(frozen=True, slots=True)
class TuningSummary:
    """One tuning."""

    compiler: str
    goal: str
    build: tuple[str, ...]
    run: str | None
    check: str | None
    seconds: float | None
    compilations: int | None
    seed: int
    folder: str
    """Where everything lies."""
    binaries: tuple[BinarySummary, ...]
    others: tuple[str, ...]
    """Linked files of the build that were not tuned."""
    is_interrupted: bool
    rebuild: str = ""
    """A shell command with which the project's own build made the same bytes in a copy."""

    @property
    def is_better(self) -> bool:
        """True if anything became better."""
        return any(binary.is_better for binary in self.binaries)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**msgspec.to_builtins(self), "is_better": self.is_better}


def write_summary(
    request: Request,
    results: Sequence[Result],
    *,
    compiler: str,
    others: Sequence[str],
    is_interrupted: bool,
    rebuild: str = "",
) -> TuningSummary:
    """Return what there is to say of `results`."""
    return TuningSummary(
        compiler=compiler, goal=request.goal, build=request.build, run=request.run,
        check=request.check, seconds=request.seconds_allowed,
        compilations=request.compilations, seed=request.seed, folder=str(request.output),
        binaries=tuple(_binary(result, request) for result in results), others=tuple(others),
        is_interrupted=is_interrupted, rebuild=rebuild,
    )  # fmt: skip


def share(before: float, after: float) -> str:
    """Return how much smaller `after` is than `before`, as people write it.

    >>> share(200, 150), share(200, 210), share(200, 200), share(0, 5)
    ('25.0 % smaller', '5.0 % larger', 'the same', '')
    """
    if not before:
        return ""
    if before == after:
        return "the same"
    percent = abs(1 - after / before) * 100
    return f"{percent:.1f} % {'smaller' if after < before else 'larger'}"


def _binary(result: Result, request: Request) -> BinarySummary:
    found = result.found
    rival = [name for name in result.sizes if name != TUNED][-1]
    known = found.meanings
    decisions = tuple(
        ReportedDecision(name, found.gains.get(name), *astuple(known.get(name, Meaning(""))))
        for name in found.plan.decisions()
    )
    steps = {
        name.removeprefix("pass "): meaning.sentence
        for name, meaning in known.items()
        if name.startswith("pass ")
    }
    return BinarySummary(
        name=result.binary.name, file=str(Path("bin") / result.binary.name), sizes=result.sizes,
        rival=rival, is_better=_is_better(result, rival, request), tried=found.tried,
        passes=found.plan.passes, steps=steps, decisions=decisions, taken_back=result.taken_back,
        speed=result.speed, sources=_sources(found), functions=found.functions, notes=found.notes,
        measure=request.measure, front=_front(result),
    )  # fmt: skip


def _front(result: Result) -> tuple[FrontRow, ...]:
    return tuple(
        FrontRow(
            build.name, f"{FRONT}/{build.name}/{result.binary.name}", f"{FRONT}/{build.name}.toml",
            build.code, build.speed, build.path == result.found.path,
        )
        for build in result.found.front
    )  # fmt: skip


def _is_better(result: Result, rival: str, request: Request) -> bool:
    key = request.measure.key if request.goal.counts_bytes else "text"
    is_smaller = result.sizes[TUNED][key] < result.sizes[rival][key]
    if request.goal.counts_bytes:
        return is_smaller
    if request.goal is Goal.SPEED:
        return result.speed.get("low", 0.0) > 1
    return is_smaller and result.speed.get("high", result.speed.get("speedup", 0.0)) >= 1


def _sources(found: Found) -> tuple[SourceSize, ...]:
    sums: dict[str, tuple[int, int]] = dict.fromkeys(found.objects, (0, 0))
    for function in found.functions:
        before, after = sums.get(function.source, (0, 0))
        sums[function.source] = before + function.before, after + function.after
    if not found.functions or not found.objects:
        return ()
    links = (bytes_by_file(path) for path in found.rivals.values())
    files = {str(path) for path in found.objects.values()}
    plain = next((link for link in links if files & link.keys()), None)
    if plain is None:
        made = (path for path in found.objects.values() if path.is_file())
        plain = {str(path): sum(function_sizes(path).values()) for path in made}
    rows = [
        SourceSize(path, plain.get(str(found.objects.get(path)), 0), *both)
        for path, both in sums.items()
    ]
    return tuple(sorted(rows, key=lambda row: (not row.path, -row.alone, row.path)))
