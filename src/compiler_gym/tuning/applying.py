# SPDX-License-Identifier: MIT
"""Apply a plan in a project's normal build: `make CC="compiler-gym cc --plan tuned.toml"`.

The real compiler has run already. What it compiled is remembered by the contents of the
object; what it linked is made again as the plan says. Nothing here may fail a build: what
cannot be applied is said, and the compiler's own file stays.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from compiler_gym.builds import (
    Binary,
    CompilerCommand,
    Mode,
    Unit,
    inputs_of,
)
from compiler_gym.errors import CompilerGymError
from compiler_gym.files import scratch_directory, write_whole
from compiler_gym.paths import cache_path
from compiler_gym.tuning.goal import Goal
from compiler_gym.tuning.measure import Measure
from compiler_gym.tuning.measuring import put
from compiler_gym.tuning.plan import BinaryPlan, Plan, sources_of
from compiler_gym.tuning.tuner import Tuner

__all__ = ["apply_plan", "changed_sources"]

_SHOWN = 3


def apply_plan(
    plan: Plan, tuner: Tuner, words: Sequence[str], cwd: Path, *, say: Callable[[str], None]
) -> None:
    """Do for the command `words`, which has just been run in `cwd`, what `plan` says.

    `say` is told what was applied and what was not, a line each.
    """
    command = CompilerCommand.parse(words, cwd)
    if command.mode is Mode.OBJECT:
        for source in command.sources:
            _remember(command, command.output_of(source), source.name)
    elif command.mode is Mode.PROGRAM and "-r" not in command.link_flags:
        path = command.cwd / (command.output or "a.out")
        chosen, root = _planned(plan, path)
        if chosen is not None:
            try:
                binary = Binary(
                    chosen.name, path, command, tuple(inputs_of(command, _origin)), root
                )
                _make(binary, chosen, plan, tuner, say)
            except (CompilerGymError, OSError) as error:
                say(f"{chosen.name} stays as the compiler made it: {error}")


def changed_sources(binary: Binary, plan: BinaryPlan) -> list[str]:
    """Return the sources of `binary` that are not as they were when the plan was made."""
    before = {source.path: source.sha256 for source in plan.sources}
    now = {source.path: source.sha256 for source in sources_of(binary, binary.units)}
    changed = [name for name, digest in before.items() if now.get(name, digest) != digest]
    return sorted([*changed, *(now.keys() - before.keys() if before else ())])


def _make(
    binary: Binary, chosen: BinaryPlan, plan: Plan, tuner: Tuner, say: Callable[[str], None]
) -> None:
    if not binary.units:
        say(f"{chosen.name}: no object of it was compiled here: build from the start")
        return
    if binary.unknown:
        names = ", ".join(path.name for path in binary.unknown[:_SHOWN])
        say(f"{chosen.name}: {names} were not compiled here, and stay as they are")
    changed = changed_sources(binary, chosen)
    if changed:
        listed = ", ".join(changed[:_SHOWN]) + (", ..." if len(changed) > _SHOWN else "")
        say(
            f"{chosen.name}: {len(changed)} of {len(binary.units)} sources changed since the "
            f"plan was made ({listed}): the plan is applied, and tuning again may win more"
        )
    if plan.compiler != tuner.version:
        say(f"the plan was made with {plan.compiler}, this is {tuner.version}")
    with scratch_directory("tuning") as folder:
        made = tuner.build(binary, chosen, Path(folder), jobs=1)
        measure = Measure(plan.measure).with_symbols
        if Goal(plan.goal).counts_bytes and measure.of(made) > measure.of(binary.path):
            say(f"{chosen.name} stays as the compiler made it: the plan makes it larger now")
            return
        put(made, binary.path)


def _planned(plan: Plan, path: Path) -> tuple[BinaryPlan | None, Path]:
    """Return the plan for what is linked at `path`, and the root of its project."""
    for binary in plan.binaries:
        parts = Path(binary.name).parts
        if path.parts[-len(parts) :] == parts:
            return binary, Path(*path.parts[: -len(parts)])
    return plan.binary(path.name), path.parent


def _remember(command: CompilerCommand, output: Path, source: str) -> None:
    try:
        line = {"words": command.words, "cwd": str(command.cwd), "source": source}
        write_whole(_kept_at(_of(output)), json.dumps(line).encode("utf-8", "surrogateescape"))
    except OSError:
        pass  # without a cache the object is one of unknown origin


def _origin(digest: str) -> tuple[Unit, ...]:
    try:
        kept = json.loads(_kept_at(digest).read_bytes())
        return tuple(_units(kept["words"], Path(kept["cwd"]), kept["source"]))
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def _units(words: Sequence[str], cwd: Path, name: str) -> Iterator[Unit]:
    command = CompilerCommand.parse(words, cwd)
    for source in command.sources:
        if source.name == name and (cwd / name).is_file():
            yield Unit(command, source)


def _kept_at(digest: str) -> Path:
    return cache_path("tuning-objects") / digest[:2] / f"{digest[2:]}.json"


def _of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
