"""A lock is read as it was written, and a name that is no package's is refused."""

from pathlib import Path

import pytest

from compiler_gym.errors import DatasetInitError
from compiler_gym_corpus.packages import (
    LockedPackage,
    PackageLock,
    find_lock,
    read_lock,
    write_lock,
)

LOCK = PackageLock(
    ("http://a b c",), (LockedPackage("bc", "1:1.07", "ab"),), {"libc6": "2.36-9", "a": "1"}
)


def test_a_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_lock(tmp_path / "lock.toml", LOCK)

    assert read_lock(tmp_path / "lock.toml") == LOCK


@pytest.mark.parametrize(
    "text", ["", "mirrors = 1", "[[", 'mirrors = []\n[[packages]]\nname = "/"']
)
def test_another_file_is_not_a_lock(tmp_path: Path, text: str) -> None:
    (tmp_path / "lock.toml").write_text(text)

    with pytest.raises(DatasetInitError, match="cannot read the lock file"):
        read_lock(tmp_path / "lock.toml")


def test_a_lock_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DatasetInitError, match="No such file"):
        read_lock(tmp_path / "lock.toml")


@pytest.mark.parametrize("name", ["", "-o", "../x", "a/b", "A", "a b", "x;y", "a\n", "é"])
def test_a_hostile_name_is_not_a_name_of_a_package(name: str) -> None:
    with pytest.raises(DatasetInitError, match="is not a source package"):
        LockedPackage(name)


def test_the_name_of_a_folder_has_no_colon() -> None:
    assert LockedPackage("bc", "1:1.07-3").folder == "bc_1%3a1.07-3"
    assert LockedPackage("bc").folder == "bc_any"


def test_a_lock_of_a_hundred_packages_comes_with_the_library() -> None:
    lock = read_lock(find_lock("debian-100"))

    assert len({package.name for package in lock.packages}) == 100
    assert all(package.version and len(package.sha256) == 64 for package in lock.packages)
    assert {"libc6", "gcc-12", "debhelper"} <= lock.versions.keys()


def test_a_file_comes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "debian-100").touch()

    assert find_lock("debian-100") == Path("debian-100")
    assert find_lock("/no/debian-100") == Path("/no/debian-100")
    assert find_lock("no-such-lock") == Path("no-such-lock")
