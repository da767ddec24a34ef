# SPDX-License-Identifier: MIT
"""Build directories of CMake, Meson or configure, whose files contain absolute paths.

In a copy, these paths would build the original project. Generated files are therefore not copied,
the user's options in CMake's cache are adapted, and `configuring` generates everything else again.
"""

import configparser
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec

from compiler_gym.errors import ProjectError

_CACHE, _MESON, _STATUS = "CMakeCache.txt", "meson-private", "config.status"
_FOLDERS = {"CMakeFiles", _MESON, "meson-info", "meson-logs"}
_FILES = {".ninja_log", ".ninja_deps", "cmake_install.cmake", "CTestTestfile.cmake"}
_HEADS = (b"# CMAKE generated file", b"# This is the build file for project")
_ENTRY = re.compile(r"([^#/:=\s][^:=]*):([A-Z]+)=(.*)")
_STAYS = re.compile(r"CMAKE_(GENERATOR(_\w+)?|EXTRA_GENERATOR|HOME_DIRECTORY)")
"""Internal entries of CMake's cache that the user chose."""
_COMPILER = re.compile(r"CMAKE_(C|CXX)_COMPILER(_AR|_RANLIB)?")
"""Compilers that CMake found; in the copy they come from CC and CXX."""
_NAMES_PLACES = {_STATUS, "Makefile", "libtool", "config.mk", "config.mak"}
"""Files to which ``configure`` writes absolute paths of the project."""


def require_sources_in(source: Path) -> None:
    """Raise `ProjectError` if `source` is the build directory of a project elsewhere."""
    if not (source / _CACHE).is_file():
        return
    for entry in map(_ENTRY.fullmatch, _entries_in(source / _CACHE)):
        if entry is None or entry[1] != "CMAKE_HOME_DIRECTORY":
            continue
        home, root = Path(os.path.realpath(entry[3])), Path(os.path.realpath(source))
        if not home.is_relative_to(root):
            command = shlex.join(["cmake", "--build", os.path.relpath(root, home)])
            raise ProjectError(
                f"{source} is a build directory, but its sources are in {home}: run "
                f"`compiler-gym tune -- {command}` in {home}"
            )


def is_generated(path: Path) -> bool:
    """Return whether CMake or Meson generates `path`, with absolute paths."""
    if path.name in _FOLDERS:
        return path.is_dir()
    if path.name in _FILES:
        return True
    if path.name not in ("Makefile", "build.ninja") or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.readline().startswith(_HEADS)


def adapt_configured(source: Path, target: Path) -> None:
    """Adapt the absolute paths in the configured folders of `target`, a copy of `source`."""
    for folder, _, files in os.walk(target):
        if _CACHE in files:
            _adapt_cache(Path(folder, _CACHE), source, target)
        if _STATUS in files:
            for path in Path(folder).rglob("*"):
                if path.name in _NAMES_PLACES and path.is_file() and not path.is_symlink():
                    _rewrite(
                        path,
                        _move_paths(path.read_text("utf-8", "surrogateescape"), source, target),
                    )


def configuring(source: Path, tree: Path) -> list[str]:
    """Return shell commands that configure the copy `tree` as `source` was configured.

    They run in `tree`. Configured folders inside other configured folders are ignored.
    """
    commands: list[str] = []
    for folder in _find_configured(source):
        build = os.path.relpath(folder, source)
        if not (tree / build).is_dir():
            continue
        if (folder / _CACHE).is_file():
            commands.append(shlex.join(["cmake", build]))
        else:
            commands.append(shlex.join(_meson(folder, source, build)))
    return commands


def _find_configured(source: Path) -> Iterator[Path]:
    """Yield the outermost folders that CMake or Meson configured."""
    for folder, folders, files in os.walk(source):
        if _CACHE in files or _MESON in folders:
            folders.clear()
            yield Path(folder)


def _adapt_cache(cache: Path, source: Path, target: Path) -> None:
    """Keep only the user's entries of a cache; CMake generates the others again."""
    entries: list[str] = []
    for line in _entries_in(cache):
        entry = _ENTRY.fullmatch(line)
        if entry is None or _COMPILER.fullmatch(entry[1]):
            continue
        if entry[2] not in ("INTERNAL", "STATIC") or _STAYS.fullmatch(entry[1]):
            entries.append(_move_paths(line, source, target))
    _rewrite(cache, "\n".join([*entries, ""]))


def _entries_in(cache: Path) -> list[str]:
    return cache.read_text("utf-8", "surrogateescape").splitlines()


def _meson(folder: Path, source: Path, build: str) -> list[str]:
    """Return the command that configures a copy of `folder`."""
    try:
        info = msgspec.json.decode((folder / "meson-info" / "meson-info.json").read_bytes())
        home = os.path.relpath(info["directories"]["source"], os.path.realpath(source))
    except (OSError, ValueError, KeyError, TypeError):
        home = os.curdir
    parser = configparser.RawConfigParser(delimiters=("=",))
    parser.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]  # names keep their case
    parser.read(folder / _MESON / "cmd_line.txt", encoding="utf-8")
    options = parser.items("options") if parser.has_section("options") else []
    return ["meson", "setup", *(f"-D{name}={value}" for name, value in options), build, home]


def _move_paths(text: str, source: Path, target: Path) -> str:
    """Return `text` with paths in `source` replaced by paths in `target`."""
    for root in dict.fromkeys((os.path.realpath(source), str(source.absolute()))):
        text = re.sub(rf"(?<![\w./-]){re.escape(root)}(?![\w.-])", lambda _: str(target), text)
    return text


def _rewrite(path: Path, text: str) -> None:
    """Write a file but keep its time stamp, so that the build does not repeat any step."""
    before = path.stat()
    path.write_text(text, "utf-8", "surrogateescape")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
