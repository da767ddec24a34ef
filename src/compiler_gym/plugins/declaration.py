# SPDX-License-Identifier: MIT
"""A TOML file that declares a compiler: which program it is, its programs and its rewards.

Reading one starts nothing. Paths in it are relative to the folder of the file.
"""

import os
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import msgspec
from msgspec import Struct, field

from compiler_gym.errors import PluginError
from compiler_gym.files.paths import site_data_path

__all__ = [
    "VARIABLE",
    "DatasetRow",
    "Dialect",
    "EnvironmentRow",
    "Plugin",
    "RewardRow",
    "plugin_files",
    "read_plugin",
]

VARIABLE = "COMPILER_GYM_PLUGINS"
"""Files and folders of plug-ins, separated by colons."""
_FOLDER = "{folder}"


class Dialect(Enum):
    """What a program speaks."""

    SESSION = "session"
    """The session protocol."""
    MODEL_RUNNER = "model-runner"
    """LLVM's ``InteractiveModelRunner``: the program is a compiler that asks over two pipes."""


class EnvironmentRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One id, and the spaces that it begins with."""

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
    """The observation of the cost at reset; None is what it was when it was first seen."""


class Plugin(Struct, frozen=True, forbid_unknown_fields=True):
    """What a file declares."""

    name: str
    """The name of the compiler."""
    service: tuple[str, ...]
    """The program and its arguments."""
    environments: tuple[EnvironmentRow, ...]
    description: str = ""
    dialect: Dialect = Dialect.SESSION
    """What the program speaks."""
    choices: int = 2
    """Number of answers that a question of a model runner has, if an answer is a whole number."""
    carrier: str = "descriptor"
    """What carries the messages: ``descriptor``, ``stdio`` or ``socket``."""
    benchmark: str | None = None
    """The program of the first reset if none is given."""
    state: str | None = None
    """An observation that identifies the state of the program, such as a hash."""
    datasets: tuple[DatasetRow, ...] = ()
    rewards: tuple[RewardRow, ...] = ()
    """If there are none, every number that is observed is a cost to lower."""
    folder: str = field(default="")
    """Where the file is."""


def read_plugin(file: str | Path) -> Plugin:
    """Return what `file` declares, with paths that hold everywhere.

    Raises:
        PluginError: It cannot be read, or declares something else.
    """
    path = Path(file).absolute()
    try:
        plugin = msgspec.toml.decode(path.read_bytes(), type=Plugin)
    except OSError as error:
        raise PluginError(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:
        raise PluginError(f"{file} declares no compiler: {error}") from error
    if not plugin.service or not plugin.environments:
        raise PluginError(f"{file}: expected the words of `service`, and an [[environments]]")
    folder = str(path.parent)
    words = [word.replace(_FOLDER, folder) for word in plugin.service]
    if os.sep in words[0]:
        words[0] = os.path.join(folder, words[0])
    return msgspec.structs.replace(plugin, service=tuple(words), folder=folder)


def plugin_files() -> Iterator[Path]:
    """Yield the declarations that are installed.

    They lie in the files and folders of ``COMPILER_GYM_PLUGINS``, and in ``plugins`` below the
    directory of installed data.
    """
    asked = [Path(place) for place in os.environ.get(VARIABLE, "").split(os.pathsep) if place]
    for place in [*asked, site_data_path("plugins")]:
        yield from sorted(place.glob("*.toml")) if place.is_dir() else ()
        if place.is_file():
            yield place
