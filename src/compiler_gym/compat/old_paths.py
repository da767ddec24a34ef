# SPDX-License-Identifier: MIT
"""Modules of CompilerGym 0.2.5 under their old paths: each import reports where its names are now.

A table has the new places; they are loaded only when a name is used. A module without an
equivalent is not found, and the error names a replacement. Real modules take precedence.
"""

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any, NoReturn

from compiler_gym.version import DISTRIBUTION, missing_hint

_PACKAGE = "compiler_gym"
_GUIDE = "docs/guide/porting.md lists the differences"
_ERRORS = "ServiceError ServiceInitError ServiceIsClosed ServiceOSError ServiceTransportError"
_SERVICE_ERRORS = f"EnvironmentNotSupported {_ERRORS} SessionNotFound"
_STATES = "CompilerEnvState CompilerEnvStateReader CompilerEnvStateWriter"

_NAMES: Mapping[str, Mapping[str, str]] = {
    "compiler_env_state": {"": _STATES},
    "random_search": {"": "random_search"},
    "validate": {"": "validate_states"},
    "validation_error": {"errors": "ValidationError"},
    "validation_result": {"": "ValidationResult"},
    "bin": {},
    "datasets.datasets": {"datasets": "Datasets"},
    "datasets.files_dataset": {"datasets": "FilesDataset"},
    "datasets.tar_dataset": {"datasets": "TarDataset TarDatasetWithManifest"},
    "envs.compiler_env": {"envs": "CompilerEnv"},
    "envs.gcc.datasets.anghabench": {"envs.gcc.datasets": "AnghaBenchDataset"},
    "envs.gcc.datasets.chstone": {"envs.gcc.datasets": "CHStoneDataset"},
    "envs.gcc.datasets.csmith": {"envs.gcc.datasets": "CsmithBenchmark CsmithDataset"},
    "envs.gcc.gcc": {
        "envs.gcc": "Gcc GccFlagAlignOption GccFlagEnumOption GccFlagIntOption GccFlagOption "
        "GccOOption GccParamEnumOption GccParamIntOption GccSpec Option"
    },
    "envs.gcc.gcc_env": {"envs.gcc": "DEFAULT_GCC GccEnv"},
    "envs.llvm.benchmark_from_command_line": {"envs.llvm": "BenchmarkFromCommandLine"},
    "envs.llvm.compute_observation": {"envs.llvm": "compute_observation"},
    "envs.llvm.datasets.anghabench": {"envs.llvm.datasets": "AnghaBenchDataset"},
    "envs.llvm.datasets.cbench": {"envs.llvm.datasets": "CBenchDataset"},
    "envs.llvm.datasets.chstone": {"envs.llvm.datasets": "CHStoneDataset"},
    "envs.llvm.datasets.clgen": {"envs.llvm.datasets": "CLgenDataset"},
    "envs.llvm.datasets.csmith": {"envs.llvm.datasets": "CsmithBenchmark CsmithDataset"},
    "envs.llvm.datasets.jotaibench": {"envs.llvm.datasets": "JotaiBenchDataset"},
    "envs.llvm.datasets.llvm_stress": {"envs.llvm.datasets": "LlvmStressDataset"},
    "envs.llvm.datasets.poj104": {"envs.llvm.datasets": "POJ104Dataset"},
    "envs.llvm.llvm_benchmark": {
        "envs.llvm": "ClangInvocation get_system_library_flags make_benchmark "
        "make_benchmark_from_source merge_benchmarks split_benchmark_by_function",
        "errors": "BenchmarkInitError",
    },
    "envs.llvm.llvm_command_line": {"envs.llvm": "LlvmCommandLine"},
    "envs.llvm.llvm_env": {"envs.llvm": "LlvmEnv"},
    "envs.llvm.specs": {"envs.llvm": "observation_spaces reward_spaces"},
    "envs.loop_tool.loop_tool_env": {"envs.loop_tool": "LoopToolEnv"},
    "errors.dataset_errors": {"errors": "BenchmarkInitError DatasetInitError"},
    "errors.download_errors": {"errors": "DownloadFailed TooManyRequests"},
    "errors.service_errors": {"errors": _SERVICE_ERRORS},
    "errors.validation_errors": {"errors": "ValidationError"},
    "service.client_service_compiler_env": {"": "CompilerEnv"},
    "service.compilation_session": {"service": "CompilationSession"},
    "spaces.dict": {"spaces": "Dict"},
    "spaces.tuple": {"spaces": "Tuple"},
    "util": {},
    "util.debug_util": {
        "": "get_debug_level get_logging_level set_debug_level",
        "compat": "logging_level_to_debug_level",
    },
    "util.download": {"": "download", "errors": "DownloadFailed TooManyRequests"},
    "util.flags": {},
    "util.flags.benchmark_from_flags": {"compat.old_scripts": "benchmark_from_flags"},
    "util.flags.env_from_flags": {"compat.old_scripts": "env_from_flags"},
    "util.flags.episode_length": {"compat.old_scripts": ""},
    "util.flags.episodes": {"compat.old_scripts": ""},
    "util.flags.learning_rate": {"compat.old_scripts": ""},
    "util.flags.nproc": {"compat.old_scripts": ""},
    "util.flags.output_dir": {"compat.old_scripts": ""},
    "util.flags.seed": {"compat.old_scripts": ""},
    "util.gym_type_hints": {
        "core": "OptionalArgumentValue",
        "compat": "ActionType ObservationType RewardType StepType",
    },
    "util.minimize_trajectory": {
        "errors": "MinimizationError",
        "search": "bisect_trajectory minimize_trajectory_iteratively random_minimization "
        "validation_fails",
    },
    "util.registration": {"": "COMPILER_GYM_ENVS make"},
    "util.runfiles_path": {
        "": "cache_path site_data_path transient_cache_path",
        "files.paths": "create_user_logs_dir",
    },
    "util.shell_format": {"compat.old_scripts": "emph indent join_cmd plural"},
    "util.statistics": {"compat.old_scripts": "arithmetic_mean geometric_mean stdev"},
    "util.timer": {"compat.old_scripts": "Timer humanize_duration"},
    "util.version": {"": "__version__"},
    "views": {"core.views": "ObservationSpaceSpec ObservationView RewardView"},
    "views.observation": {"core.views": "ObservationView"},
    "views.observation_space_spec": {"core.views": "ObservationSpaceSpec"},
    "views.reward": {"core.views": "RewardView"},
    "wrappers.commandline": {"wrappers": "CommandlineWithTerminalAction ConstrainedCommandline"},
    "wrappers.core": {
        "wrappers": "ActionWrapper CompilerEnvWrapper ObservationWrapper RewardWrapper"
    },
    "wrappers.counter": {"wrappers": "Counter"},
    "wrappers.datasets": {
        "wrappers": "CycleOverBenchmarks CycleOverBenchmarksIterator IterateOverBenchmarks "
        "RandomOrderBenchmarks"
    },
    "wrappers.fork": {"wrappers": "ForkOnStep"},
    "wrappers.llvm": {"wrappers": "RuntimePointEstimateReward"},
    "wrappers.mlir": {"envs.mlir": "MlirRlWrapperEnv convert_action make_mlir_rl_wrapper_env"},
    "envs.mlir.mlir_env": {"envs.mlir": "MlirEnv"},
    "envs.mlir.datasets.matmul": {"envs.mlir.datasets": "MatmulBenchmark MatmulDataset"},
    "wrappers.time_limit": {"wrappers": "TimeLimit"},
    "wrappers.validation": {"wrappers": "ValidateBenchmarkAfterEveryStep"},
}
"""The names of an old module, by the package that has them now; empty for a mere package."""

