# SPDX-License-Identifier: MIT
"""Counts of a run are kept as one file, fit the program wherever it lies, and hold nothing else."""

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.gcc.choices import FAST
from compiler_gym.tools.tune.gcc.profiling import counting_flags, name_units, pack, unpack
from tests.tools.tune.gcc.projects import maker, program


def test_counts_of_a_run_are_packed_and_unpacked(tmp_path: Path) -> None:
    made = maker(tmp_path)
    raw, packed = tmp_path / "raw", tmp_path / "packed" / "program.gcda.tar"
    raw.mkdir()
    packed.parent.mkdir()
    path = made.make("training", [*FAST, *counting_flags(raw)], ())
    subprocess.run([path, "a"], check=True, stdout=subprocess.DEVNULL)
    assert pack(raw, packed) == len(made.binary.units)
    again = unpack(packed, tmp_path / "again")
    found = sorted(path.relative_to(raw) for path in raw.rglob("*.gcda"))
    assert [path.relative_to(again) for path in sorted(again.rglob("*.gcda"))] == found
    names = set(name_units(made.binary).values())
    assert {path.name.removesuffix(".gcda").rpartition("#")[2] for path in found} == names


def test_names_do_not_depend_on_where_a_project_lies(tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    first, second = program(tmp_path / "here"), program(tmp_path / "there")
    assert list(name_units(first).values()) == list(name_units(second).values())
    assert len(set(name_units(first).values())) == len(first.units)


def test_where_nothing_was_counted_nothing_is_written(tmp_path: Path) -> None:
    assert pack(tmp_path, tmp_path / "none.tar") == 0
    assert not (tmp_path / "none.tar").exists()


@pytest.mark.parametrize("name", ["../out.gcda", "/out.gcda", "program/run.sh", "link.gcda"])
def test_a_hostile_profile_writes_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / "hostile.tar"
    with tarfile.open(path, "w") as archive:
        member = tarfile.TarInfo(name)
        if name == "link.gcda":
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(member, io.BytesIO())
    with pytest.raises(ProjectError, match="not one of GCC's count"):
        unpack(path, tmp_path / "into")
    assert not (tmp_path / "into").exists()


def test_a_damaged_profile_is_told(tmp_path: Path) -> None:
    (tmp_path / "damaged.tar").write_bytes(b"no archive" * 100)
    with pytest.raises(ProjectError, match="cannot read the profile"):
        unpack(tmp_path / "damaged.tar", tmp_path / "into")
