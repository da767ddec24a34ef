# SPDX-License-Identifier: MIT
"""Link what a call of ``cc --policy`` links: by the plan that the policy chooses, or plainly.

Units are IR of the front end, compiled by the policy's recipe, so that each plan can still be
chosen. For the plain level, which has to be beaten, a copy of each is optimised as ``clang -Oz
-flto -c`` would have done. No build fails because of a policy: what cannot be linked by a plan is
linked without one, and says so.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.builds import (
    CompilerCommand,
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
from compiler_gym.tools.tune.llvm.linking import (
    FOLDING,
    FRAMES,
    NATIVE,
    SMALL,
    command_with,
    frame_words,
)
from compiler_gym.tools.tune.llvm.policies.choosing import read_policy
from compiler_gym.tools.tune.llvm.policies.features import compute_features, list_functions
from compiler_gym.tools.tune.measuring import put
from compiler_gym.tools.tune.plan import BinaryPlan

__all__ = ["link"]

_PLAIN = BinaryPlan("plain", SMALL, linker=FOLDING)
"""The plain level: ``clang -Oz -flto``, and a linker that leaves out what nobody uses."""
_RAW = BinaryPlan("raw", SMALL, passes="default<Oz>")
"""What compiles a unit as every plan of a policy needs it."""
_SIDE_FILES = ("Map", "reproduce", "dependency-file", "save-temps", "out-implib", "-time-trace")
"""Parts of words that write a file beside the linked one, which two links would both write."""
_POSITIONAL = ("-x", "-M", "-Wp,", "-Xarch", "-save-temps", "--save-temps", "-gsplit-dwarf",
               "-ftime-trace", "-fstack-usage")  # fmt: skip
"""How words begin with which a source cannot be compiled apart from its link: what stands in front
of it counts, or files are called as the linked one is."""


@dataclass(frozen=True, slots=True)
class _Link:
    """A link of units that are all compiled."""

    command: CompilerCommand
    compiler: Sequence[str]
    files: Sequence[Input]
    folder: Path

    @property
    def output(self) -> Path:
        return self.command.cwd / (self.command.output or "a.out")

    def by(self, plan: BinaryPlan) -> bool:
        """Return whether a link by `plan` succeeds, and show its warnings if it does."""
        words = self.words(plan, {})
        done = subprocess.run(words, cwd=self.command.cwd, check=False, capture_output=True)
        if done.returncode == 0:
            sys.stdout.write(done.stdout.decode(errors="replace"))
            sys.stderr.write(done.stderr.decode(errors="replace"))
        return done.returncode == 0

    def plainly(self, plan: BinaryPlan, say: Callable[[str], None]) -> int:
        """Link without `plan`, which failed, and return the status: errors may be the build's.

        Objects hold machine code, too, so that nothing is optimised here.
        """
        native = [*self.compiler, *self.command.words[1:], *NATIVE]
        status = subprocess.run(native, cwd=self.command.cwd, check=False)
        if status.returncode == 0:
            say(f"{self.output.name}: the plan {plan.name} failed, linked without it")
        return status.returncode

    def words(self, plan: BinaryPlan, places: Mapping[str, Sequence[str]]) -> list[str]:
        """Return the command of the link by `plan`."""
        placed = _with_places(self.command, places)
        words = command_with(plan, self.compiler, placed)
        if FRAMES in plan.flags:
            words += frame_words(list_functions(self.modules()), self.folder / "frames.csv")
        return words

    def modules(self) -> Iterator[bytes]:
        """Yield the bitcode among what is linked."""
        for file in self.files:
            yield from filter(None, map(find_bitcode, _members_in(file.path)))


def link(
    policy: Path | BinaryPlan,
    command: CompilerCommand,
    *,
    is_checked: bool,
    say: Callable[[str], None],
) -> int | None:
    """Do what `command`, which links, asks for, by the `policy` in a file; return the status.

    Where `is_checked`, the plain level is linked too, and kept where it is smaller. `say` is told
    what was chosen, and what it won; of a plan in the place of a policy,
    what failed. Returns None, and has done nothing, where there is no
    bitcode to choose by. Raises `PlanError` for a file that is no policy.
    """
    chosen_by = policy if isinstance(policy, BinaryPlan) else read_policy(policy)
    compiler = [*clang_command(), *(["--driver-mode=g++"] if command.is_cxx else [])]
    with scratch_directory("policy") as name:
        compiled = _with_objects(command, compiler, Path(name))
        if not isinstance(compiled, CompilerCommand):
            return compiled
        todo = _Link(compiled, compiler, tuple(list_linked_files(compiled)), Path(name))
        if not any(todo.modules()):
            plan = _PLAIN if command.sources else None  # compiled already, each apart
            return plan and (0 if todo.by(plan) else todo.plainly(plan, say))
        if isinstance(chosen_by, BinaryPlan):
            return 0 if todo.by(chosen_by) else todo.plainly(chosen_by, say)
        is_shared = "-shared" in command.link_flags
        seen = () if chosen_by.is_constant else todo.modules()
        plan = chosen_by.rank_plans(compute_features(seen, is_shared=is_shared))[0]
        return (
            _link_and_compare(todo, plan, say)
            if _can_check(todo, is_checked)
            else _link_once(todo, plan, say)
        )


def _link_once(todo: _Link, plan: BinaryPlan, say: Callable[[str], None]) -> int:
    if not todo.by(plan):
        return todo.plainly(plan, say)
    if todo.output.is_file():
        made = _measure_loaded(todo.output)
        say(f"{todo.output.name}: {made:,} loaded bytes with the plan {plan.name}")
    return 0


def _link_and_compare(todo: _Link, plan: BinaryPlan, say: Callable[[str], None]) -> int:
    plain = todo.folder / "plain"
    with ThreadPoolExecutor(1) as pool:  # both links at once
        rival = pool.submit(_link_plainly, todo, plain)
        is_linked = todo.by(plan)
        error = rival.exception()
    if not is_linked:
        return todo.plainly(plan, say)
    if error is not None:
        say(f"{todo.output.name}: {plan.name}, not compared with -Oz -flto: {error}")
        return 0
    made, least = _measure_loaded(todo.output), _measure_loaded(plain)
    if made > least:
        put(plain, todo.output)
        say(
            f"{todo.output.name}: {least:,} bytes loaded, linked as -Oz -flto does: "
            f"the plan {plan.name} makes {made:,}"
        )
    else:
        won = 100 * (1 - made / least) if least else 0.0
        say(
            f"{todo.output.name}: {made:,} loaded bytes with the plan {plan.name}, "
            f"{won:.1f} % smaller than -Oz -flto"
        )
    return 0


def _link_plainly(todo: _Link, output: Path) -> None:
    """Link the plain level to `output`; raise `ProjectError` where that fails."""
    places: dict[str, list[str]] = {}
    for number, file in enumerate(todo.files):
        contents = list(_members_in(file.path))
        if not any(map(find_bitcode, contents)):
            continue
        parts: list[str] = []
        for data in contents:
            part = todo.folder / f"{number}-{len(parts)}.o"
            bitcode = find_bitcode(data)
            part.write_bytes(bitcode or data)
            if bitcode:
                made = part.with_suffix(".plain.o")
                words = ["-w", "-Oz", "-flto", "-x", "ir", "-c", str(part), "-o", str(made)]
                run_command([*todo.compiler, *words], todo.folder)
                part = made
            parts.append(str(part))
        lazy = ["-Wl,--start-lib", *parts, "-Wl,--end-lib"] if file.is_lazy else parts
        places.setdefault(file.word, lazy)
    words = [*todo.words(_PLAIN, places), "-o", str(output)]
    run_command(words, todo.command.cwd)


def _with_objects(
    command: CompilerCommand, compiler: Sequence[str], folder: Path
) -> CompilerCommand | int | None:
    """Return `command` with an object for each source, the status of a compiler that failed, or
    None where its sources cannot be compiled before the rest."""
    if not command.sources:
        return command
    names = {source.name for source in command.sources}
    own = [word for word in _with_places(command, {}).words[1:] if word not in names]
    if any(word.startswith(_POSITIONAL) for word in own) or "-" in names:
        return None
    own = [word for word in _without_output(own) if word not in command.objects]
    places: dict[str, list[str]] = {}
    for number, source in enumerate(command.sources):
        made = folder / f"unit-{number}.o"
        words = ["cc", *own, "-c", source.name, "-o", str(made)]
        unit = CompilerCommand.parse(words, command.cwd)
        driver = find_compiled_driver("cxx" if command.is_cxx else "cc")
        compile = [driver, "--compile", *command_with(_RAW, compiler, unit)]
        quiet = [*compile, "-Qunused-arguments"]
        if status := subprocess.run(quiet, cwd=command.cwd, check=False).returncode:
            return status
        places[source.name] = [str(made)]
    return _with_places(command, places)


def _with_places(command: CompilerCommand, places: Mapping[str, Sequence[str]]) -> CompilerCommand:
    """Return `command` with what `places` has in the place of its words."""
    words = [each for word in command.words for each in places.get(word, (word,))]
    return CompilerCommand.parse(words, command.cwd)


def _without_output(words: Sequence[str]) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        if word == "-o":
            next(rest, None)
        elif not word.startswith("-o"):
            yield word


def _can_check(todo: _Link, is_checked: bool) -> bool:
    is_file = todo.output.is_file() or not todo.output.exists()
    words = todo.command.link_flags
    return is_checked and is_file and not any(p in word for word in words for p in _SIDE_FILES)


def _members_in(path: Path) -> Iterator[bytes]:
    """Yield what is in the object or archive `path`."""
    try:
        data = path.read_bytes()
    except OSError:
        return
    if is_archive(path):
        yield from (member for member in iterate_members(data) if member is not None)
    else:
        yield data


def _measure_loaded(path: Path) -> int:
    try:
        return measure_sizes(path).loaded
    except CompilerGymError:
        return 0  # no ELF file, as a script of the linker may ask for
