# SPDX-License-Identifier: MIT
"""Root file systems to build packages in: unpacked archives, entered with bubblewrap.

A base tree with the packages that every build needs is created once; each build gets a copy made of
hard links, plus its build dependencies. No package scripts are run, so root is not required. Their
effects that builds need are reproduced here: links to alternatives, and two accounts.
"""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.errors import DatasetInitError
from compiler_gym.files import lock_path, replace_directory, scratch_directory
from compiler_gym.sandbox import RootedPlace, RunLimits, run_rooted
from compiler_gym_corpus.packages.unpacking import place_in, unpack_package, write_in

__all__ = ["Root", "base_tree", "clone_tree"]

_MERGED = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_ALTERNATIVE = re.compile(r"--(?:install|slave)\s+(\S+)\s+\S+\s+(\S+)")
_ASSIGNED = re.compile(r"^\s*(\w+)=[\"']?([\w./+-]+)[\"']?\s*$", re.MULTILINE)
_PROGRAM = re.compile(r"/usr/bin/[^/]+")
_VALUE = re.compile(r"\$\{?(\w+)\}?")
_ACCOUNTS = "root:x:0:0:root:/root:/bin/sh\nbuilder:x:1000:1000:builder:/run/build:/bin/sh\n"
_GROUPS = "root:x:0:\nbuilder:x:1000:\n"
_FILES = {
    "etc/passwd": _ACCOUNTS,
    "etc/group": _GROUPS,
    "etc/hosts": "127.0.0.1 localhost\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True, slots=True)
class Root:
    """The root file system that one package is built in."""

    path: Path
    """The root folder; ``/`` is this machine's system."""
    packages: tuple[str, ...] = ()
    """The installed packages, ``name=version``; empty if unknown."""


def base_tree(folder: Path, archives: Sequence[Path]) -> Path:
    """Return the tree of `archives` below `folder`, creating it if necessary."""
    names = "\n".join(sorted(path.name for path in archives))
    tree = folder / hashlib.sha256(names.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with lock_path(tree):
        if not tree.exists():
            with replace_directory(tree) as new:
                for name in _MERGED:
                    (new / "usr" / name).mkdir(parents=True)
                    (new / name).symlink_to(f"usr/{name}")
                _unpack_archives(archives, new)
                for name, text in _FILES.items():
                    write_in(new, name, text)
                _compile_python(new)
    return tree


@contextmanager
def clone_tree(base: Path, archives: Sequence[Path]) -> Generator[Path]:
    """Yield a temporary copy of the tree `base` with `archives` added."""
    if not archives:
        yield base
        return
    # In the folder of the original, because hard links cannot cross file systems.
    with _sibling_folder(base) as tree:
        _link_tree(base, tree)
        _unpack_archives(archives, tree)
        yield tree


@contextmanager
def _sibling_folder(base: Path) -> Generator[Path]:
    with scratch_directory("root", base.parent) as folder:
        yield Path(folder) / "root"


def _link_tree(base: Path, tree: Path) -> None:
    command = ["cp", "-a", "--link", str(base), str(tree)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise DatasetInitError(f"cannot copy {base}: {result.stderr.strip()[-300:]}")


def _unpack_archives(archives: Iterable[Path], tree: Path) -> None:
    """Unpack each archive into `tree` and create the links that its scripts would create."""
    if shutil.which("dpkg-deb") is None:
        raise DatasetInitError("dpkg-deb not found; install it with `apt install dpkg`")
    links: list[tuple[str, str]] = []
    for archive in archives:
        unpack_package(archive, tree)
        script = subprocess.run(
            ["dpkg-deb", "--info", str(archive), "postinst"],
            capture_output=True, text=True, check=False, errors="replace",
        )  # fmt: skip
        links += _alternatives(script.stdout)
    for link, target in links:
        _make_alternative(tree, link, target)


def _compile_python(tree: Path) -> None:
    """Precompile Python's modules in `tree`: a build starts the stand-ins thousands of times."""
    for folder in (tree / "usr/lib").glob("python3.*"):
        if folder.is_symlink():
            continue  # the target of the link would be modified
        inside = f"/usr/lib/{folder.name}"
        folders = [inside, *(f"{inside}/{name}" for name in ("json", "collections", "re"))]
        command = ["/usr/bin/python3", "-m", "compileall", "-q", "-l", *folders]
        with open(os.devnull, "wb") as nothing, scratch_directory("python") as scratch:
            run_rooted(
                [*command, "--invalidation-mode", "unchecked-hash"],
                RootedPlace(tree, Path(scratch), also={inside: folder}),
                limits=RunLimits(600.0, 0, 1 << 30, 64, 0, 1024),
                environment={"LC_ALL": "C.UTF-8"},
                output=nothing.fileno(),
            )


def _alternatives(script: str) -> list[tuple[str, str]]:
    """Return the links that a package script creates, with their targets.

    >>> _alternatives("v=2\\nupdate-alternatives --install /usr/bin/a a \\\\\\n /usr/bin/a-$v 5")
    [('/usr/bin/a', '/usr/bin/a-2')]
    """
    values = dict(_ASSIGNED.findall(script))
    links = _ALTERNATIVE.findall(script.replace("\\\n", " "))
    return [(link, _VALUE.sub(lambda match: values.get(match[1], match[0]), target))
            for link, target in links]  # fmt: skip


def _make_alternative(tree: Path, link: str, target: str) -> None:
    """Create the link that ``update-alternatives`` would create, unless the path exists."""
    is_outside = ".." in (*Path(link).parts, *Path(target).parts)
    if is_outside or "$" in link + target or not _PROGRAM.fullmatch(link):
        return
    path = place_in(tree, link)
    if not os.path.lexists(path) and os.path.lexists(place_in(tree, target)):
        path.symlink_to(target)
