# SPDX-License-Identifier: MIT
"""The facts of published archives are whole, and say where each program is."""

import re

import pytest

from compiler_gym.datasets import Archive, published_archives

ARCHIVES = [value for value in vars(published_archives).values() if isinstance(value, Archive)]


def test_the_archives_are_those_that_compilergym_published_as_source() -> None:
    counts = {archive.name: archive.count for archive in ARCHIVES}
    assert counts == {
        "anghabench-v1": 1_041_333,
        "chstone-v0": 12,
        "clgen-v0": 996,
        "jotaibench-v0": 18_761,
        "poj104-v1": 49_816,
    }


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.name)
def test_the_facts_of_an_archive_are_whole(archive: Archive) -> None:
    assert re.fullmatch("[0-9a-f]{64}", archive.sha256)
    assert archive.urls
    assert all(url.startswith("https://") for url in archive.urls)
    assert (archive.manifest is None) == (archive.manifest_sha256 is None)
    assert (archive.manifest is None) == bool(archive.main_files)
    assert len(archive.main_files) in (0, archive.count)
    assert archive.license
    assert archive.description
    assert "Homepage" in archive.references
    assert archive.suffix != ".bc"


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.name)
def test_the_facts_are_the_arguments_of_a_dataset(archive: Archive) -> None:
    arguments = archive.arguments()
    assert arguments["name"] == f"benchmark://{archive.name}"
    assert arguments["tar_urls"] == archive.urls
    assert arguments["manifest_urls"] == (() if archive.manifest is None else (archive.manifest,))
    arguments["references"]["Mine"] = "changed"
    assert "Mine" not in archive.references