_DOCUMENTED = {"views"}
"""Old modules that are the documented home of their names: importing them gives no warning."""

_RENAMED = {
    "ClientServiceCompilerEnv": "CompilerEnv",
    "HostCompilerFailure": "BenchmarkInitError",
    "UnableToParseHostCompilerOutput": "BenchmarkInitError",
    "environment_validation_fails": "validation_fails",
}
"""Old names of objects that have another name today."""

_COMMANDS = ("manual_env", "random_eval", "random_replay", "random_search", "service", "validate")

_MOVED = {
    "envs.gcc": "compiler_gym_gcc",
    "envs.loop_tool": "compiler_gym_loop_tool",
    "envs.mlir": "compiler_gym_mlir",
    **{
        f"tools.{package}": f"compiler_gym_{package}"
        for package in ("agents", "corpus", "explorer", "hunt", "inline")
    },
    "plugins": "compiler_gym_foreign",
    "tools.rules": "compiler_gym_inline.rules",
    "leaderboard": "compiler_gym.tools.learn.leaderboard",
}
"""Packages that 0.2.5, or our guides until now, document at another path: importing that path gives
the present one."""

_GONE = {
    "config": "compiler_gym.COMPILER_GYM_ENVS, which lists the installed environments",
    "envs.gcc.gcc_rewards": "a reward by its name: env.reward[NAME]",
    "envs.gcc.service": "gymnasium.make or compiler_gym.make: there is no server",
    "envs.llvm.lexed_ir": "an observation by its name: env.observation[NAME]",
    "envs.llvm.llvm_rewards": "a reward by its name: env.reward[NAME]",
    "envs.llvm.service": "gymnasium.make or compiler_gym.make: there is no server",
    "envs.loop_tool.service": "gymnasium.make or compiler_gym.make: there is no server",
    "random_replay": "the command compiler-gym replay",
    "service.connection_pool": "compiler_gym.make: each environment has its own worker",
    "service.proto": "plain records of compiler_gym.session: there is no protocol buffer",
    "service.runtime": "an entry point and a CompilerSession: docs/guide/add-a-compiler.md",
    "service.service_cache": "compiler_gym.transient_cache_path",
    "spaces.common": "numpy.issubdtype",
    "third_party": "the programs and tools of the package or of the system",
    "util.capture_output": "contextlib.redirect_stdout",
    "util.commands": "subprocess.run",
    "util.decorators": "functools.cached_property",
    "util.executor": "concurrent.futures",
    "util.filesystem": "compiler_gym.files.write_whole",
    "util.logging": "logging and compiler_gym.set_debug_level",
    "util.parallelization": "concurrent.futures",
    "util.permutation": "compiler_gym.spaces.Permutation",
    "util.tabulate": "rich.table",
    "util.temporary_working_directory": "contextlib.chdir in tempfile.TemporaryDirectory",
    "util.thread_pool": "concurrent.futures.ThreadPoolExecutor",
    "util.truncate": "textwrap.shorten",
}
"""Replacements for old modules that have no equivalent."""


