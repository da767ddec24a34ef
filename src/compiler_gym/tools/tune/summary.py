# SPDX-License-Identifier: MIT
"""The results of a tuning as plain data, for the terminal, JSON and the HTML page alike."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from compiler_gym.builds import function_sizes
from compiler_gym.tools.tune.builds import bytes_by_file
from compiler_gym.tools.tune.goal import Measure
from compiler_gym.tools.tune.handing_over import Result
from compiler_gym.tools.tune.plan import Meaning
from compiler_gym.tools.tune.request import Request
from compiler_gym.tools.tune.tuner import Found, FunctionSize

TUNED = "tuned"
"""The label of the tuned build among the sizes."""


@dataclass(frozen=True, slots=True)
class ReportedDecision:
    """One decision of a plan."""

    name: str
    gain: int | None
    """The bytes by which the file grows without it, with all others kept; None if not measured."""
    meaning: str = ""
    """The meaning, in one sentence."""
    link: str = ""
    """The URL of its documentation."""


@dataclass(frozen=True, slots=True)
class SourceSize:
    """The code size of one source."""

    path: str
    """The path of the source; empty for start-up files, libraries and unknown functions."""
    alone: int
    """Bytes of code in its object in an ordinary build."""
    before: int
    """Bytes in the baseline."""
    after: int


@dataclass(frozen=True, slots=True)
class BinarySummary:
    """The results for one linked file."""

    name: str
    file: str
    """The path of the tuned file, from the output folder."""
    sizes: Mapping[str, Mapping[str, int]]
    """Bytes of ``text``, ``loaded`` and ``total``, and ``compressed`` if that is the measure, by
    label: first the rivals with the baseline as the last, then ``tuned``."""
    rival: str
    """The label of the baseline."""
    is_better: bool
    """True if it is better than the baseline, by the goal."""
    tried: int
    """The number of compilations that were measured."""
    passes: str
    """The optimisation passes, in the compiler's syntax."""
    decisions: tuple[ReportedDecision, ...]
    taken_back: tuple[str, ...]
    speed: Mapping[str, float]
    sources: tuple[SourceSize, ...]
    functions: tuple[FunctionSize, ...]
    notes: tuple[str, ...] = ()
    """Remarks for the user, one sentence each."""
    steps: Mapping[str, str] = field(default_factory=dict[str, str])
    """The meaning of each pass, in one sentence."""
    measure: Measure = Measure.LOADED
    """The size to minimise."""

    @property
    def not_measured(self) -> tuple[str, ...]:
        """The decisions without a measured gain; none if gains were not measured at all."""
        names = tuple(decision.name for decision in self.decisions if decision.gain is None)
        return names if not self.speed or len(names) < len(self.decisions) else ()

    @property
    def change(self) -> str:
        """The change from the baseline to the tuned file, by the measure."""
        key = self.measure.key
        return share(self.sizes[self.rival][key], self.sizes[TUNED][key])


@dataclass(frozen=True, slots=True)
class TuningSummary:
    """The results of one tuning."""

    compiler: str
    goal: str
    build: tuple[str, ...]
    run: str | None
    check: str | None
    seconds: float | None
    compilations: int | None
    seed: int
    folder: str
    """The output folder."""
    binaries: tuple[BinarySummary, ...]
    others: tuple[str, ...]
    """Linked files of the build that were not tuned."""
    is_interrupted: bool
    rebuild: str = ""
    """A shell command that builds the same bytes with the project's own build, if one is known."""

    @property
    def is_better(self) -> bool:
        """True if any binary is better."""
        return any(binary.is_better for binary in self.binaries)

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON values."""
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
    """Return the summary of `results`."""
    return TuningSummary(
        compiler=compiler,
        goal=request.goal,
        build=request.build,
        run=request.run,
        check=request.check,
        seconds=request.seconds_allowed,
        compilations=request.compilations,
        seed=request.seed,
        folder=str(request.output),
        binaries=tuple(_binary(result, request) for result in results),
        others=tuple(others),
        is_interrupted=is_interrupted,
        rebuild=rebuild,
    )


def share(before: float, after: float) -> str:
    """Return the change from `before` to `after` as text.

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
    meanings = found.meanings
    decisions = tuple(
        ReportedDecision(name, found.gains.get(name), *astuple(meanings.get(name, Meaning(""))))
        for name in found.plan.decisions()
    )
    steps = {
        name.removeprefix("pass "): meaning.sentence
        for name, meaning in meanings.items()
        if name.startswith("pass ")
    }
    return BinarySummary(
        name=result.binary.name,
        file=str(Path("bin") / result.binary.name),
        sizes=result.sizes,
        rival=rival,
        is_better=_is_better(result, rival, request),
        tried=found.tried,
        passes=found.plan.passes,
        steps=steps,
        decisions=decisions,
        taken_back=result.taken_back,
        speed=result.speed,
        sources=_sources(found),
        functions=found.functions,
        notes=found.notes,
        measure=request.measure,
    )


def _is_better(result: Result, rival: str, request: Request) -> bool:
    if not request.goal.counts_bytes:
        return result.speed.get("low", 0.0) > 1
    key = request.measure.key
    return result.sizes[TUNED][key] < result.sizes[rival][key]


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
        paths = (path for path in found.objects.values() if path.is_file())
        plain = {str(path): sum(function_sizes(path).values()) for path in paths}
    rows = [
        SourceSize(path, plain.get(str(found.objects.get(path)), 0), *both)
        for path, both in sums.items()
    ]
    return tuple(sorted(rows, key=lambda row: (not row.path, -row.alone, row.path)))
