# SPDX-License-Identifier: MIT
"""Trees of a system to build packages in: unpacked archives, entered with bubblewrap.

A tree holds what every build needs, and is made once; each package gets a copy of hard links,
and what it is built against besides. No script of any package is run, so nobody needs to be
root. What such scripts do that builds need is done here: links to alternatives, and two accounts.
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
from compiler_gym.tools.corpus.packages.unpacking import place_in, unpack_package, write_in

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
    """A tree of a system that one package is built in."""

    path: Path
    """``/`` is this machine's own."""
    packages: tuple[str, ...] = ()
    """What it was made of, ``name=version``; nothing where nobody knows."""


def base_tree(folder: Path, archives: Sequence[Path]) -> Path:
    """Return the tree of `archives` below `folder`, made where it is not there yet."""
    names = "\n".join(sorted(path.name for path in archives))
    tree = folder / hashlib.sha256(names.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with lock_path(tree):
        if not tree.exists():
            with replace_directory(tree) as made:
                for name in _MERGED:
                    (made / "usr" / name).mkdir(parents=True)
                    (made / name).symlink_to(f"usr/{name}")
                _unpack_archives(archives, made)
                for name, text in _FILES.items():
                    write_in(made, name, text)
                _compile_python(made)
    return tree


@contextmanager
def clone_tree(base: Path, archives: Sequence[Path]) -> Generator[Path]:
    """Yield a copy of the tree `base` with `archives` besides, and remove it at the end."""
    if not archives:
        yield base
        return
    # Beside the original: hard links do not lead to another disk.
    with _beside(base) as tree:
        _link_tree(base, tree)
        _unpack_archives(archives, tree)
        yield tree


@contextmanager
def _beside(base: Path) -> Generator[Path]:
    with scratch_directory("root", base.parent) as folder:
        yield Path(folder) / "root"


def _link_tree(base: Path, tree: Path) -> None:
    words = ["cp", "-a", "--link", str(base), str(tree)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DatasetInitError(f"cannot copy {base}: {done.stderr.strip()[-300:]}")


def _unpack_archives(archives: Iterable[Path], tree: Path) -> None:
    """Unpack each archive into `tree`, and make the links that its scripts would make."""
    if shutil.which("dpkg-deb") is None:
        raise DatasetInitError("expected dpkg-deb on PATH to unpack packages: `apt install dpkg`")
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
    """Compile Python's own modules in `tree`: stand-ins of compilers start a thousand times."""
    for folder in (tree / "usr/lib").glob("python3.*"):
        if folder.is_symlink():
            continue  # it would be written to where it leads
        inside = f"/usr/lib/{folder.name}"
        folders = [inside, *(f"{inside}/{name}" for name in ("json", "collections", "re"))]
        words = ["/usr/bin/python3", "-m", "compileall", "-q", "-l", *folders]
        with open(os.devnull, "wb") as nothing, scratch_directory("python") as scratch:
            run_rooted(
                [*words, "--invalidation-mode", "unchecked-hash"],
                RootedPlace(tree, Path(scratch), also={inside: folder}),
                limits=RunLimits(600.0, 0, 1 << 30, 64, 0, 1024),
                environment={"LC_ALL": "C.UTF-8"},
                output=nothing.fileno(),
            )


def _alternatives(script: str) -> list[tuple[str, str]]:
    """Return the links that a script of a package makes, and where each leads.

    >>> _alternatives("v=2\\nupdate-alternatives --install /usr/bin/a a \\\\\\n /usr/bin/a-$v 5")
    [('/usr/bin/a', '/usr/bin/a-2')]
    """
    values = dict(_ASSIGNED.findall(script))
    found = _ALTERNATIVE.findall(script.replace("\\\n", " "))
    return [(link, _VALUE.sub(lambda told: values.get(told[1], told[0]), target))
            for link, target in found]  # fmt: skip


def _make_alternative(tree: Path, link: str, target: str) -> None:
    """Make the link that ``update-alternatives`` would make, where nothing is in its place."""
    leaves = ".." in (*Path(link).parts, *Path(target).parts)
    if leaves or "$" in link + target or not _PROGRAM.fullmatch(link):
        return
    place = place_in(tree, link)
    if not os.path.lexists(place) and os.path.lexists(place_in(tree, target)):
        place.symlink_to(target)
