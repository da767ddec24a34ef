# SPDX-License-Identifier: MIT
"""Link a program for ``cc --policy``, with the plan that the policy chooses or without a plan.

Objects contain unoptimised IR, compiled with the policy's recipe, so every plan is still possible.
To compare with plain ``clang -Oz -flto``, a copy of each is optimised as ``clang -Oz -flto -c``
would have done. A policy never makes a build fail: if the link with a plan fails, the program is
linked without it and a note is printed.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym.builds import (
    CompilerCommand,
    count_packed_bytes,
    find_bitcode,
    is_archive,
    iterate_members,
    measure_sizes,
)
from compiler_gym.envs.llvm.toolchain import clang_command
from compiler_gym.errors import CompilerGymError
from compiler_gym.files import scratch_directory
from compiler_gym.tools.tune.builds import (
    Input,
    find_compiled_driver,
    list_linked_files,
    run_command,
)
from compiler_gym.tools.tune.layout import PACKED, can_pack
from compiler_gym.tools.tune.llvm.linking import (
    FOLDING,
    NATIVE,
    SMALL,
    command_with,
    frame_words,
)
from compiler_gym.tools.tune.llvm.policies.choosing import read_policy
from compiler_gym.tools.tune.llvm.policies.features import compute_features, list_functions
from compiler_gym.tools.tune.llvm.policies.rust import (
    FOR_RUST_CODE,
    explain_refusal,
    is_rust_object,
    list_rust_objects,
    uses_link_time,
    with_minsize,
)
from compiler_gym.tools.tune.llvm.size_plugin import explain_problem, without_plugin
from compiler_gym.tools.tune.measuring import put
from compiler_gym.tools.tune.plan import BinaryPlan

__all__ = ["link"]

_PLAIN = BinaryPlan("plain", SMALL, linker=FOLDING)
"""The build to compare with: ``clang -Oz -flto`` and a linker that discards unused sections."""
_RAW = BinaryPlan("raw", SMALL, passes="default<Oz>")
"""The plan that compiles objects in the form that every plan of a policy needs."""
_SIDE_FILES = ("Map", "reproduce", "dependency-file", "save-temps", "out-implib", "-time-trace")
"""Parts of options that write a second file, which two parallel links would overwrite."""
_POSITIONAL = ("-x", "-M", "-Wp,", "-Xarch", "-save-temps", "--save-temps", "-gsplit-dwarf",
               "-ftime-trace", "-fstack-usage")  # fmt: skip
"""Prefixes of options with which compiling and linking cannot be separated: they depend on their
position, or name files after the linked file."""


@dataclass(frozen=True, slots=True)
class _Link:
    """A link of compiled objects."""

    command: CompilerCommand
    compiler: Sequence[str]
    files: Sequence[Input]
    folder: Path
    packing: tuple[str, ...] = ()
    """The linker flag that packs relocations, if possible; the rival gets it too."""

    @property
    def output(self) -> Path:
        return self.command.cwd / (self.command.output or "a.out")

    @property
    def rival(self) -> str:
        """What the plan is compared with."""
        return "the code of rustc" if list_rust_objects(self.command) else "-Oz -flto"

    def link_or_drop(self, plan: BinaryPlan, say: Callable[[str], None]) -> BinaryPlan | None:
        """Link with `plan`, or without its plug-in if that fails; return the plan that worked."""
        if self.link_with(plan):
            return plan
        simpler = without_plugin(plan)
        if simpler == plan or not self.link_with(simpler):
            return None
        say(f"{self.output.name}: the link with the size plug-in failed; linked without it")
        return simpler

    def link_with(self, plan: BinaryPlan) -> bool:
        """Link with `plan`, and return whether this succeeds; print warnings only in this case."""
        command = self.make_command(plan, {})
        result = subprocess.run(command, cwd=self.command.cwd, check=False, capture_output=True)
        if result.returncode == 0:
            sys.stdout.write(result.stdout.decode(errors="replace"))
            sys.stderr.write(result.stderr.decode(errors="replace"))
        return result.returncode == 0

    def link_without(self, plan: BinaryPlan, say: Callable[[str], None]) -> int:
        """Link without `plan`, which failed, and return the status: the build itself may be wrong.

        Objects also contain machine code, so nothing is optimised here.
        """
        command = [*self.compiler, *self.command.words[1:], *NATIVE]
        status = subprocess.run(command, cwd=self.command.cwd, check=False)
        if status.returncode == 0:
            say(f"{self.output.name}: plan '{plan.name}' failed; linked without it")
        return status.returncode

    def make_command(self, plan: BinaryPlan, places: Mapping[str, Sequence[str]]) -> list[str]:
        """Return the link command for `plan`."""
        placed = _with_places(self.command, places)
        packed = replace(plan, linker=(*plan.linker, *self.packing))
        command = command_with(packed, self.compiler, placed)
        functions = list_functions(self.modules())
        return command + frame_words(plan, functions, self.folder / "frames.csv")

    def modules(self) -> Iterator[bytes]:
        """Yield the bitcode modules among the linked files."""
        for file in self.files:
            yield from filter(None, map(find_bitcode, _members_in(file.path)))


def link(
    policy: Path | BinaryPlan,
    command: CompilerCommand,
    *,
    is_checked: bool,
    is_packed: bool,
    say: Callable[[str], None],
    is_minsize: bool = False,
    is_plugged: bool = True,
) -> int | None:
    """Run the link `command` using a policy file, or a plan instead; return the exit status.

    With `is_checked`, the plain -Oz -flto build is linked as well, and used if it is smaller.
    With `is_packed`, relocations are packed in both, if the C library supports it.
    Without `is_plugged`, no plan loads the size plug-in.
    With `is_minsize`, the plan compiles every function for size, whatever its marks.
    `say` receives a line about the chosen plan and its saving; with a given plan, only about
    failures. Returns None without doing anything if there is no bitcode to choose a plan for.
    Raises `PlanError` if the file does not contain a policy.
    """
    chooser = policy if isinstance(policy, BinaryPlan) else read_policy(policy)
    compiler = [*clang_command(), *(["--driver-mode=g++"] if command.is_cxx else [])]
    with scratch_directory("policy") as name:
        compiled = _with_objects(command, compiler, Path(name))
        if not isinstance(compiled, CompilerCommand):
            return compiled
        if list_rust_objects(compiled) and (why := explain_refusal(compiled)) is not None:
            return _link_rust_plainly(compiled, compiler, why, say)
        task = _Link(compiled, compiler, tuple(list_linked_files(compiled)), Path(name))
        if not any(task.modules()):
            plan = _PLAIN if command.sources else None  # sources are compiled separately already
            return plan and (0 if task.link_with(plan) else task.link_without(plan, say))
        if isinstance(chooser, BinaryPlan):
            return 0 if task.link_with(chooser) else task.link_without(chooser, say)
        is_shared = "-shared" in command.link_flags
        modules = () if chooser.is_constant else task.modules()
        plan = chooser.rank_plans(compute_features(modules, is_shared=is_shared))[0]
        if not is_plugged:
            plan = without_plugin(plan)
        if plan.plugin and (problem := explain_problem()):
            say(f"{task.output.name}: linked without the size plug-in: {problem}")
            plan = without_plugin(plan)
        if is_minsize:
            plan = with_minsize(plan)
        if is_packed and can_pack(compiled, compiler):
            task = replace(task, packing=(PACKED,))
        finish = _link_and_compare if _can_check(task, is_checked) else _link_once
        return finish(task, plan, say)


def _link_rust_plainly(
    command: CompilerCommand, compiler: Sequence[str], why: str, say: Callable[[str], None]
) -> int:
    """Run rustc's `command`, which no plan can improve, and return the status."""
    linker = ("-fuse-ld=lld",) if uses_link_time(command) and not command.other_linker else ()
    words = [*compiler, *command.words[1:], *linker]
    status = subprocess.run(words, cwd=command.cwd, check=False).returncode
    if why:
        say(f"{Path(command.output or 'a.out').name}: linked without the policy: {why}")
    return status


