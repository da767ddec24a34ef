# SPDX-License-Identifier: MIT
"""A dataset of one archive is installed from it, whatever a compiler then reads of a file."""

import bz2
import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.datasets import Archive, DownloadOptions, PublishedDataset
from compiler_gym.errors import UnknownNameError
from tests.datasets.conftest import make_tar
from tests.datasets.server import Server

FAST = DownloadOptions(max_retries=0, stall_timeout=10, sleep=lambda seconds: None)
Make = Callable[..., PublishedDataset]


@pytest.fixture
def make(server: Server, tmp_path: Path) -> Make:
    """Make a dataset of an archive with these files, and a list with these names."""

    def dataset(files: dict[str, bytes], names: list[str], **facts: Any) -> PublishedDataset:
        data, manifest = make_tar(files, "gz"), bz2.compress("\n".join(names).encode())
        server.files |= {"archive": data, "manifest": manifest}

        published = Archive(
            "texts-v0",
            (server.url("ok/archive"),),
            hashlib.sha256(data).hexdigest(),
            len(names),
            "MIT",
            "Texts",
            "top/texts",
            suffix=".txt",
            compression="gz",
            manifest=server.url("ok/manifest"),
            manifest_sha256=hashlib.sha256(manifest).hexdigest(),
        )

        class Texts(PublishedDataset):
            archive = replace(published, **facts)

        return Texts(tmp_path / "site", download_options=FAST)

    return dataset


def test_the_facts_are_those_of_the_archive_until_a_mirror_has_others(make: Make) -> None:
    dataset = make({"top/texts/a.txt": b"A"}, ["a"])
    assert (dataset.name, dataset.license, dataset.size) == ("benchmark://texts-v0", "MIT", 1)
    other = type(dataset)(tar_urls=["https://example.org/texts"])
    assert other.tar_urls == ["https://example.org/texts"]
    assert other.tar_sha256 == dataset.tar_sha256


def test_listed_files_are_the_programs(make: Make) -> None:
    dataset = make({"top/README": b"", "top/texts/a/b.txt": b"AB"}, ["a/b"])
    assert not dataset.installed
    assert dataset["a/b"].contents == b"AB"
    assert dataset.verify() == []
    with pytest.raises(UnknownNameError, match="no program"):
        dataset["a/c"]


@pytest.mark.parametrize("folder", ["", "texts/", "texts/v0/", "contents/contents/"])
def test_folders_that_hold_everything_are_found_where_no_one_is_named(
    folder: str, make: Make
) -> None:
    files = {f"{folder}{name}.txt": name.encode() for name in ("a", "b")}
    dataset = make(files, ["a", "b"], strip_prefix="")
    assert [program.contents for program in dataset] == [b"a", b"b"]


def test_a_program_that_is_a_folder_is_read_by_its_main_file(make: Make) -> None:
    files = {"top/texts/one/main.txt": b"1", "top/texts/two/start.txt": b"2"}
    main_files = {"one": "main.txt", "two": "start.txt"}
    dataset = make(files, [], main_files=main_files, manifest=None, manifest_sha256=None)
    assert [str(uri).rpartition("/")[2] for uri in dataset.benchmark_uris()] == ["one", "two"]
    assert [program.contents for program in dataset] == [b"1", b"2"]
    assert dataset.verify() == []
    for name in ("three", "one/main", "one/main.txt", "../texts/one/main.txt"):
        with pytest.raises(UnknownNameError, match="no program"):
            dataset[name]


def test_a_folder_that_lost_a_file_is_no_longer_sound(make: Make) -> None:
    main_files = {"one": "main.txt"}
    dataset = make(
        {"top/texts/one/main.txt": b"1"},
        [],
        main_files=main_files,
        manifest=None,
        manifest_sha256=None,
    )
    dataset.install()
    (dataset.dataset_root / "one" / "main.txt").unlink()
    assert dataset.verify() == ["0 files instead of 1", "0 bytes instead of 1"]