class _OldModule(ModuleType):
    """A module that fetches each name from its present package."""

    def __getattr__(self, name: str) -> Any:
        doors = _list_doors(self.__name__)
        door_by_name = {key: door for door, names in doors.items() for key in names.split()}
        new_name = _RENAMED.get(name, name)
        if new_name not in door_by_name:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}: {_GUIDE}")
        value = getattr(importlib.import_module(_find_path(door_by_name[new_name])), new_name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted(
            name for names in _list_doors(self.__name__).values() for name in names.split()
        )


class _Parent(ModuleType):
    """A package that keeps its own name when a module of the same name is imported.

    ``compiler_gym.random_search`` is a function, and was a module too.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, _OldModule) and name in getattr(self, "__all__", ())):
            super().__setattr__(name, value)


class _Loader:
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _OldModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        parent, _, own = name.rpartition(".")
        sys.modules[parent].__class__ = _Parent
        if parent == f"{_PACKAGE}.util.flags":
            importlib.import_module(f"{_PACKAGE}.compat.old_scripts").define_flags(own)
        if doors := _list_doors(name):
            module.__dict__["__all__"] = dir(module)
            if own in _DOCUMENTED:
                return
            lines = [
                f"from {_find_path(d)} import {', '.join(n.split()) or 'define_flags'}"
                for d, n in doors.items()
            ]
            advice = f"use {'; '.join(lines)}"
        elif name.rpartition(".")[2] in _COMMANDS:
            advice = f"use the command compiler-gym; {_GUIDE}"
        else:
            return
        warnings.warn(
            f"{name} is the path of CompilerGym 0.2.5: {advice}",
            DeprecationWarning,
            stacklevel=2,  # the frames of an import do not count
        )

    def get_code(self, fullname: str) -> CodeType:
        """Return the code for ``python -m``: it runs today's command, or reports it."""
        command = fullname.rpartition(".")[2]
        text = f"from compiler_gym.compat.old_commands import run\nrun({command!r})\n"
        return compile(text, f"<{fullname}>", "exec")


class _Alias:
    """A loader that returns the present module for an old path."""

    def __init__(self, path: str) -> None:
        self._path = path

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._path)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import has replaced it

    def get_code(self, fullname: str) -> CodeType:
        """Return the code for ``python -m``."""
        text = (
            f"import runpy\nrunpy.run_module({self._path!r}, run_name='__main__', alter_sys=True)\n"
        )
        return compile(text, f"<{fullname}>", "exec")