def _link_once(task: _Link, plan: BinaryPlan, say: Callable[[str], None]) -> int:
    used = task.link_or_drop(plan, say)
    if used is None:
        return task.link_without(plan, say)
    if task.output.is_file():
        size, packed = _measure_loaded(task.output)
        if task.packing and packed <= 0:
            return _link_once(replace(task, packing=()), used, say)
        say(f"{task.output.name}: {size:,} loaded bytes with plan '{plan.name}'{_and(packed)}")
    return 0


def _link_and_compare(task: _Link, plan: BinaryPlan, say: Callable[[str], None]) -> int:
    plain = task.folder / "plain"
    with ThreadPoolExecutor(1) as pool:  # run both links in parallel
        rival = pool.submit(_link_plainly, task, plain)
        used = task.link_or_drop(plan, say)
        error = rival.exception()
    if used is None:
        return task.link_without(plan, say)
    if error is not None:
        say(f"{task.output.name}: plan '{plan.name}', not compared with {task.rival}: {error}")
        return 0
    (size, _), (plain_size, packed) = _measure_loaded(task.output), _measure_loaded(plain)
    if task.packing and packed <= 0:  # do not require a newer C library for nothing
        return _link_and_compare(replace(task, packing=()), used, say)
    unpacked = plain_size + packed
    if size > plain_size:
        put(plain, task.output)
        say(
            f"{task.output.name}: {plain_size:,} loaded bytes with {task.rival}{_and(packed)}; "
            f"plan '{plan.name}' was discarded because it needs {size:,}"
        )
    else:
        all, by_plan, by_packing = (
            f"{100 * saved / max(unpacked, 1):.1f} %"
            for saved in (unpacked - size, plain_size - size, packed)
        )
        parts = f" ({by_plan} from the plan, {by_packing} from packing)" if packed else ""
        say(
            f"{task.output.name}: {size:,} loaded bytes with plan '{plan.name}'{_and(packed)}, "
            f"{all} smaller than {task.rival}{parts}"
        )
    return 0


