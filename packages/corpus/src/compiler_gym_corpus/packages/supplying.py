# SPDX-License-Identifier: MIT
"""Sources and build systems from a distribution's archive, kept in a cache.

Each file is downloaded once.
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
from compiler_gym_corpus.packages.apt import Fetched, PrivateApt
from compiler_gym_corpus.packages.lock import LockedPackage, PackageLock
from compiler_gym_corpus.packages.roots import Root, base_tree, clone_tree

__all__ = ["InstalledSupplier", "UnpackedSupplier", "may_be_c"]

_COMPILED = re.compile(r"arch=(any|linux-any|amd64|any-amd64|\S+,amd64)\b")
_OTHER_LANGUAGES = re.compile(
    r"\b(cargo|rustc|dh-cargo|golang\S*|dh-golang|ghc\S*|haskell-devscripts|ocaml\S*|dh-ocaml"
    r"|gfortran|gnat\S*|gdc|ldc|fpc\S*|fp-compiler|mono-\S+|dh-elpa|erlang\S*|nodejs|default-jdk"
    r"|openjdk-\S+|r-base-dev|dh-r|sbcl|valac|nasm|swi-prolog)"
)
_BASE = ("?essential", "build-essential", "debhelper", "python3")
"""The packages that every build needs; Python runs the stand-ins of the compilers."""


class UnpackedSupplier:
    """Builds in trees of unpacked packages, so nothing is installed and root is not required.

    Args:
        cache: The folder in which downloads and unpacked trees are kept.
        lock: The packages to build, and the versions of their dependencies.
        compiler: The packages of the compiler that produces the modules.
    """

    def __init__(self, cache: Path, lock: PackageLock, compiler: Sequence[str]) -> None:
        self._cache, self._lock, self._compiler = cache, lock, tuple(compiler)
        self._apt = PrivateApt(cache / "apt", lock.mirrors, lock.versions)
        self._base: tuple[Path, dict[str, Fetched]] | None = None

    def prepare(self) -> "UnpackedSupplier":
        """Download and unpack the packages that every build needs."""
        self._apt.prepare()
        base = self._apt.resolve_needed([*_BASE, *self._compiler])
        self._check(base)
        tree = base_tree(self._cache / "trees", self._apt.fetch(base))
        self._base = (tree, {file.package[0]: file for file in base})
        return self

    def lock_packages(self, names: Sequence[str]) -> PackageLock:
        """Return a lock of the newest versions of `names` and their build dependencies.

        Unknown packages get no version: building them reports the error.
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
        """Return `count` random source packages of the archive that may contain C or C++."""
        self._apt.prepare()
        names = sorted({fields["Package"] for fields in self._apt.sources() if may_be_c(fields)})
        if count > len(names):
            raise DatasetInitError(
                f"the archive has only {len(names)} such packages; choose fewer than {count}"
            )
        order = sorted(names, key=lambda name: sha256(f"{seed} {name}".encode()).digest())
        return order[:count]

    def source(self, package: LockedPackage, into: Path) -> Path:
        """Copy the source of `package` to `into`, from the cache if possible."""
        return fetch_source(self._apt, package, self._cache / "sources", into)

    @contextmanager
    def root(self, package: LockedPackage) -> Generator[Root]:
        """Yield a tree with the build dependencies of `package`."""
        if self._base is None:
            self.prepare()
        assert self._base is not None
        tree, base = self._base
        needed = self._apt.build_depends(package.name, package.version)
        self._check(needed)
        extra = [file for file in needed if file.package[0] not in base]
        archives = self._apt.fetch(extra)
        versions = {"=".join(file.package) for file in (*base.values(), *extra)}
        with clone_tree(tree, archives) as path:
            yield Root(path, tuple(sorted(versions)))

    def _check(self, files: Sequence[Fetched]) -> None:
        """Raise `DownloadFailed` if the archive has a package in another version than the lock."""
        versions = self._lock.versions
        for name, version in (file.package for file in files) if versions else ():
            if versions.get(name) != version:
                raise DownloadFailed(
                    f"the lock requires {name}={versions.get(name, 'nothing')}, but the archive "
                    f"has {version}; use a newer lock, or a mirror that keeps old versions"
                )


class InstalledSupplier:
    """Builds in this machine's own system, where it installs build dependencies."""

    def __init__(self, cache: Path, lock: PackageLock, compiler: Sequence[str]) -> None:
        self._cache, self._compiler = cache, tuple(compiler)
        self._apt = PrivateApt(cache / "apt", lock.mirrors, lock.versions)

    def prepare(self) -> "InstalledSupplier":
        """Install the packages that every build needs."""
        if os.geteuid() != 0:
            raise DatasetInitError(
                "--install-dependencies installs packages on this machine and needs root; without "
                "it, packages are built in unpacked trees"
            )
        self._apt.prepare()
        self._install("install", [name for name in (*_BASE, *self._compiler) if name[0] != "?"])
        return self

    def source(self, package: LockedPackage, into: Path) -> Path:
        """Copy the source of `package` to `into`, from the cache if possible."""
        return fetch_source(self._apt, package, self._cache / "sources", into)

    @contextmanager
    def root(self, package: LockedPackage) -> Generator[Root]:
        """Install the build dependencies of `package` and yield the machine's own system."""
        needed = [file.package[0] for file in self._apt.build_depends(package.name)]
        with lock_path(self._cache / "installing"):
            self._install("install", needed)
        yield Root(Path("/"), _list_installed(needed))

    def _install(self, verb: str, names: Sequence[str]) -> None:
        command = ["apt-get", verb, "-y", "-qq", "--no-install-recommends", *names]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            raise DownloadFailed(f"`{' '.join(command[:6])} ...` failed: {result.stderr[-500:]}")


def may_be_c(fields: Mapping[str, str]) -> bool:
    """Return whether a source package builds binaries and needs no other language's tools."""
    binaries = fields.get("Package-list", "") or fields.get("Architecture", "")
    is_compiled = bool(_COMPILED.search(binaries)) or fields.get("Architecture") == "any"
    return is_compiled and not _OTHER_LANGUAGES.search(fields.get("Build-depends", ""))


def fetch_source(apt: PrivateApt, package: LockedPackage, cache: Path, into: Path) -> Path:
    """Copy the source of `package` to `into`, downloading it if it is not in `cache`."""
    source = cache / package.folder
    cache.mkdir(parents=True, exist_ok=True)
    with lock_path(source):
        descriptions = sorted(source.glob("*.dsc"))
        if len(descriptions) != 1 or package.sha256 not in ("", hash_file(descriptions[0])):
            with replace_directory(source) as folder:
                apt.source(package.name, package.version, folder)
        for path in source.iterdir():
            shutil.copyfile(path, into / path.name)
    (description,) = into.glob("*.dsc")
    return description


def _list_installed(names: Sequence[str]) -> tuple[str, ...]:
    form = "${Package}=${Version}\n"
    command = ["dpkg-query", "-W", f"-f={form}", *names]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return tuple(sorted(result.stdout.split()))
