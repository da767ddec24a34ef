# SPDX-License-Identifier: MIT
"""Apply a plan in a project's normal build: `make CC="compiler-gym-cc --plan tuned.toml"`.

The compiled driver has run the real compiler already, and remembers by the contents of an object
how that was compiled. What is linked is made again here as the plan says. Nothing may fail a
build: what cannot be applied is said, and the compiler's own file stays.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from compiler_gym.builds import CompilerCommand, Mode
from compiler_gym.errors import CompilerGymError
from compiler_gym.files import cache_path, scratch_directory
from compiler_gym.sandbox import build_variables
from compiler_gym.tools.tune.builds import Binary, Unit, list_inputs, list_objects, with_own_debug
from compiler_gym.tools.tune.goal import Goal
from compiler_gym.tools.tune.measure import Measure
from compiler_gym.tools.tune.measuring import put
from compiler_gym.tools.tune.plan import BinaryPlan, BuildPlan, list_sources
from compiler_gym.tools.tune.tuner import Tuner

__all__ = ["apply_plan", "driver_facts", "list_changed_sources"]

_SHOWN = 3
_END = b"\0"
"""Of a word, in what the driver reads and writes."""


def driver_facts(plan: BuildPlan, compilers: Sequence[Sequence[str]]) -> bytes:
    """Return what the compiled driver needs to know of `plan`: lists of words.

    They are the `compilers` of C and of C++, the names of what the plan is for, the variables of a
    build, and the folder where it remembers objects; an empty word ends each list.
    """
    names = sorted({Path(binary.name).name for binary in plan.binaries})
    variables = [f"{name}={value}" for name, value in build_variables({}).items()]
    lists = (*compilers, names, variables, [str(_objects())])
    return b"".join(os.fsencode(word) + _END for each in lists for word in (*each, ""))


def apply_plan(
    plan: BuildPlan, tuner: Tuner, words: Sequence[str], cwd: Path, *, say: Callable[[str], None]
) -> None:
    """Do for the command `words`, which has just linked something in `cwd`, what `plan` says.

    `say` is told what was applied and what was not, a line each.
    """
    command = CompilerCommand.parse(words, cwd)
    if command.mode is Mode.PROGRAM and "-r" not in command.link_flags:
        path = command.cwd / (command.output or "a.out")
        chosen, root = _find_plan(plan, path)
        if chosen is not None:
            try:
                binary = Binary(
                    chosen.name, path, command, tuple(list_inputs(command, _origin)), root
                )
                _make(binary, chosen, plan, tuner, say)
            except (CompilerGymError, OSError) as error:
                say(f"{chosen.name} stays as the compiler made it: {error}")


def list_changed_sources(binary: Binary, plan: BinaryPlan) -> list[str]:
    """Return the sources of `binary` that are not as they were when the plan was made."""
    before = {source.path: source.sha256 for source in plan.sources}
    now = {source.path: source.sha256 for source in list_sources(binary, binary.units)}
    changed = [name for name, digest in before.items() if now.get(name, digest) != digest]
    return sorted([*changed, *(now.keys() - before.keys() if before else ())])


def _make(
    binary: Binary, chosen: BinaryPlan, plan: BuildPlan, tuner: Tuner, say: Callable[[str], None]
) -> None:
    if not binary.units:
        say(f"{chosen.name}: no object of it was compiled here: build from the start")
        return
    if binary.unknown:
        names = ", ".join(path.name for path in binary.unknown[:_SHOWN])
        say(f"{chosen.name}: {names} were not compiled here, and stay as they are")
    changed = list_changed_sources(binary, chosen)
    if changed:
        listed = ", ".join(changed[:_SHOWN]) + (", ..." if len(changed) > _SHOWN else "")
        say(
            f"{chosen.name}: {len(changed)} of {len(binary.units)} sources changed since the "
            f"plan was made ({listed}): the plan is applied, and tuning again may win more"
        )
    if plan.compiler != tuner.version:
        say(f"the plan was made with {plan.compiler}, this is {tuner.version}")
    with scratch_directory("tuning") as folder:
        made = tuner.build(with_own_debug(binary), chosen, Path(folder), jobs=1)
        measure = Measure(plan.measure).with_symbols
        if Goal(plan.goal).counts_bytes and measure.of(made) > measure.of(binary.path):
            say(f"{chosen.name} stays as the compiler made it: the plan makes it larger now")
            return
        put(made, binary.path)


def _find_plan(plan: BuildPlan, path: Path) -> tuple[BinaryPlan | None, Path]:
    """Return the plan for what is linked at `path`, and the root of its project."""
    for binary in plan.binaries:
        parts = Path(binary.name).parts
        if path.parts[-len(parts) :] == parts:
            return binary, Path(*path.parts[: -len(parts)])
    chosen = plan.binary(path.name)
    sources = () if chosen is None else chosen.sources
    # Another build system puts the file elsewhere: the root is where the sources are.
    roots = (root for root in path.parents if all((root / s.path).is_file() for s in sources))
    return chosen, next(roots, path.parent)


def _origin(digest: str) -> tuple[Unit, ...]:
    """Return the source of the object whose contents have this SHA-256, as the driver noted it."""
    try:
        kept = (_objects() / digest[:2] / digest[2:]).read_bytes()
        folder, made, *words = (os.fsdecode(word) for word in kept.removesuffix(_END).split(_END))
        command = CompilerCommand.parse(words, folder)
    except (OSError, ValueError, CompilerGymError):
        return ()
    path = command.cwd / made
    units = (unit for output, unit in list_objects(command) if output == path)
    return tuple(unit for unit in units if unit.path.is_file())


def _objects() -> Path:
    return cache_path("tuning-objects").absolute()
