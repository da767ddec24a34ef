"""Sources are fetched once, and what a lock does not name is refused."""

from pathlib import Path

import pytest

from compiler_gym.errors import DatasetInitError, DownloadFailed
from compiler_gym_corpus.packages import (
    InstalledSupplier,
    LockedPackage,
    PackageLock,
    PrivateApt,
    UnpackedSupplier,
    may_be_c,
)
from compiler_gym_corpus.packages.apt import Fetched
from compiler_gym_corpus.packages.supplying import fetch_source
from tests.stand_ins import always, stand_in

LOCK = PackageLock((), (), {"libc6": "2"})


@pytest.mark.parametrize(
    ("fields", "may"),
    [
        ({"Package-list": "\na deb utils optional arch=any"}, True),
        ({"Package-list": "\na deb utils optional arch=all"}, False),
        ({"Architecture": "any"}, True),
        ({"Architecture": "any", "Build-depends": "debhelper, golang-any"}, False),
        ({"Architecture": "any", "Build-depends": "cmake, zlib1g-dev"}, True),
    ],
)
def test_packages_of_other_languages_are_not_chosen(fields: dict[str, str], may: bool) -> None:
    assert may_be_c(fields) is may


def test_a_source_is_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def source(self: PrivateApt, package: str, version: str, into: Path) -> Path:
        asked.append(package)
        (into / "a_1.dsc").write_text("x")
        return into / "a_1.dsc"

    monkeypatch.setattr(PrivateApt, "source", source)
    apt = PrivateApt(tmp_path / "apt", ())
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        found = fetch_source(apt, LockedPackage("aa", "1"), tmp_path / "kept", tmp_path / name)
        assert found.read_text() == "x"

    assert asked == ["aa"]


def test_a_version_that_the_lock_does_not_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = [Fetched("libc6_3_amd64.deb", 1, "ab")]
    monkeypatch.setattr(PrivateApt, "prepare", stand_in(lambda self: self))
    monkeypatch.setattr(PrivateApt, "resolve_needed", always(newer))

    with pytest.raises(DownloadFailed, match="the lock requires libc6=2, but the archive has 3"):
        UnpackedSupplier(tmp_path, LOCK, ["compiler"]).prepare()


def test_only_root_installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)

    with pytest.raises(DatasetInitError, match="needs root; without it"):
        InstalledSupplier(tmp_path, LOCK, ["compiler"]).prepare()
