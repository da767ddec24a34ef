# SPDX-License-Identifier: MIT
"""Apply a plan in a project's normal build: `make CC="compiler-gym-cc --plan tuned.toml"`.

The compiled driver has already run the real compiler, and stores the command of every object under
the hash of its contents. This module builds the linked file again with the plan. It never fails a
build: if the plan cannot be applied, it prints the reason and keeps the compiler's own file.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from compiler_gym.builds import CompilerCommand, Mode
from compiler_gym.errors import CompilerGymError
from compiler_gym.files import cache_path, scratch_directory
from compiler_gym.sandbox import build_variables
from compiler_gym.tools.tune.builds import Binary, Unit, list_inputs, list_objects, with_own_debug
from compiler_gym.tools.tune.goal import Goal, Measure
from compiler_gym.tools.tune.plan import BinaryPlan, BuildPlan, list_sources
from compiler_gym.tools.tune.runs import put
from compiler_gym.tools.tune.tuner import Tuner

_SHOWN = 3
_END = b"\0"
"""The terminator of a string in the files of the driver."""


def driver_facts(plan: BuildPlan, compilers: Sequence[Sequence[str]]) -> bytes:
    """Return the data that the compiled driver needs to apply `plan`: lists of strings.

    They are the `compilers` for C and C++, the names of the linked files, the environment variables
    of a build, and the folder for the commands of objects; an empty string ends each list.
    """
    names = sorted({Path(binary.name).name for binary in plan.binaries})
    variables = [f"{name}={value}" for name, value in build_variables({}).items()]
    lists = (*compilers, names, variables, [str(_objects())])
    return b"".join(os.fsencode(text) + _END for texts in lists for text in (*texts, ""))


def apply_plan(
    plan: BuildPlan, tuner: Tuner, words: Sequence[str], cwd: Path, *, say: Callable[[str], None]
) -> None:
    """Apply `plan` to the output of the command `words`, which has just linked a file in `cwd`.

    `say` is called with a line for each remark, such as the reason why the plan is not applied.
    """
    command = CompilerCommand.parse(words, cwd)
    if command.mode is Mode.PROGRAM and "-r" not in command.link_flags:
        path = command.cwd / (command.output or "a.out")
        selected, root = _find_plan(plan, path)
        if selected is not None:
            try:
                binary = Binary(
                    selected.name, path, command, tuple(list_inputs(command, _origin)), root
                )
                _make(binary, selected, plan, tuner, say)
            except (CompilerGymError, OSError) as error:
                say(f"plan not applied to {selected.name}: {error}")


def list_changed_sources(binary: Binary, plan: BinaryPlan) -> list[str]:
    """Return the sources of `binary` that changed since the plan was made."""
    before = {source.path: source.sha256 for source in plan.sources}
    now = {source.path: source.sha256 for source in list_sources(binary, binary.units)}
    changed = [name for name, digest in before.items() if now.get(name, digest) != digest]
    return sorted([*changed, *(now.keys() - before.keys() if before else ())])


def _make(
    binary: Binary, selected: BinaryPlan, plan: BuildPlan, tuner: Tuner, say: Callable[[str], None]
) -> None:
    if not binary.units:
        say(f"plan not applied to {selected.name}: no object was compiled with it: rebuild all")
        return
    if binary.unknown:
        names = ", ".join(path.name for path in binary.unknown[:_SHOWN])
        say(f"{selected.name}: not compiled with the plan, so left unchanged: {names}")
    changed = list_changed_sources(binary, selected)
    if changed:
        listed = ", ".join(changed[:_SHOWN]) + (", ..." if len(changed) > _SHOWN else "")
        say(
            f"{selected.name}: {len(changed)} of {len(binary.units)} sources changed since the "
            f"plan was made ({listed}): the plan is applied, but tuning again may save more"
        )
    if plan.compiler != tuner.version:
        say(f"the plan was made with {plan.compiler}, but this is {tuner.version}")
    with scratch_directory("tuning") as folder:
        path = tuner.build(with_own_debug(binary), selected, Path(folder), jobs=1)
        measure = Measure(plan.measure).with_symbols
        if Goal(plan.goal).counts_bytes and measure.of(path) > measure.of(binary.path):
            say(f"plan not applied to {selected.name}: it would make the file larger")
            return
        put(path, binary.path)


def _find_plan(plan: BuildPlan, path: Path) -> tuple[BinaryPlan | None, Path]:
    """Return the plan for the linked file at `path`, and the root of its project."""
    for binary in plan.binaries:
        parts = Path(binary.name).parts
        if path.parts[-len(parts) :] == parts:
            return binary, Path(*path.parts[: -len(parts)])
    selected = plan.binary(path.name)
    sources = () if selected is None else selected.sources
    # Another build system may write the file elsewhere: the root contains all sources.
    roots = (root for root in path.parents if all((root / s.path).is_file() for s in sources))
    return selected, next(roots, path.parent)


def _origin(digest: str) -> tuple[Unit, ...]:
    """Return the source that the driver stored for the object with this SHA-256."""
    try:
        data = (_objects() / digest[:2] / digest[2:]).read_bytes()
        folder, name, *words = (os.fsdecode(text) for text in data.removesuffix(_END).split(_END))
        command = CompilerCommand.parse(words, folder)
    except (OSError, ValueError, CompilerGymError):
        return ()
    path = command.cwd / name
    units = (unit for output, unit in list_objects(command) if output == path)
    return tuple(unit for unit in units if unit.path.is_file())


def _objects() -> Path:
    return cache_path("tuning-objects").absolute()
