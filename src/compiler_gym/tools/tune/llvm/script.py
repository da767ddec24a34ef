# SPDX-License-Identifier: MIT
"""Write a plan as a shell script of clang, llvm-link, opt and lld, without this library.

The script reads the sources from a tree in which the project was built, and produces the same
bytes as the build that was measured.
"""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from compiler_gym.envs.llvm.toolchain import join_pipelines, tool_name
from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.builds import (
    Binary,
    Unit,
    exchange_files,
    name_objects,
    shell_comment,
    shell_text,
)
from compiler_gym.tools.tune.llvm.deciding import DEFAULT_PASSES
from compiler_gym.tools.tune.llvm.linking import (
    FAST,
    SMALL,
    compile_words,
    late_flags,
    link_time_flags,
    link_words,
)
from compiler_gym.tools.tune.llvm.making import code_words
from compiler_gym.tools.tune.llvm.size_plugin import (
    PLUGIN,
    PLUGIN_VARIABLE,
    find_plugin,
    plugin_hash,
)
from compiler_gym.tools.tune.llvm.whole import FRONT_END

_OUT = "/@OUT@"
"""Placeholder for the output folder until all arguments are quoted."""
_HERE = "/@HERE@"
"""Placeholder for the script's folder."""

_NEEDS = """\
# This needs the plug-in {plugin} of compiler-gym; {variable} gives another place.
: "${{{variable}:={path}}}"
unset COMPILER_GYM_SIZE
if ! [ -f "${variable}" ]; then
  echo "needs the plug-in {plugin}, but there is no ${variable}:" \\
    "install compiler-gym, and set {variable} to its compiler_gym_size.so" >&2
  exit 1
fi
if [ "$(sha256sum < "${variable}")" != "{hash}  -" ]; then
  echo "warning: ${variable} is another build of the plug-in, so the bytes may differ" >&2
fi"""


def write_script(binary: Binary, plan: BinaryPlan) -> str:
    """Return shell commands that build one binary, using the variables ROOT, OUT and HERE."""
    out = Path(_OUT)
    target = out / binary.name
    make_folder = ["mkdir", "-p", str(target.parent)]
    lines = [shell_comment(binary.name), *_require_plugin(plan), _shell(make_folder, binary)]
    if plan.method in (SMALL, FAST):
        lines += _link_time(binary, plan, out, target)
    else:
        lines += _program(binary, plan, out, target)
    return "\n".join([*lines, _shell(["printf", "%s\\n", str(target)], binary), ""])


def _require_plugin(plan: BinaryPlan) -> list[str]:
    """Return lines that find the plug-in of `plan`, if it needs one, or end with a message."""
    if PLUGIN not in plan.plugin:
        return []
    return [_NEEDS.format(variable=PLUGIN_VARIABLE, plugin=PLUGIN, hash=plugin_hash(),
                          path=shlex.quote(str(find_plugin())))]  # fmt: skip


def _link_time(binary: Binary, plan: BinaryPlan, out: Path, target: Path) -> list[str]:
    profile = f"{_HERE}/{plan.profile}" if plan.profile else ""
    flags = link_time_flags(replace(plan, profile=profile))
    objects = name_objects(binary, out)
    lines = [_shell(["mkdir", "-p", *(str(path.parent) for path in objects.values())], binary)]
    lines += [_in(unit, compile_words(unit, flags, objects[unit]), binary) for unit in objects]
    exchange = exchange_files(binary, objects, out / "archives")
    lines += [_at(step.cwd, step.words, binary) for step in exchange.steps]
    command = link_words(binary, exchange, [*flags, *late_flags(plan)], target)
    return [*lines, _at(binary.command.cwd, command, binary)]


def _program(binary: Binary, plan: BinaryPlan, out: Path, target: Path) -> list[str]:
    by_path = {binary.name_unit(unit): unit for unit in binary.units}
    units = [by_path[source.path] for source in plan.sources]
    modules = [out / f"{number}.bc" for number in range(len(units))]
    lines = [
        _in(unit, compile_words(unit, (*FRONT_END, *plan.flags), module), binary)
        for unit, module in zip(units, modules, strict=True)
    ]
    linked, module, code = out / "linked.bc", out / "program.bc", out / "program.o"
    if len(modules) == 1:
        linked = modules[0]
    else:
        lines.append(
            _shell([tool_name("llvm-link"), *map(str, modules), "-o", str(linked)], binary)
        )
    pipeline = join_pipelines(filter(None, [plan.scope, plan.passes or DEFAULT_PASSES]))
    optimise = [tool_name("opt"), "-discard-value-names", f"-passes={pipeline}", str(linked)]
    lines.append(_shell([*optimise, "-o", str(module)], binary))
    lines.append(_shell(code_words(binary, plan, module, code), binary))
    exchange = exchange_files(binary, dict.fromkeys(units), out / "archives", program=code)
    lines += [_at(step.cwd, step.words, binary) for step in exchange.steps]
    command = link_words(binary, exchange, plan.linker, target)
    return [*lines, _at(binary.command.cwd, command, binary)]


def _in(unit: Unit, command: Sequence[str], binary: Binary) -> str:
    return _at(unit.command.cwd, command, binary)


def _at(folder: Path, command: Sequence[str], binary: Binary) -> str:
    return f"(cd {_shell([str(folder)], binary)} && {_shell(command, binary)})"


def _shell(command: Sequence[str], binary: Binary) -> str:
    arguments = [_tool(word) for word in command]
    folders = {str(binary.root): "ROOT", _OUT: "OUT", _HERE: "HERE"}
    if plugin := find_plugin():
        folders[str(plugin)] = PLUGIN_VARIABLE
    return shell_text(arguments, folders)


def _tool(argument: str) -> str:
    name = Path(argument).name
    return name if argument.startswith("/") and name == tool_name("clang") else argument