def _find_new_path(old: str) -> str | None:
    """Return the present path of the module `old`, or None if it has not moved."""
    moved = next((moved for moved in _MOVED if f"{old}.".startswith(f"{moved}.")), None)
    return None if moved is None else _MOVED[moved] + old.removeprefix(moved)


def find_old_module(fullname: str) -> ModuleSpec | None:
    """Return the spec of the old module `fullname`, or None if 0.2.5 did not have it.

    Raises `ModuleNotFoundError` with a replacement for a module without an equivalent.
    """
    old = fullname.removeprefix(f"{_PACKAGE}.")
    if old in _NAMES or old in {f"bin.{command}" for command in _COMMANDS}:
        is_package = old in _DOCUMENTED or not (_NAMES.get(old) or old.startswith("bin."))
        loader: Any = _Loader()
        return ModuleSpec(fullname, loader, is_package=is_package)
    path = _find_new_path(old)
    if path is not None and importlib.util.find_spec(root := path.partition(".")[0]) is None:
        raise ModuleNotFoundError(missing_hint(fullname, root), name=fullname)
    if path is not None and (new_spec := importlib.util.find_spec(path)) is not None:
        aliased: Any = _Alias(path)
        is_package = new_spec.submodule_search_locations is not None
        return ModuleSpec(fullname, aliased, is_package=is_package)
    advice = next((_GONE[gone] for gone in _GONE if f"{old}.".startswith(f"{gone}.")), None)
    if advice is None and old.startswith("util."):
        advice = "the standard library"
    if advice is None:
        return None
    raise ModuleNotFoundError(
        f"No module named {fullname!r}: it was in CompilerGym 0.2.5; use {advice}; {_GUIDE}",
        name=fullname,
    )


def refuse_old_package(folder: str) -> NoReturn:
    """Raise `ImportError`: CompilerGym 0.2.5 was installed into `folder`, this package's folder.

    They share the folder then: modules of one package would import those of the other.
    """
    raise ImportError(
        f"{folder} has files of CompilerGym 0.2.5 (Facebook's, `compiler_gym` on the index) "
        f"and of {DISTRIBUTION}, so neither works: keep only one. To keep this one, run "
        "`pip uninstall -y compiler_gym`, then "
        f"`pip install --force-reinstall --no-deps {DISTRIBUTION}`"
    )


def _list_doors(fullname: str) -> Mapping[str, str]:
    return _NAMES.get(fullname.partition(".")[2], {})


def _find_path(door: str) -> str:
    return f"{_PACKAGE}.{door}" if door else _PACKAGE
