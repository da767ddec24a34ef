# SPDX-License-Identifier: MIT
"""Where sources and systems come from: the archive of a distribution, kept in a cache.

Each file is fetched once, whatever is built of it and how often.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from compiler_gym.errors import DatasetInitError, DownloadFailed
from compiler_gym.files import hash_file, lock_path, replace_directory
from compiler_gym.tools.corpus.packages.apt import Fetched, PrivateApt
from compiler_gym.tools.corpus.packages.lock import LockedPackage, PackageLock
from compiler_gym.tools.corpus.packages.roots import Root, base_tree, clone_tree

__all__ = ["InstalledSupplier", "UnpackedSupplier", "may_be_c"]

_COMPILED = re.compile(r"arch=(any|linux-any|amd64|any-amd64|\S+,amd64)\b")
_OTHER_LANGUAGES = re.compile(
    r"\b(cargo|rustc|dh-cargo|golang\S*|dh-golang|ghc\S*|haskell-devscripts|ocaml\S*|dh-ocaml"
    r"|gfortran|gnat\S*|gdc|ldc|fpc\S*|fp-compiler|mono-\S+|dh-elpa|erlang\S*|nodejs|default-jdk"
    r"|openjdk-\S+|r-base-dev|dh-r|sbcl|valac|nasm|swi-prolog)"
)
_BASE = ("?essential", "build-essential", "debhelper", "python3")
"""What every build needs; Python runs the stand-ins of the compilers."""


class UnpackedSupplier:
    """Builds in trees of unpacked packages: nothing is installed, and nobody has to be root.

    Args:
        cache: Where what is fetched and unpacked is kept for the next time.
        lock: What is to be built, and in which versions all else is had.
        compiler: The packages with the compiler that makes modules.
    """

    def __init__(self, cache: Path, lock: PackageLock, compiler: Sequence[str]) -> None:
        self._cache, self._lock, self._compiler = cache, lock, tuple(compiler)
        self._apt = PrivateApt(cache / "apt", lock.mirrors, lock.versions)
        self._base: tuple[Path, dict[str, Fetched]] | None = None

    def prepare(self) -> "UnpackedSupplier":
        """Fetch and unpack what every build needs."""
        self._apt.prepare()
        base = self._apt.resolve_needed([*_BASE, *self._compiler])
        self._check(base)
        tree = base_tree(self._cache / "trees", self._apt.fetch(base))
        self._base = (tree, {file.package[0]: file for file in base})
        return self

    def lock_packages(self, names: Sequence[str]) -> PackageLock:
        """Return the lock of the newest versions of `names`, and of what they are built against.

        What the archive does not have stays without a version: building it says so.
        """
        self._apt.prepare()
        packages: list[LockedPackage] = []
        needed = self._apt.resolve_needed([*_BASE, *self._compiler])
        for name in dict.fromkeys(names):
            package = LockedPackage(name)
            try:
                fields = self._apt.describe_source(name)
                package = LockedPackage(name, fields["Version"], fields["Dsc-sha256"])
                needed += self._apt.build_depends(name)
            except DownloadFailed:
                pass
            packages.append(package)
        versions = dict(file.package for file in needed)
        return PackageLock(self._lock.mirrors, tuple(packages), versions)

    def choose_packages(self, count: int, seed: int) -> list[str]:
        """Return `count` source packages of the archive that may hold C or C++, at random."""
        self._apt.prepare()
        names = sorted({fields["Package"] for fields in self._apt.sources() if may_be_c(fields)})
        if count > len(names):
            raise DatasetInitError(f"expected at most {len(names)} packages, found {count}")
        order = sorted(names, key=lambda name: sha256(f"{seed} {name}".encode()).digest())
        return order[:count]

    def source(self, package: LockedPackage, into: Path) -> Path:
        """Put the source of `package` into the folder, from the cache where it is there."""
        return fetch_source(self._apt, package, self._cache / "sources", into)

    @contextmanager
    def root(self, package: LockedPackage) -> Generator[Root]:
        """Give a tree with what `package` is built against."""
        if self._base is None:
            self.prepare()
        assert self._base is not None
        tree, base = self._base
        needed = self._apt.build_depends(package.name, package.version)
        self._check(needed)
        more = [file for file in needed if file.package[0] not in base]
        archives = self._apt.fetch(more)
        versions = {"=".join(file.package) for file in (*base.values(), *more)}
        with clone_tree(tree, archives) as path:
            yield Root(path, tuple(sorted(versions)))

    def _check(self, files: Sequence[Fetched]) -> None:
        """Raise `DownloadFailed` where a package is not had in the version that the lock names."""
        versions = self._lock.versions
        for name, version in (file.package for file in files) if versions else ():
            if versions.get(name) != version:
                raise DownloadFailed(
                    f"the lock asks for {name}={versions.get(name, 'nothing')}, and the archive "
                    f"has {version}: take a newer lock, or a mirror that keeps old versions"
                )


class InstalledSupplier:
    """Builds in this machine's own system, in which it installs what each package needs."""

    def __init__(self, cache: Path, lock: PackageLock, compiler: Sequence[str]) -> None:
        self._cache, self._compiler = cache, tuple(compiler)
        self._apt = PrivateApt(cache / "apt", lock.mirrors, lock.versions)

    def prepare(self) -> "InstalledSupplier":
        """Install what every build needs."""
        if os.geteuid() != 0:
            raise DatasetInitError(
                "--install-dependencies installs packages on this machine: expected root: leave "
                "it out, and packages are built in an unpacked tree"
            )
        self._apt.prepare()
        self._install("install", [name for name in (*_BASE, *self._compiler) if name[0] != "?"])
        return self

    def source(self, package: LockedPackage, into: Path) -> Path:
        """Put the source of `package` into the folder, from the cache where it is there."""
        return fetch_source(self._apt, package, self._cache / "sources", into)

    @contextmanager
    def root(self, package: LockedPackage) -> Generator[Root]:
        """Install what `package` is built against, and give the machine's own system."""
        needed = [file.package[0] for file in self._apt.build_depends(package.name)]
        with lock_path(self._cache / "installing"):
            self._install("install", needed)
        yield Root(Path("/"), _list_installed(needed))

    def _install(self, verb: str, names: Sequence[str]) -> None:
        words = ["apt-get", verb, "-y", "-qq", "--no-install-recommends", *names]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise DownloadFailed(f"`{' '.join(words[:6])} ...` failed: {done.stderr[-500:]}")


