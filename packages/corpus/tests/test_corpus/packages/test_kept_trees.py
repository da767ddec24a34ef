# SPDX-License-Identifier: MIT
"""A tree is unpacked as it was, but for what leads out of it."""

import io
import tarfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.datasets import PackageTest
from compiler_gym.datasets.fetching import zstd
from compiler_gym.errors import ValidationUnavailableError
from compiler_gym_corpus.packages import (
    LockedPackage,
    PackageLock,
    Root,
    lend_tree,
    write_lock,
)

TEST = PackageTest("tool", "1.0", "tool", ".", ("make",), (), "tree.tar.zst", "c")


class Supplier:
    def __init__(self, *_: Any) -> None:
        pass

    @contextmanager
    def root(self, package: LockedPackage) -> Generator[Root]:
        yield Root(Path("/"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("compiler_gym_corpus.packages.kept_trees.UnpackedSupplier", Supplier)
    write_lock(tmp_path / "lock.toml", PackageLock((), (LockedPackage("tool", "1:1.0~rc1-2"),)))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, link in (("bin/tool", ""), ("../out", ""), ("passwd", "/etc/passwd")):
            member = tarfile.TarInfo(name)
            member.mode, member.mtime = 0o755, 1234
            if link:
                member.type, member.linkname = tarfile.SYMTYPE, link
            else:
                member.size = 4
            archive.addfile(member, io.BytesIO(b"text"))
    (tmp_path / "tree.tar.zst").write_bytes(zstd.compress(packed.getvalue()))
    return tmp_path


def test_a_tree_lies_where_it_was_built_and_is_removed_afterwards(folder: Path) -> None:
    with lend_tree(folder, TEST, ()) as place:
        assert place.inside == "/run/build/tool-1.0.rc1"
        assert (place.tree / "bin/tool").read_bytes() == b"text"
        assert (place.tree / "bin/tool").stat().st_mtime == 1234
        assert (place.tree / "bin/tool").stat().st_mode & 0o111
        assert [path.name for path in place.tree.iterdir()] == ["bin"]
        assert not (place.work / "out").exists()
    assert not place.work.exists()


def test_a_package_that_the_lock_does_not_name_is_none(folder: Path) -> None:
    write_lock(folder / "lock.toml", PackageLock((), ()))
    with (
        pytest.raises(ValidationUnavailableError, match="does not list tool"),
        lend_tree(folder, TEST, ()),
    ):
        pass
