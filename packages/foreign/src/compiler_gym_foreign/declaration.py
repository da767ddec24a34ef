# SPDX-License-Identifier: MIT
"""A TOML file that declares a compiler: the program to run, its benchmarks and its rewards.

Reading one starts nothing. Paths in the file are relative to its folder.
"""

import os
import warnings
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import msgspec
from msgspec import Struct, field

from compiler_gym.errors import CompilerGymWarning, PluginError
from compiler_gym.files import site_data_path
from compiler_gym.registration import Compiler, EnvironmentId

__all__ = [
    "ENVIRONMENT",
    "VARIABLE",
    "DatasetRow",
    "Dialect",
    "EnvironmentRow",
    "Plugin",
    "RewardRow",
    "declared_compilers",
    "plugin_files",
    "read_compiler",
    "read_plugin",
]

ENVIRONMENT = "compiler_gym_foreign:ServiceEnv"
"""The environment of every declared compiler."""
VARIABLE = "COMPILER_GYM_PLUGINS"
"""Files and folders of plug-ins, separated by colons."""
_FOLDER = "{folder}"


class Dialect(Enum):
    """The protocol of a program."""

    SESSION = "session"
    """The session protocol."""
    MODEL_RUNNER = "model-runner"
    """LLVM's ``InteractiveModelRunner``: a compiler that requests decisions over two pipes."""


class EnvironmentRow(Struct, frozen=True, forbid_unknown_fields=True):
    """An environment id, and its initial spaces."""

    id: str
    action_space: str | None = None
    observation_space: str | None = None
    reward_space: str | None = None


class DatasetRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A folder of programs."""

    name: str
    folder: str
    suffix: str = ""
    description: str = ""
    license: str = ""


class RewardRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A reward for lowering the observation `cost`."""

    name: str
    cost: str
    initial: str | None = None
    """The observation of the cost at reset; None uses the first value that is observed."""


class Plugin(Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of a declaration."""

    name: str
    """The name of the compiler."""
    service: tuple[str, ...]
    """The program and its arguments."""
    environments: tuple[EnvironmentRow, ...]
    description: str = ""
    dialect: Dialect = Dialect.SESSION
    """The protocol of the program."""
    choices: int = 2
    """Number of possible answers to a model runner's question, if answers are whole numbers."""
    carrier: str = "descriptor"
    """The transport of the messages: ``descriptor``, ``stdio`` or ``socket``."""
    benchmark: str | None = None
    """The program of the first reset if none is given."""
    state: str | None = None
    """An observation that identifies the state of the program, such as a hash."""
    datasets: tuple[DatasetRow, ...] = ()
    rewards: tuple[RewardRow, ...] = ()
    """If there are none, every numeric observation is a cost to lower."""
    folder: str = field(default="")
    """The folder of the file."""


def read_plugin(file: str | Path) -> Plugin:
    """Return the declaration in `file`, with absolute paths.

    Raises:
        PluginError: The file cannot be read, or is invalid.
    """
    path = Path(file).absolute()
    try:
        plugin = msgspec.toml.decode(path.read_bytes(), type=Plugin)
    except OSError as error:
        raise PluginError(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:
        raise PluginError(f"{file} is not a valid plug-in declaration: {error}") from error
    if not plugin.service or not plugin.environments:
        raise PluginError(f"{file} needs a `service` with arguments, and an [[environments]]")
    folder = str(path.parent)
    arguments = [argument.replace(_FOLDER, folder) for argument in plugin.service]
    if os.sep in arguments[0]:
        arguments[0] = os.path.join(folder, arguments[0])
    return msgspec.structs.replace(plugin, service=tuple(arguments), folder=folder)


def plugin_files() -> Iterator[Path]:
    """Yield the installed declarations.

    They are in the files and folders of ``COMPILER_GYM_PLUGINS``, and in ``plugins`` in the
    directory of installed data.
    """
    paths = [Path(path) for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
    for path in [*paths, site_data_path("plugins")]:
        yield from sorted(path.glob("*.toml")) if path.is_dir() else ()
        if path.is_file():
            yield path


def declared_compilers() -> Iterator[Compiler]:
    """Yield the compilers of the installed declarations; skip invalid ones with a warning."""
    for file in plugin_files():
        try:
            yield read_compiler(file)
        except PluginError as error:
            warnings.warn(f"skipping a plug-in: {error}", CompilerGymWarning, stacklevel=2)


def read_compiler(file: str | Path) -> Compiler:
    """Return the compiler that a TOML file declares.

    Raises:
        PluginError: The file cannot be read, or is invalid.
    """
    plugin = read_plugin(file)
    path = os.fspath(Path(file).absolute())
    environments = (
        EnvironmentId(
            row.id,
            {
                "plugin": path,
                "action_space": row.action_space,
                "observation_space": row.observation_space,
                "reward_space": row.reward_space,
            },
        )
        for row in plugin.environments
    )
    return Compiler(plugin.name, plugin.description, ENVIRONMENT, tuple(environments))
