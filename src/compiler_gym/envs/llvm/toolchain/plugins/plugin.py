# SPDX-License-Identifier: MIT
"""The identity of a plug-in: its file name and the hash of its contents.

The hash is part of the compiler's version, so that results of one plug-in are never taken
for those of another, whatever their names.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from compiler_gym.errors import PluginError
from compiler_gym.files import read_regular
from compiler_gym.service import SessionSource

__all__ = ["Plugin", "list_recorded_plugins", "load_options", "plugin_source", "require_recorded"]

_SESSION = "compiler_gym.envs.llvm.toolchain.plugins.session:PluginSession"
_ELF = b"\x7fELF"
_HASH_DIGITS = 16
"""The digits of the hash in a version."""


class Plugin(msgspec.Struct, frozen=True):
    """A plug-in as it was when it was asked for."""

    path: str
    """Where it is; absolute."""
    hash: str
    """The SHA-256 of the file, in hexadecimal digits."""

    @classmethod
    def read(cls, path: str | Path) -> "Plugin":
        """Return the plug-in at `path`, or raise `PluginError` where no library is."""
        if not isinstance(path, (str, Path)):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise PluginError(f"expected the path of a plug-in, found {path!r}")
        file = Path(path).expanduser().absolute()
        try:
            contents = read_regular(file)
        except OSError as error:
            raise PluginError(
                f"the plug-in {file} cannot be read: {error.strerror}: expected a shared library"
            ) from error
        if not contents.startswith(_ELF):
            raise PluginError(f"{file} is no plug-in: expected a shared library (ELF)")
        return cls(str(file), sha256(contents).hexdigest())

    @property
    def identity(self) -> str:
        """What it is called in versions: ``libMyPass.so@0123456789abcdef``."""
        name = re.sub(r"[+@\s]", "_", Path(self.path).name)
        return f"{name}@{self.hash[:_HASH_DIGITS]}"


def plugin_source(
    plugins: Iterable[str | Path], passes: Iterable[str]
) -> tuple[SessionSource, tuple[Plugin, ...]]:
    """Return the source of sessions with `plugins` that offer `passes`, and the plug-ins.

    Raises `PluginError` for a file that is no library, for one that is named twice and for
    passes without a plug-in.
    """
    for name, value in (("plugins", plugins), ("passes", passes)):
        if isinstance(value, (str, Path)):
            raise PluginError(f"{name} is {str(value)!r}: expected a list, [{str(value)!r}]")
    found = tuple(map(Plugin.read, plugins))
    names = list(passes)
    for name in names:
        if not isinstance(name, str) or not name.strip():  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise PluginError(f"expected the name of a pass, found {name!r}")
    if names and not found:
        raise PluginError(f"passes names {names[0]!r}: expected plugins=[...] that add it")
    for what, listed in (("plugins", [p.hash for p in found]), ("passes", names)):
        twice = next((one for one in listed if listed.count(one) > 1), None)
        if twice is not None:
            shown = twice if what == "passes" else found[listed.index(twice)].path
            raise PluginError(f"{what} has {shown} twice: expected each once")
    options = (
        ("plugins", msgspec.json.encode(found).decode()),
        ("passes", msgspec.json.encode(names).decode()),
    )
    return SessionSource(_SESSION, options), found


def load_options(plugins: Iterable[Plugin]) -> str:
    """Return what makes ``opt`` load them, to stand before its other options.

    >>> load_options([Plugin("/lib/libMy.so", "")])
    '-load-pass-plugin=/lib/libMy.so'
    """
    return " ".join(shlex.quote(f"-load-pass-plugin={plugin.path}") for plugin in plugins)


def list_recorded_plugins(version: str | None) -> list[str]:
    """Return the identities of the plug-ins in a compiler's version.

    >>> list_recorded_plugins("22.1.8+libMy.so@01234567")
    ['libMy.so@01234567']
    """
    return (version or "").split("+")[1:]


def require_recorded(version: str | None, plugins: Sequence[Plugin]) -> None:
    """Raise `PluginError` if a plug-in of a recorded version is not among `plugins`."""
    here = [plugin.identity for plugin in plugins]
    for identity in list_recorded_plugins(version):
        if identity in here:
            continue
        name, _, digits = identity.partition("@")
        other = next((p for p in plugins if p.identity.partition("@")[0] == name), None)
        has = "has no plug-ins" if not here else f"has {', '.join(here)}"
        if other is not None:
            theirs = other.hash[:_HASH_DIGITS]
            has = f"has another file of that name, {other.path} (SHA-256 {theirs}...)"
        raise PluginError(
            f"this was recorded with the plug-in {name} (SHA-256 {digits}...), and this "
            f"environment {has}: expected make(..., plugins=[that file], passes=[...])"
        )
