# SPDX-License-Identifier: MIT
"""The three kinds of plans: each knows its possible decisions, its build and its script.

A flag for clang or its linker can load a plugin or overwrite a file, so each kind accepts only the
decisions in its tables. A script is a list of shell commands of clang, llvm-link, opt and lld,
without this library: it reads the sources from a tree in which the project was built, and produces
the same bytes as the build that was measured.
"""

import contextlib
import hashlib
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import filterfalse
from pathlib import Path

from compiler_gym.envs.llvm.actions import codegen_options
from compiler_gym.envs.llvm.toolchain import (
    CLEAR,
    join_pipelines,
    name_package,
    split_pipeline,
    tool_name,
)
from compiler_gym.errors import PlanError, ProjectError
from compiler_gym.tools.tune import BinaryPlan, Build, require_among, require_nothing_in
from compiler_gym.tools.tune.builds import (
    Binary,
    Exchange,
    Unit,
    exchange_files,
    name_objects,
    shell_comment,
    shell_text,
)
from compiler_gym.tools.tune.llvm.deciding import (
    DEFAULT_PASSES,
    FLAG,
    LATE,
    LINKER,
    PLUG_IN,
    POLICY,
    SAVINGS,
    items,
)
from compiler_gym.tools.tune.llvm.flags import (
    FAST,
    FOLDING,
    FRONT_END_FLAGS,
    LAYOUT,
    LLD_LAYOUT,
    NO_UNWINDING,
    POLICY_PASSES,
    PROGRAM,
    SMALL,
)
from compiler_gym.tools.tune.llvm.linker import (
    Linker,
    compile_words,
    late_flags,
    link_time_flags,
    link_words,
    plain_words,
)
from compiler_gym.tools.tune.llvm.plugin import (
    PLUGIN,
    PLUGIN_FILE,
    PLUGIN_VARIABLE,
    LinkCommand,
    disables_rule,
    find_plugin,
    find_plugin_source,
    plugin_environment,
    plugin_hash,
    without_plugin,
)
from compiler_gym.tools.tune.llvm.program import FRONT_END, LlvmMaker, code_command, make_whole

_SCOPE = re.compile(r"internalize<preserve-gv=[^\s;<>,]+(;preserve-gv=[^\s;<>,]+)*>")
_SCOPE_EMPTY = ""
_FLAGS = (*FRONT_END_FLAGS, NO_UNWINDING)
_COLLECTING = "-Wl,--gc-sections"
"""A flag that no search chooses, because it removes what ``__attribute__((used))`` keeps; other
plans may have it."""
_LINKER = (*FOLDING, _COLLECTING, *LAYOUT, *LLD_LAYOUT)
_OUT = Path("/@OUT@")
"""Placeholder for the output folder until all arguments are quoted."""
_HERE = "/@HERE@"
"""Placeholder for the script's folder."""
_TOOLS = tuple(map(tool_name, ("clang", "llvm-link", "llvm-ar", "opt")))
_PACKAGES = " ".join(map(name_package, ("clang", "ld.lld", "opt")))
_NEEDS = """\
for tool in {tools}; do
  if ! command -v "$tool" >/dev/null; then
    echo "needs $tool: apt install {packages}" >&2
    exit 1
  fi
done"""
_LOADS = """\
: "${{{variable}:=$HERE/plugin/{file}}}"
unset COMPILER_GYM_SIZE
if ! [ -f "${variable}" ]; then
  echo "needs ${variable}: copy the folder plugin too, or use --plain" >&2
  exit 1
fi
if [ "$(sha256sum < "${variable}")" != "{hash}  -" ]; then
  echo "warning: ${variable} is another build of the plug-in, so the bytes may differ" >&2
fi"""


@dataclass(frozen=True, slots=True)
class LlvmPlan:
    """A plan of one kind; this class has what all kinds share."""

    plan: BinaryPlan

    def require_possible(self) -> None:
        """Raise `PlanError` for the first decision that this tuner never makes."""
        raise NotImplementedError

    def build(self, binary: Binary, folder: Path, *, jobs: int) -> Path:
        """Return the stripped build of `binary`."""
        raise NotImplementedError

    def list_commands(self, binary: Binary) -> Iterator[str]:
        """Yield the shell commands that build `binary`."""
        raise NotImplementedError

    def list_plain_words(self) -> list[str]:
        """Return one command for any sources; raise `PlanError` if no single command builds it."""
        raise PlanError(
            f"no single command can build the plan of {self.plan.name} (method "
            f"{self.plan.method!r}); use the reproduce.sh next to the plan"
        )

    def write_script(self, binary: Binary) -> str:
        """Return shell commands that build `binary`, using the variables ROOT, OUT and HERE.

        If PLAIN is set, they do not load the plug-in.
        """
        target = _OUT / binary.name
        commands = "\n".join(self.list_commands(binary))
        if PLUGIN in self.plan.plugin:
            loading = _LOADS.format(variable=PLUGIN_VARIABLE, file=PLUGIN_FILE, hash=plugin_hash())
            plain = replace(self, plan=without_plugin(self.plan)).list_commands(binary)
            commands = "\n".join(
                ['if [ -z "$PLAIN" ]; then', loading, commands, "else", *plain, "fi"]
            )
        tools = [tool for tool in _TOOLS if re.search(rf"(?<![\w/-]){tool} ", commands)]
        lines = [
            shell_comment(binary.name),
            _NEEDS.format(tools=" ".join(tools), packages=_PACKAGES),
            _shell(["mkdir", "-p", str(target.parent)], binary),
            commands,
            _shell(["printf", "%s\\n", str(target)], binary),
            "",
        ]
        return "\n".join(lines)

    def write_companions(self, folder: Path) -> None:
        """Write the plug-in, its source and its licence to `folder`, if the plan needs them."""
        if PLUGIN in self.plan.plugin and (plugin := find_plugin()) is not None:
            shutil.copytree(find_plugin_source(), folder / "plugin", dirs_exist_ok=True)
            shutil.copy(plugin, folder / "plugin" / PLUGIN_FILE)


