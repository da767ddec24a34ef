# SPDX-License-Identifier: MIT
"""Places where nothing but a wheel and what it asks for is installed, to try the wheel in.

Neither has a network while something runs there. An `Environment` is a virtual environment of
a Python of this machine that sees neither its LLVM nor its compilers; a `Root` is another Linux,
a fresh Debian in a folder.
"""

import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path

from scripts.release.pythons import version

__all__ = ["Environment", "Place", "Root"]

Done = subprocess.CompletedProcess[str]
_ISOLATED = ("unshare", "--mount", "--net")
_LOOPBACK = "ip link set lo up 2>/dev/null; "
_LONGEST = 600
"""Seconds that one command may take."""


class Place(ABC):
    """Somewhere a wheel is installed and tried."""

    def __init__(self, python: str, folder: Path) -> None:
        self.python = python
        self.folder = folder

    @property
    @abstractmethod
    def version(self) -> tuple[int, int]:
        """The first two numbers of the version of its Python."""

    def remove(self) -> None:
        """Delete it. Nothing is mounted there: mounts end with the command they were made for."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @abstractmethod
    def install(self, *wheels: Path) -> None:
        """Install `wheels` into a new environment; `subprocess.CalledProcessError` if it fails."""

    @abstractmethod
    def run(self, *words: str, clang: bool = False) -> Done:
        """Run a command in an own directory, with a `clang` on PATH where one is asked for."""

    def _run(self, command: tuple[str, ...], words: tuple[str, ...], **variables: str) -> Done:
        """Run `command`, which begins a namespace without a network, with `words` to run there."""
        return subprocess.run(
            [*command, *words],
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "COLUMNS": "100", **variables},
            cwd=self.folder / "home",
            capture_output=True,
            text=True,
            check=False,
            timeout=_LONGEST,
        )  # fmt: skip


class Environment(Place):
    """A virtual environment of `python` that sees nothing of this machine but its C library."""

    def __str__(self) -> str:
        return self.python

    @property
    def version(self) -> tuple[int, int]:
        """What the interpreter says."""
        return version(self.python)

    def install(self, *wheels: Path) -> None:
        """Install `wheels` and what they ask for."""
        inside = self.folder / "environment"
        self.remove()
        (self.folder / "home").mkdir(parents=True)
        subprocess.run([self.python, "-m", "venv", "--without-pip", str(inside)], check=True)
        words = ["uv", "pip", "install", "--quiet", "--python", str(inside), *map(str, wheels)]
        subprocess.run(words, check=True)

    def run(self, *words: str, clang: bool = False) -> Done:
        """Run a command without LLVM and programs of this machine, or with all of them."""
        inside = str(self.folder / "environment" / "bin")
        if clang:
            path, hide = os.pathsep.join([inside, os.environ["PATH"]]), ""
        else:
            path, hide = inside, "for d in /usr/lib/llvm-*; do mount -t tmpfs none $d; done; "
        # The shell is named by its path: PATH has none.
        script = f'{_LOOPBACK}{hide}export PATH="$0"; exec "$@"'
        command = (*_ISOLATED, "--map-root-user", "/bin/sh", "-c", script, path)
        return self._run(command, words, HOME=str(self.folder / "home"))


class Root(Place):
    """A new Debian of the release `suite` in a folder; making it needs root and ``debootstrap``."""

    def __init__(self, suite: str, python: str, folder: Path) -> None:
        super().__init__(python, folder)
        self.suite = suite
        self._has_clang = False

    def __str__(self) -> str:
        return f"Debian {self.suite}, {self.python}"

    @property
    def version(self) -> tuple[int, int]:
        """What the name of the package says."""
        major, minor = self.python.removeprefix("python").split(".")
        return int(major), int(minor)

    def install(self, *wheels: Path) -> None:
        """Make the Debian and install `wheels` and what they ask for."""
        self.remove()
        (self.folder / "home").mkdir(parents=True)
        packages = f"{self.python},{self.python}-venv,ca-certificates"
        words = ["debootstrap", "--variant=minbase", f"--include={packages}", self.suite]
        subprocess.run([*words, str(self._root)], check=True, stdout=subprocess.DEVNULL)
        for name in ("/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"):
            shutil.copyfile(name, f"{self._root}{name}")
        for wheel in wheels:
            shutil.copy(wheel, self._root / "tmp")
        self._prepare(f"{self.python} -m venv /environment")
        self._prepare(
            "/environment/bin/pip install --quiet --disable-pip-version-check "
            + " ".join(f"/tmp/{wheel.name}" for wheel in wheels)
        )

    def run(self, *words: str, clang: bool = False) -> Done:
        """Run a command inside, where `clang` is what the page says to install."""
        if clang and not self._has_clang:
            self._prepare("apt-get install -y -qq --no-install-recommends clang >/dev/null")
            self._has_clang = True
        mount = 'mount -t proc none "$0/proc"; mount --rbind /dev "$0/dev"; '
        path = "/environment/bin:/usr/bin:/bin" if clang else "/environment/bin"
        inside = f'cd /root; export PATH={path}; exec "$@"'
        script = f'{_LOOPBACK}{mount}exec chroot "$0" /bin/sh -c \'{inside}\' sh "$@"'
        command = (*_ISOLATED, "/bin/sh", "-c", script, str(self._root))
        return self._run(command, words, HOME="/root")

    @property
    def _root(self) -> Path:
        return self.folder / "root"

    def _prepare(self, command: str) -> None:
        mount = f'mount -t proc none "{self._root}/proc"; mount --rbind /dev "{self._root}/dev"; '
        script = f'{mount}exec chroot "{self._root}" /bin/sh -ec "$0"'
        # By root itself: where only root is known, apt cannot be another user while it fetches.
        words = ["unshare", "--mount", "/bin/sh", "-c", script, command]
        ours = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
        variables = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(words, check=True, env={**ours, **variables, "HOME": "/root"})