def _and(packed: int) -> str:
    return " and packed relocations" if packed else ""


def _link_plainly(task: _Link, output: Path) -> None:
    """Link the plain -Oz -flto build to `output`; raise `ProjectError` if that fails."""
    places: dict[str, list[str]] = {}
    for number, file in enumerate(task.files):
        contents = list(_members_in(file.path))
        if not any(map(find_bitcode, contents)):
            continue
        parts: list[str] = []
        for data in contents:
            part = task.folder / f"{number}-{len(parts)}.o"
            bitcode = find_bitcode(data)
            part.write_bytes(bitcode or data)
            if bitcode:
                optimised = part.with_suffix(".plain.o")
                flags = FOR_RUST_CODE if is_rust_object(file.word) else ("-Oz", "-flto")
                words = ["-w", *flags, "-x", "ir", "-c", str(part), "-o", str(optimised)]
                run_command([*task.compiler, *words], task.folder)
                part = optimised
            parts.append(str(part))
        lazy = ["-Wl,--start-lib", *parts, "-Wl,--end-lib"] if file.is_lazy else parts
        places.setdefault(file.word, lazy)
    words = [*task.make_command(_PLAIN, places), "-o", str(output)]
    run_command(words, task.command.cwd)


def _with_objects(
    command: CompilerCommand, compiler: Sequence[str], folder: Path
) -> CompilerCommand | int | None:
    """Return `command` with sources compiled to objects, the exit status of a failed compiler, or
    None if compiling and linking cannot be separated."""
    if not command.sources:
        return command
    names = {source.name for source in command.sources}
    options = [word for word in _with_places(command, {}).words[1:] if word not in names]
    if any(word.startswith(_POSITIONAL) for word in options) or "-" in names:
        return None
    options = [word for word in _without_output(options) if word not in command.objects]
    places: dict[str, list[str]] = {}
    for number, source in enumerate(command.sources):
        output = folder / f"unit-{number}.o"
        arguments = ["cc", *options, "-c", source.name, "-o", str(output)]
        unit = CompilerCommand.parse(arguments, command.cwd)
        driver = find_compiled_driver("cxx" if command.is_cxx else "cc")
        compile_command = [driver, "--compile", *command_with(_RAW, compiler, unit)]
        quiet_command = [*compile_command, "-Qunused-arguments"]
        if status := subprocess.run(quiet_command, cwd=command.cwd, check=False).returncode:
            return status
        places[source.name] = [str(output)]
    return _with_places(command, places)


def _with_places(command: CompilerCommand, places: Mapping[str, Sequence[str]]) -> CompilerCommand:
    """Return `command` with the arguments in `places` replaced."""
    words = [argument for name in command.words for argument in places.get(name, (name,))]
    return CompilerCommand.parse(words, command.cwd)


def _without_output(words: Sequence[str]) -> Iterator[str]:
    remaining = iter(words)
    for word in remaining:
        if word == "-o":
            next(remaining, None)
        elif not word.startswith("-o"):
            yield word


def _can_check(task: _Link, is_checked: bool) -> bool:
    is_file = task.output.is_file() or not task.output.exists()
    words = task.command.link_flags
    return is_checked and is_file and not any(p in word for word in words for p in _SIDE_FILES)


def _members_in(path: Path) -> Iterator[bytes]:
    """Yield the contents of the object `path`, or of each member of an archive."""
    try:
        data = path.read_bytes()
    except OSError:
        return
    if is_archive(path):
        yield from (member for member in iterate_members(data) if member is not None)
    else:
        yield data


def _measure_loaded(path: Path) -> tuple[int, int]:
    """Return the loaded bytes of a linked file, and the bytes that packed relocations save."""
    try:
        return measure_sizes(path).loaded, count_packed_bytes(path)
    except CompilerGymError:
        return 0, 0  # not an ELF file; a linker script can request other formats
