# SPDX-License-Identifier: MIT
"""Finds the interpreters that a release is built for and tried with, and gets one where none is."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from compiler_gym.errors import DatasetInitError, DownloadFailed
from compiler_gym_corpus.packages import PrivateApt

__all__ = ["found", "source_archive", "stable", "version"]

MIRROR = "http://deb.debian.org/debian"
_SOURCE = "trixie", "3.13"
"""The release of Debian whose source of Python is built, where the network has nothing better."""


def version(python: str) -> tuple[int, int]:
    """Return the first two numbers of an interpreter's version."""
    code = "import sys; print(*sys.version_info[:2])"
    words = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    major, minor = words.stdout.split()
    return int(major), int(minor)


def found(into: Path) -> list[str]:
    """Return the interpreters from 3.11 on that are here, or below `into`, one of each version."""
    words = ["uv", "python", "list", "--only-installed", "--output-format", "json"]
    path = os.pathsep.join([os.environ["PATH"], str(into.resolve() / "bin")])
    inside = {**os.environ, "PATH": path}
    done = subprocess.run(words, env=inside, check=True, capture_output=True, text=True)
    known = {version(sys.executable): sys.executable}
    for one in json.loads(done.stdout):
        numbers = one["version_parts"]["major"], one["version_parts"]["minor"]
        is_usual = one["implementation"] == "cpython" and one["variant"] == "default"
        if is_usual and numbers not in known:
            # The path may be a script of a version manager, which asks PATH what it stands for.
            words = [one["path"], "-c", "import sys; print(sys.executable)"]
            done = subprocess.run(words, env=inside, check=True, capture_output=True, text=True)
            known[numbers] = done.stdout.strip()
    return [known[key] for key in sorted(known) if key >= (3, 11)]


def stable(into: Path) -> str:
    """Return an interpreter from 3.12 on, whose wheel all later ones can use.

    One that is here, or that uv fetches, or that is built from Debian's source: in this order.
    Raises `OSError` or `subprocess.CalledProcessError` if no way leads there, and `SystemExit` with
    what apt says where a source is not the one that Debian signed.
    """
    for path in found(into):
        if version(path) >= (3, 12):
            return path
    print(f"Getting Python {_SOURCE[1]}", flush=True)
    fetched = subprocess.run(["uv", "python", "install", _SOURCE[1]], check=False)
    if not fetched.returncode:
        words = ["uv", "python", "find", _SOURCE[1]]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        return done.stdout.strip()
    return _built(into)


def _built(into: Path) -> str:
    suite, wanted = _SOURCE
    print(f"Building it from the source of Debian {suite}, for some minutes", flush=True)
    source = into / f"python{wanted}-source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    archive = source_archive(f"python{wanted}", suite, into)
    subprocess.run(["tar", "-xf", archive, "-C", source], check=True)
    (folder,) = source.iterdir()
    configure = ["./configure", f"--prefix={into.resolve()}", "--without-ensurepip"]
    for words in (
        [*configure, "--disable-test-modules"],
        ["make", f"-j{os.cpu_count()}"],
        ["make", "install"],
    ):
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(source)
    return str(into / "bin" / f"python{wanted}")


def source_archive(package: str, suite: str, into: Path) -> Path:
    """Fetch the original archive of a package; raise `SystemExit` unless Debian signed it.

    apt verifies the signature of the release, its list by hash, and the archive by that list.
    """
    folder = into / "downloads"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        PrivateApt(into / "apt", [f"{MIRROR} {suite} main"]).prepare().fetch_archive(
            package, folder
        )
    except (DatasetInitError, DownloadFailed) as error:
        raise SystemExit(str(error)) from error
    found = list(folder.glob("*.orig.tar.xz"))
    if len(found) != 1:
        raise OSError(f"expected one original archive of {package}, found {len(found)} in {folder}")
    return found[0]