class LinkTimePlan(LlvmPlan):
    """A plan that uses clang's own link-time optimisation."""

    __slots__ = ()

    def build(self, binary: Binary, folder: Path, *, jobs: int) -> Path:
        """Compile each source, and link."""
        return self.link(Linker(binary, folder, jobs))

    def link(self, linker: Linker) -> Path:
        """Return the stripped binary; objects are compiled again only if the flags differ.

        Raises `ProjectError` if the build fails.
        """
        profile = self.plan.profile
        if profile and not Path(profile).is_file():
            raise ProjectError(
                f"{profile} is missing, but {self.plan.name} is built with it; keep the folder "
                "'profiles' next to the plan"
            )
        parts = [self.plan.profile, self.plan.passes, *self.plan.decisions()]
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return linker.link_plan(f"linked-{digest[:12]}", self.plan)

    def list_commands(self, binary: Binary) -> Iterator[str]:
        """Yield the commands of the build."""
        profile = f"{_HERE}/{self.plan.profile}" if self.plan.profile else ""
        flags = link_time_flags(replace(self.plan, profile=profile))
        objects = name_objects(binary, _OUT)
        folders = (str(path.parent) for path in objects.values())
        yield _shell(["mkdir", "-p", *folders], binary)
        for unit in objects:
            yield _at(unit.command.cwd, compile_words(unit, flags, objects[unit]), binary)
        exchange = exchange_files(binary, objects, _OUT / "archives")
        yield from _list_links(
            binary, exchange, [*flags, *late_flags(self.plan)], plugin_environment(self.plan)
        )

    def list_plain_words(self) -> list[str]:
        """Return clang's command for any sources."""
        return plain_words(self.plan)


class SmallPlan(LinkTimePlan):
    """A plan for small code, at -Oz."""

    __slots__ = ()

    def require_possible(self) -> None:
        """Allow the default passes, options of the code generator, and flags for the layout."""
        plan = self.plan
        require_nothing_in(plan, "scope", "profile")
        require_among(plan, "flag", plan.flags, _FLAGS)
        passes = ("", DEFAULT_PASSES, POLICY_PASSES)
        require_among(plan, "pass", [plan.passes], passes)
        _require_options(plan, LATE)
        require_among(plan, "linker option", plan.linker, _LINKER)


class FastPlan(LinkTimePlan):
    """A plan for fast code, at -O3, with or without a profile."""

    __slots__ = ()

    def require_possible(self) -> None:
        """Allow a profile, and folding."""
        plan = self.plan
        require_nothing_in(plan, "scope", "passes", "options", "plugin")
        require_among(plan, "flag", plan.flags, ())
        require_among(plan, "linker option", plan.linker, (*FOLDING, _COLLECTING))


class ProgramPlan(LlvmPlan):
    """A plan that makes one module of all sources, and runs its own passes on it."""

    __slots__ = ()

    def require_possible(self) -> None:
        """Allow passes, options of the code generator, and flags for the layout."""
        plan = self.plan
        require_nothing_in(plan, "profile")
        require_among(plan, "flag", plan.flags, _FLAGS)
        require_among(plan, "pass", split_pipeline(plan.passes), _passes())
        _require_options(plan)
        require_among(plan, "linker option", plan.linker, _LINKER)
        if not _SCOPE.fullmatch(plan.scope):
            require_among(plan, "scope", [plan.scope], (_SCOPE_EMPTY,))

    def build(self, binary: Binary, folder: Path, *, jobs: int) -> Path:
        """Join the modules, optimise, generate code, and link."""
        whole = make_whole(binary, binary.path, jobs=jobs, flags=self.plan.flags)
        return LlvmMaker(Linker(binary, folder, jobs), whole, self.plan).make("built")

    def list_commands(self, binary: Binary) -> Iterator[str]:
        """Yield the commands of the build."""
        plan = self.plan
        by_path = {binary.name_unit(unit): unit for unit in binary.units}
        units = [by_path[source.path] for source in plan.sources]
        modules = [_OUT / f"{number}.bc" for number in range(len(units))]
        for unit, module in zip(units, modules, strict=True):
            words = compile_words(unit, (*FRONT_END, *plan.flags), module)
            yield _at(unit.command.cwd, words, binary)
        linked, module, code = _OUT / "linked.bc", _OUT / "program.bc", _OUT / "program.o"
        if len(modules) == 1:
            linked = modules[0]
        else:
            words = [tool_name("llvm-link"), *map(str, modules), "-o", str(linked)]
            yield _shell(words, binary)
        pipeline = join_pipelines(filter(None, [plan.scope, plan.passes or DEFAULT_PASSES]))
        optimise = [tool_name("opt"), "-discard-value-names", f"-passes={pipeline}", str(linked)]
        yield _shell([*optimise, "-o", str(module)], binary)
        yield _shell(code_command(binary, plan, module, code).list_words(), binary)
        left_out = dict[Unit, Path | None].fromkeys(units)
        exchange = exchange_files(binary, left_out, _OUT / "archives", program=code)
        yield from _list_links(binary, exchange, plan.linker, {})


