# SPDX-License-Identifier: MIT
"""The tree of a package as it was built, unpacked again in the system that it was built in."""

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
from compiler_gym.tools.corpus.packages.lock import read_lock
from compiler_gym.tools.corpus.packages.several import LOCK
from compiler_gym.tools.corpus.packages.supplying import UnpackedSupplier
from compiler_gym.tools.corpus.packages.unpacking import RefusedArchive, unpack_member

__all__ = ["BuiltPackage", "lend_tree"]


@dataclass(frozen=True, slots=True)
class BuiltPackage:
    """A built tree, and the system that it was built in."""

    root: Path
    """The system."""
    work: Path
    """What a step can write, as `BUILD_FOLDER`."""
    tree: Path
    """The tree, in `work`."""

    @property
    def inside(self) -> str:
        """What a step calls the tree."""
        return f"{BUILD_FOLDER}/{self.tree.name}"


@contextmanager
def lend_tree(folder: Path, test: PackageTest, compiler: Sequence[str]) -> Generator[BuiltPackage]:
    """Lend the tree of the package that `test` is of, which was built into `folder`.

    `compiler` are the packages with the compiler that is needed beside it. Raises
    `ValidationUnavailableError` where the tree or what it is built against is not there.
    """
    archive = folder / test.tree
    if not archive.is_file():
        raise ValidationUnavailableError(
            f"expected the built tree of {test.package} in {archive}, found none: build the "
            "packages again, or import the dataset from where they are now"
        )
    lock = read_lock(folder / LOCK)
    package = next((one for one in lock.packages if one.name == test.package), None)
    if package is None:
        raise ValidationUnavailableError(f"{folder / LOCK} does not name {test.package}")
    supplier = UnpackedSupplier(cache_path("packages"), lock, compiler)
    with supplier.root(package) as root, scratch_directory("package-tests") as scratch:
        tree = Path(scratch) / package.tree
        _unpack_tree(archive, tree)
        yield BuiltPackage(root.path, Path(scratch), tree)


def _unpack_tree(archive: Path, tree: Path) -> None:
    """Unpack a tree that a stranger's build left: what leads out of it is left out."""
    tree.mkdir()
    try:
        with zstd.ZstdFile(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as packed:
            for member in packed:
                with suppress(RefusedArchive):
                    unpack_member(packed, member, tree, links_out=False)
    except (OSError, EOFError, zstd.ZstdError, tarfile.TarError) as error:
        raise ValidationUnavailableError(f"{archive} cannot be unpacked: {error}") from error
