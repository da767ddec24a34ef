# SPDX-License-Identifier: MIT
"""What an observation looks like and costs, for the generated pages.

Values are those of a bundled program, shortened, and only where every machine has the
same. Costs are the figures that `python -m benchmarks observations --store` kept.
"""

from collections.abc import Iterator
from typing import Any

from benchmarks import store
from compiler_gym.core import CompilerEnv
from compiler_gym.errors import ObservationError

__all__ = ["PROGRAMS", "costs", "examples", "promises"]

PROGRAMS = {"llvm": "benchmark://cbench-v1/crc32"}
"""The program whose values are shown, by compiler."""

_SHOWN = 60
_SIZES = ("1,000", "10,000")


def examples(env: CompilerEnv, program: str) -> dict[str, str]:
    """Return the value of each observation on `program` at reset, as short text."""
    env.reset(benchmark=program)
    found: dict[str, str] = {}
    for name, spec in env.observation.spaces.items():
        if spec.platform_dependent or not spec.deterministic:
            continue
        try:
            found[name] = f"`{_short(env.observation[name])}`"
        except ObservationError:
            found[name] = ""
    return found


def costs() -> dict[str, str]:
    """Return what a look through an environment costs at about 1,000 and 10,000 instructions."""
    figures = {figure.name: figure.value for figure in store.read("observations").figures}
    names = {name.rpartition(": ")[2] for name in figures if ", environment: " in name}
    return {name: " / ".join(_times(figures, name)) for name in names}


def _times(figures: dict[str, float], name: str) -> Iterator[str]:
    for size in _SIZES:
        micros = figures.get(f"{size} instructions, environment: {name}")
        if micros is not None:
            yield _time(micros)


def _time(micros: float) -> str:
    value, unit = (micros / 1000, "ms") if micros >= 1000 else (micros, "us")
    return f"{float(f'{value:.3g}'):g} {unit}"


def promises() -> list[tuple[str, str, str]]:
    """Return what the engine was promised to need: the figure, what was measured, the promise."""
    return [
        (
            figure.name.replace(", engine", ""),
            _time(figure.value) if figure.unit == "us" else f"{figure.value:.2f} x",
            _time(figure.bound) if figure.unit == "us" else f"{figure.bound:g} x",
        )
        for figure in store.read("observations").figures
        if figure.bound is not None
    ]


def _short(value: Any) -> str:
    if getattr(value, "shape", ()):
        shape = ", ".join(map(str, value.shape))
        first = ", ".join(f"{number:.4g}" for number in value.ravel()[:4])
        return f"{value.dtype}[{shape}]: {first}" + (", ..." if value.size > 4 else "")
    if hasattr(value, "items"):
        return _cut("{" + ", ".join(f"{key}: {_short(item)}" for key, item in value.items()) + "}")
    if isinstance(value, str):
        return _cut(value.replace("\n", " "))
    if issubclass(type(value), (list, tuple)):
        return _cut(f"{len(value)} of {value[0]!r}" if value else "none")
    return _cut(str(value))


def _cut(text: str) -> str:
    plain = " ".join(text.replace("`", "'").split())
    return plain if len(plain) <= _SHOWN else plain[: _SHOWN - 3] + "..."
