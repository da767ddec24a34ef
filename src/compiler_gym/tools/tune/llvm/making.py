# SPDX-License-Identifier: MIT
"""Build the binary of a plan: run passes on the whole module, generate code with clang, link.

Optimised modules and their objects are kept, so a plan that differs only in linker options is only
linked again, and one that differs only in code generator options runs no passes again.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym.envs.llvm.toolchain import clang_command
from compiler_gym.errors import CompilerGymError, PlanError
from compiler_gym.files import scratch_directory
from compiler_gym.registration import make
from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.builds import Binary
from compiler_gym.tools.tune.llvm.deciding import DEFAULT_PASSES
from compiler_gym.tools.tune.llvm.linking import QUIET, Linker, run
from compiler_gym.tools.tune.llvm.size_plugin import (
    PLUGIN,
    load_words,
    plugin_hash,
    run_and_list_rules,
    with_settings,
)
from compiler_gym.tools.tune.llvm.whole import Whole

SECTIONS = ("-ffunction-sections", "-fdata-sections")
"""Allow the linker to discard and fold individual functions."""
_NO_OPTION = "relocation-model"
"""Code generator option that the driver's own flags already set."""
_SECONDS = 1800.0


@dataclass(frozen=True, slots=True)
class LlvmMaker:
    """Builds one binary with one plan."""

    linker: Linker
    whole: Whole
    plan: BinaryPlan

    def of(self, plan: BinaryPlan) -> "LlvmMaker":
        """Return a maker for another plan of the same binary."""
        return replace(self, plan=plan)

    def make(self, name: str) -> Path:
        """Return the stripped binary; raise `ProjectError` or `PlanError` if the build fails."""
        (self.linker.folder / name).mkdir(parents=True, exist_ok=True)
        return self.linker.link_one(name, self._object(), self.whole.units, self.plan.linker)

    def forget(self, keep: Iterable[BinaryPlan]) -> None:
        """Delete the kept files of all plans except those in `keep`."""
        makers = [self.of(plan) for plan in keep]
        self.linker.forget({name for maker in makers for name in (maker._module, maker._code)})

    def optimise(self) -> bytes:
        """Return the module after the plan's passes."""
        with make("llvm-v0", action_space="PassesAndCodegen") as env:
            whole = self.whole.with_flags(self.plan.flags)
            env.reset(benchmark=whole.benchmark(), timeout=_SECONDS)
            try:
                actions = env.commandline_to_actions(self.plan.passes or DEFAULT_PASSES)
            except CompilerGymError as error:
                raise PlanError(f"the passes of {self.plan.name} are invalid: {error}") from error
            *_, truncated, info = env.multistep(actions, [], [], timeout=_SECONDS)
            if truncated:
                raise PlanError(f"the passes of {self.plan.name} failed: {info['error']}")
            return env.observation["Bitcode"].tobytes()

    def list_rules(self) -> list[str]:
        """Return the rules of the size plug-in that change the code of the plan, if it loads it."""
        if PLUGIN not in self.plan.plugin:
            return []
        maker = self.of(replace(self.plan, plugin=(PLUGIN,)))
        with scratch_directory("rules") as name:
            command = code_words(
                self.linker.binary, maker.plan, maker._keep_module(), Path(name, "program.o")
            )
            return run_and_list_rules(command, Path(name))

    def _object(self) -> Path:
        module = self._keep_module()

        def compile_to(path: Path) -> None:
            command = code_words(self.linker.binary, self.plan, module, path)
            run(command, self.linker.folder)

        return self.linker.keep_file(self._code, compile_to)

    def _keep_module(self) -> Path:
        return self.linker.keep_file(self._module, lambda path: path.write_bytes(self.optimise()))

    @property
    def _module(self) -> str:
        return f"{_key([*self.plan.flags, '', self.plan.passes])}.bc"

    @property
    def _code(self) -> str:
        options = (f"{name}={value}" for name, value in sorted(self.plan.options.items()))
        plugin = (*self.plan.plugin, plugin_hash()) if self.plan.plugin else ()
        return f"{_key([self._module, *options, *plugin])}.o"


def code_words(binary: Binary, plan: BinaryPlan, module: Path, output: Path) -> list[str]:
    """Return the command that compiles the optimised `module` to an object."""
    command = [*clang_command(), *QUIET, *machine_flags(binary), "-Oz", *SECTIONS]
    command += ["-Xclang", "-disable-llvm-passes"]
    for name, value in plan.options.items():
        if name != _NO_OPTION:
            command += ["-mllvm", f"-{name}={value}"]
    command += load_words(plan, "-fpass-plugin=")
    return with_settings([*command, "-x", "ir", "-c", str(module), "-o", str(output)])


def machine_flags(binary: Binary) -> list[str]:
    """Return the ``-f`` and ``-m`` flags that all sources of `binary` share."""
    units = binary.units
    shared = set(units[0].command.flags).intersection(*(unit.command.flags for unit in units[1:]))
    return [flag for flag in units[0].command.flags if flag in shared and flag[:2] in ("-f", "-m")]


def _key(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