_KINDS: dict[str, type[LlvmPlan]] = {PROGRAM: ProgramPlan, SMALL: SmallPlan, FAST: FastPlan}


def checked(plan: BinaryPlan) -> LlvmPlan:
    """Return `plan` as one of its kind.

    Raises `PlanError` for the first decision that this tuner never makes.
    """
    require_among(plan, "method", [plan.method], _KINDS)
    for name in filterfalse(disables_rule, plan.plugin):
        if name != PLUGIN:
            raise PlanError(
                f"the plan of {plan.name} needs the plug-in {name!r}, but this version of "
                f"compiler-gym has {PLUGIN!r}: make a new plan with `compiler-gym tune`"
            )
    kind = _KINDS[plan.method](plan)
    kind.require_possible()
    return kind


def link_all(
    linker: Linker, plans: Sequence[BinaryPlan], is_wanted: Callable[[BinaryPlan], bool]
) -> Iterator[Build]:
    """Yield the builds of those plans with link-time optimisation that link, in order.

    Before each, `is_wanted` decides whether it is linked.
    """

    def link(plan: BinaryPlan) -> Build | None:
        with contextlib.suppress(ProjectError):
            return Build(plan, LinkTimePlan(plan).link(linker)) if is_wanted(plan) else None
        return None

    with ThreadPoolExecutor(linker.jobs) as pool:
        yield from filter(None, pool.map(link, plans))


def require_tried(name: str, actions: tuple[str, ...]) -> None:
    """Raise `PlanError` for `actions` of the file `name` that no search for size uses."""
    others = (action for action in actions if not disables_rule(action.removeprefix(PLUG_IN)))
    require_among(BinaryPlan(name, PROGRAM), "action", others, _names())


def _require_options(plan: BinaryPlan, late: Collection[str] = ()) -> None:
    options = [f"{name}={value}" for name, value in plan.options.items()]
    require_among(plan, "option", options, {*_options(), *late})


@cache
def _names() -> frozenset[str]:
    extra = (*(f"{FLAG}{flag}" for flag in _FLAGS), *(f"{LINKER}{word}" for word in _LINKER))
    return frozenset((*items(), POLICY, *SAVINGS, *LATE, *extra, f"{PLUG_IN}{PLUGIN}"))


@cache
def _passes() -> frozenset[str]:
    passes = {name: text for name, text in items().items() if not codegen_options.is_choice(text)}
    return frozenset({*passes, *passes.values(), CLEAR})


@cache
def _options() -> frozenset[str]:
    return frozenset(
        f"{option.name}={value}"
        for option in codegen_options.OPTIONS
        for value in option.values
        if value != codegen_options.DEFAULT
    ) | frozenset(SAVINGS)


def _list_links(
    binary: Binary, exchange: Exchange, flags: Sequence[str], environment: Mapping[str, str]
) -> Iterator[str]:
    """Yield the commands that make the archives of `exchange`, and link."""
    for step in exchange.steps:
        yield _at(step.cwd, step.words, binary)
    words = link_words(binary, exchange, flags, _OUT / binary.name)
    command = LinkCommand(tuple(words), environment)
    yield _at(binary.command.cwd, command.list_words(), binary)


def _at(folder: Path, command: Sequence[str], binary: Binary) -> str:
    return f"(cd {_shell([str(folder)], binary)} && {_shell(command, binary)})"


def _shell(command: Sequence[str], binary: Binary) -> str:
    arguments = [_tool(word) for word in command]
    folders = {str(binary.root): "ROOT", str(_OUT): "OUT", _HERE: "HERE"}
    if plugin := find_plugin():
        folders[str(plugin)] = PLUGIN_VARIABLE
    return shell_text(arguments, folders)


def _tool(argument: str) -> str:
    name = Path(argument).name
    return name if argument.startswith("/") and name == tool_name("clang") else argument
