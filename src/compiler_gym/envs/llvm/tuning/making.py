# SPDX-License-Identifier: MIT
"""From a plan to a binary: the whole module through its passes, clang's code, lld's link."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.builds import Binary
from compiler_gym.envs.llvm.toolchain.clang import clang_command
from compiler_gym.envs.llvm.tuning.linking import QUIET, Linker, run
from compiler_gym.envs.llvm.tuning.whole import Whole
from compiler_gym.errors import CompilerGymError, PlanError
from compiler_gym.registration import make
from compiler_gym.tuning import BinaryPlan

__all__ = ["DEFAULT_PASSES", "SECTIONS", "Maker", "code_words"]

DEFAULT_PASSES = "default<Oz>"
"""What optimises a module where a plan names no passes."""
SECTIONS = ("-ffunction-sections", "-fdata-sections")
"""Let the linker leave out and fold single functions."""
_NO_OPTION = "relocation-model"
"""The driver's flags say it, of the code generator's options."""
_SECONDS = 1800.0


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes what one plan says of one binary."""

    linker: Linker
    whole: Whole
    plan: BinaryPlan

    def make(self, name: str) -> Path:
        """Return the stripped binary; raise `ProjectError` or `PlanError` where it fails."""
        folder = self.linker.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        module, code = folder / "program.bc", folder / "program.o"
        module.write_bytes(self.optimised())
        run(code_words(self.linker.binary, self.plan.options, module, code), folder)
        return self.linker.link_one(name, code, self.plan.linker)

    def optimised(self) -> bytes:
        """Return the module after the plan's passes."""
        with make("llvm-v0", action_space="PassesAndCodegen") as env:
            env.reset(benchmark=self.whole.benchmark(), timeout=_SECONDS)
            try:
                actions = env.commandline_to_actions(self.plan.passes or DEFAULT_PASSES)
            except CompilerGymError as error:
                raise PlanError(f"the passes of {self.plan.name}: {error}") from error
            *_, truncated, info = env.multistep(actions, [], [], timeout=_SECONDS)
            if truncated:
                raise PlanError(f"the passes of {self.plan.name} fail: {info['error']}")
            return env.observation["Bitcode"].tobytes()


def code_words(binary: Binary, options: Mapping[str, str], module: Path, output: Path) -> list[str]:
    """Return the command that makes an object of the optimised `module`."""
    words = [*clang_command(), *QUIET, *machine_flags(binary), "-Oz", *SECTIONS]
    words += ["-Xclang", "-disable-llvm-passes"]
    for name, value in options.items():
        if name != _NO_OPTION:
            words += ["-mllvm", f"-{name}={value}"]
    return [*words, "-x", "ir", "-c", str(module), "-o", str(output)]


def machine_flags(binary: Binary) -> list[str]:
    """Return what every source of `binary` is told of the machine and of its code."""
    units = binary.units
    shared = set(units[0].command.flags).intersection(*(unit.command.flags for unit in units[1:]))
    return [flag for flag in units[0].command.flags if flag in shared and flag[:2] in ("-f", "-m")]
