# SPDX-License-Identifier: MIT
"""The identity of a plug-in: its file name and the hash of its contents.

The hash is part of the compiler's version, so results from one plug-in are never confused with
those from another, even if they share a name.
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
"""The number of digits of the hash in a version."""


class Plugin(msgspec.Struct, frozen=True):
    """A plug-in file and its hash when it was first read."""

    path: str
    """The absolute path."""
    hash: str
    """The SHA-256 of the file, in hexadecimal digits."""

    @classmethod
    def read(cls, path: str | Path) -> "Plugin":
        """Return the plug-in at `path`, or raise `PluginError` if it is not a library."""
        if not isinstance(path, (str, Path)):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise PluginError(f"a plug-in must be a path (got {path!r})")
        file = Path(path).expanduser().absolute()
        try:
            contents = read_regular(file)
        except OSError as error:
            raise PluginError(f"cannot read the plug-in {file}: {error.strerror}") from error
        if not contents.startswith(_ELF):
            raise PluginError(f"{file} is not a plug-in: it must be a shared library (ELF)")
        return cls(str(file), sha256(contents).hexdigest())

    @property
    def identity(self) -> str:
        """The name in versions, such as ``libMyPass.so@0123456789abcdef``."""
        name = re.sub(r"[+@\s]", "_", Path(self.path).name)
        return f"{name}@{self.hash[:_HASH_DIGITS]}"


def plugin_source(
    plugins: Iterable[str | Path], passes: Iterable[str]
) -> tuple[SessionSource, tuple[Plugin, ...]]:
    """Return the source of sessions with `plugins` that offer `passes`, and the plug-ins.

    Raises `PluginError` for a file that is not a library, for one that is named twice and for
    passes without a plug-in.
    """
    for name, value in (("plugins", plugins), ("passes", passes)):
        if isinstance(value, (str, Path)):
            raise PluginError(f"{name} must be a list: write {name}=[{str(value)!r}]")
    libraries = tuple(map(Plugin.read, plugins))
    names = list(passes)
    for name in names:
        if not isinstance(name, str) or not name.strip():  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise PluginError(f"passes must be names (got {name!r})")
    if names and not libraries:
        raise PluginError(
            f"passes names {names[0]!r}; add the plug-in that has it to plugins=[...]"
        )
    for argument, values in (("plugins", [p.hash for p in libraries]), ("passes", names)):
        duplicate = next((value for value in values if values.count(value) > 1), None)
        if duplicate is not None:
            is_pass = argument == "passes"
            text = duplicate if is_pass else libraries[values.index(duplicate)].path
            raise PluginError(f"{argument} contains {text} twice; name it only once")
    options = (
        ("plugins", msgspec.json.encode(libraries).decode()),
        ("passes", msgspec.json.encode(names).decode()),
    )
    return SessionSource(_SESSION, options), libraries


def load_options(plugins: Iterable[Plugin]) -> str:
    """Return the options that make ``opt`` load the plug-ins; they must come first.

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
    identities = [plugin.identity for plugin in plugins]
    for identity in list_recorded_plugins(version):
        if identity in identities:
            continue
        name, _, digits = identity.partition("@")
        other = next((p for p in plugins if p.identity.partition("@")[0] == name), None)
        state = f"has {', '.join(identities)}" if identities else "has no plug-ins"
        if other is not None:
            digest = other.hash[:_HASH_DIGITS]
            state = f"has a different file with that name, {other.path} (SHA-256 {digest}...)"
        raise PluginError(
            f"this was recorded with the plug-in {name} (SHA-256 {digits}...), but this "
            f"environment {state}; use make(..., plugins=[that file], passes=[...])"
        )
