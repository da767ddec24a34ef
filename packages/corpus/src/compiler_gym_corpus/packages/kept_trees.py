# SPDX-License-Identifier: MIT
"""Unpack the archived built tree of a package in the system it was built in."""

import tarfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.datasets import PackageTest
from compiler_gym.datasets.fetching import zstd
from compiler_gym.errors import ValidationUnavailableError
from compiler_gym.files import cache_path, scratch_directory
from compiler_gym.sandbox import BUILD_FOLDER
from compiler_gym_corpus.packages.lock import read_lock
from compiler_gym_corpus.packages.several import LOCK
from compiler_gym_corpus.packages.supplying import UnpackedSupplier
from compiler_gym_corpus.packages.unpacking import RefusedArchive, unpack_member

__all__ = ["BuiltPackage", "lend_tree"]


@dataclass(frozen=True, slots=True)
class BuiltPackage:
    """A built tree and the system it was built in."""

    root: Path
    """The root folder of the system."""
    work: Path
    """The writable folder, which commands see as `BUILD_FOLDER`."""
    tree: Path
    """The built tree, inside `work`."""

    @property
    def inside(self) -> str:
        """The path of the tree as seen by commands in the system."""
        return f"{BUILD_FOLDER}/{self.tree.name}"


@contextmanager
def lend_tree(folder: Path, test: PackageTest, compiler: Sequence[str]) -> Generator[BuiltPackage]:
    """Yield the built tree of `test`'s package from the output `folder`, temporarily unpacked.

    `compiler` are the packages of the compiler to add to the system. Raises
    `ValidationUnavailableError` if the tree or a dependency is missing.
    """
    archive = folder / test.tree
    if not archive.is_file():
        raise ValidationUnavailableError(
            f"the built tree of {test.package} is missing: {archive}; build the packages again, or "
            "import the dataset from their current folder"
        )
    lock = read_lock(folder / LOCK)
    package = next((p for p in lock.packages if p.name == test.package), None)
    if package is None:
        raise ValidationUnavailableError(f"{folder / LOCK} does not list {test.package}")
    supplier = UnpackedSupplier(cache_path("packages"), lock, compiler)
    with supplier.root(package) as root, scratch_directory("package-tests") as scratch:
        tree = Path(scratch) / package.tree
        _unpack_tree(archive, tree)
        yield BuiltPackage(root.path, Path(scratch), tree)


def _unpack_tree(archive: Path, tree: Path) -> None:
    """Unpack the tree of an untrusted build, skipping entries that point outside."""
    tree.mkdir()
    try:
        with zstd.ZstdFile(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as packed:
            for member in packed:
                with suppress(RefusedArchive):
                    unpack_member(packed, member, tree, links_out=False)
    except (OSError, EOFError, zstd.ZstdError, tarfile.TarError) as error:
        raise ValidationUnavailableError(f"cannot unpack {archive}: {error}") from error
