# SPDX-License-Identifier: MIT
"""Explain why a tuned binary is smaller: the gain from each decision, and the sizes of functions.

Decisions interact, so gains are measured on the final binary and never summed up from the search.
"""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from compiler_gym.builds import function_sizes
from compiler_gym.errors import CompilerGymError
from compiler_gym.tools.tune.builds import LinkedFunction, read_linked_functions
from compiler_gym.tools.tune.tuner import Found, FunctionSize, Tuner, TuningSubject

_MOST = 16
"""The number of decisions that are measured; a plan lists the most important ones first."""
_CLONE = re.compile(r"(?:\.(?:[a-z_]+(?:\.\d+)?|\d+))+$")
"""The suffix that compilers append to the name of a cloned function."""


def explain_result(found: Found, tuner: Tuner, subject: TuningSubject) -> Found:
    """Return `found` with meanings and gains of its decisions, and sizes of its functions."""
    functions = sizes_by_function(found)
    steps = (f"pass {step}" for step in tuner.steps(found.plan))
    names = (*found.plan.decisions(), *steps)
    found = replace(found, meanings={name: tuner.meaning(name) for name in names})
    if not subject.goal.counts_bytes or subject.allowance.is_stopped():
        return replace(found, functions=functions)
    return replace(found, functions=functions, gains=measure_gains(found, tuner, subject))


def measure_gains(found: Found, tuner: Tuner, subject: TuningSubject) -> dict[str, int]:
    """Return the number of bytes that the binary grows without each decision of its plan.

    Measurements of the search are reused; linker options come first. A decision is omitted if the
    binary does not build without it, or if the time is up.
    """
    size = subject.measure.of(found.path)
    decisions = [name for name in found.plan.decisions() if name not in found.gains]
    decisions.sort(key=lambda name: not name.startswith("linker "))

    def gain(number: int) -> int | None:
        if subject.allowance.is_late:
            return None
        plan = found.plan.without(decisions[number])
        folder = subject.folder / "without" / str(number)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = tuner.build(subject.binary, plan, folder, jobs=1)
        except CompilerGymError:
            return None
        return subject.measure.of(path) - size

    numbers = range(len(decisions[:_MOST]))
    with ThreadPoolExecutor(subject.jobs) as pool:
        measured = zip(decisions, pool.map(gain, numbers), strict=False)
        return {**found.gains, **{name: gain for name, gain in measured if gain is not None}}


def sizes_by_function(found: Found) -> tuple[FunctionSize, ...]:
    """Return the functions of the baseline and of the tuned binary, the largest first."""
    rivals = list(found.rivals.values())
    if not rivals:
        return ()
    before, after = read_linked_functions(rivals[-1]), read_linked_functions(found.path)
    if not before or not after:
        return ()
    sources = _sources(found.objects, [read_linked_functions(path) for path in rivals])
    old, new = _sum_sizes(before), _sum_sizes(after)
    rows = [
        FunctionSize(name, sources.get(name, ""), old.get(name, 0), new.get(name, 0))
        for name in old.keys() | new.keys()
    ]
    return tuple(sorted(rows, key=lambda row: (-max(row.before, row.after), row.name)))


def _sources(
    objects: Mapping[str, Path], links: Sequence[Sequence[LinkedFunction]]
) -> dict[str, str]:
    """Return the source of each function; empty if two sources define one of the same name.

    The linker's map names the object of a function; without a map, the objects' symbols are used.
    """
    by_object = {str(path): source for source, path in objects.items()}
    pairs = [(f.name, by_object[f.file]) for each in links for f in each if f.file in by_object]
    if not pairs:
        pairs = [
            (name, source)
            for source, path in objects.items()
            if path.is_file()
            for name in function_sizes(path)
        ]
    sources: dict[str, str] = {}
    for name, source in ((_plain(name), source) for name, source in pairs):
        sources[name] = source if sources.get(name, source) == source else ""
    return sources


def _sum_sizes(functions: Sequence[LinkedFunction]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for function in functions:
        name = _plain(function.name)
        sizes[name] = sizes.get(name, 0) + function.size
    return sizes


def _plain(name: str) -> str:
    return _CLONE.sub("", name)