def may_be_c(fields: Mapping[str, str]) -> bool:
    """Return whether a source package makes binaries, and asks for no other language."""
    made = fields.get("Package-list", "") or fields.get("Architecture", "")
    is_compiled = bool(_COMPILED.search(made)) or fields.get("Architecture") == "any"
    return is_compiled and not _OTHER_LANGUAGES.search(fields.get("Build-depends", ""))


def fetch_source(apt: PrivateApt, package: LockedPackage, cache: Path, into: Path) -> Path:
    """Copy the source of `package` into the folder, fetched where it is not in the `cache`."""
    kept = cache / package.folder
    cache.mkdir(parents=True, exist_ok=True)
    with lock_path(kept):
        found = sorted(kept.glob("*.dsc"))
        if len(found) != 1 or package.sha256 not in ("", hash_file(found[0])):
            with replace_directory(kept) as folder:
                apt.source(package.name, package.version, folder)
        for path in kept.iterdir():
            shutil.copyfile(path, into / path.name)
    (description,) = into.glob("*.dsc")
    return description


def _list_installed(names: Sequence[str]) -> tuple[str, ...]:
    form = "${Package}=${Version}\n"
    words = ["dpkg-query", "-W", f"-f={form}", *names]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return tuple(sorted(done.stdout.split()))
