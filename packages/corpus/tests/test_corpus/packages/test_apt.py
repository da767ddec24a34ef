"""An apt of its own touches nothing of the system's, and says what it cannot fetch."""

import shutil
from pathlib import Path

import pytest

from compiler_gym.errors import DatasetInitError, DownloadFailed
from compiler_gym_corpus.packages import PrivateApt
from compiler_gym_corpus.packages.apt import Fetched

pytestmark = pytest.mark.skipif(shutil.which("apt-get") is None, reason="no apt-get on PATH")


@pytest.fixture
def apt(tmp_path: Path) -> PrivateApt:
    """Return an apt that knows an archive with nothing in it, on this machine."""
    archive = tmp_path / "archive" / "empty"
    archive.mkdir(parents=True)
    for name in ("Packages", "Sources"):
        (archive / name).touch()
    (archive / "Packages").write_text(
        "Package: a\nVersion: 1:2\nArchitecture: all\nFilename: a_2_all.deb\nSize: 3\n"
        f"SHA256: {'ab' * 32}\nDepends: b\n\n"
        "Package: b\nVersion: 1\nArchitecture: all\nFilename: b_1_all.deb\nSize: 3\n"
        f"SHA256: {'cd' * 32}\n\n"
        "Package: b\nVersion: 2\nArchitecture: all\nFilename: b_2_all.deb\nSize: 3\n"
        f"SHA256: {'ef' * 32}\n"
    )
    return PrivateApt(tmp_path / "apt", [f"[trusted=yes] file:{archive.parent} empty/"])


def prepared(apt: PrivateApt, monkeypatch: pytest.MonkeyPatch) -> PrivateApt:
    # What nobody signed is trusted here by a word in the line, which takes the place of the keys.
    monkeypatch.setattr("compiler_gym_corpus.packages.apt.SIGNED", "")
    return apt.prepare()


def test_dependencies_of_a_package_are_found_in_their_newest_versions(
    apt: PrivateApt, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = prepared(apt, monkeypatch).resolve_needed(["a"])

    assert {file.package for file in needed} == {("a", "1:2"), ("b", "2")}


def test_a_version_that_is_requested_is_taken(
    apt: PrivateApt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prepared(apt, monkeypatch)
    older = PrivateApt(tmp_path / "apt", apt.mirrors, {"b": "1"})

    needed = older.prepare().resolve_needed(["a"])

    assert dict(file.package for file in needed)["b"] == "1"


def test_a_package_missing_in_the_archive_is_reported_with_apts_message(
    apt: PrivateApt, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DownloadFailed, match="Unable to find a source package for nothing"):
        prepared(apt, monkeypatch).describe_source("nothing")


def test_all_that_it_writes_lies_in_its_folder(
    apt: PrivateApt, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prepared(apt, monkeypatch)

    settings = (tmp_path / "apt" / "apt.conf").read_text()

    for name in ("Dir::State", "Dir::Cache", "Dir::Etc::SourceList", "Dir::State::status"):
        assert f'{name} "{tmp_path}/apt/' in settings
    assert 'Dir::Etc::Parts "/dev/null"' in settings
    assert 'Acquire::AllowInsecureRepositories "false"' in settings


def test_a_machine_without_apt_says_where_to_build(
    monkeypatch: pytest.MonkeyPatch, apt: PrivateApt
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(DatasetInitError, match="build packages on Debian or Ubuntu"):
        apt.prepare()


def test_the_name_of_a_file_tells_package_and_version() -> None:
    file = Fetched("gcc_4%3a12.2.0-3_amd64.deb", 1, "")

    assert file.package == ("gcc", "4:12.2.0-3")
