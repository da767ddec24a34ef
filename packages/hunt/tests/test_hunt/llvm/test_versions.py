# SPDX-License-Identifier: MIT
"""Each version is a row, one that crashes or hangs, too; the rows say since when."""

from pathlib import Path

import pytest

from compiler_gym.envs.llvm.toolchain.tools import MAJOR
from compiler_gym_hunt.llvm import versions
from compiler_gym_hunt.llvm.engine import Engine
from compiler_gym_hunt.llvm.versions import VersionSize, describe_versions, sizes_by_version

from .conftest import ADDS

LEVEL = "default<Oz>"


def tool(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_this_version_makes_with_its_own_tools_what_the_engine_makes(engine: Engine) -> None:
    (row,) = sizes_by_version(engine, ADDS, f"{LEVEL},function(gvn)", "size", [MAJOR])
    assert row.failure == ""
    assert row.level == row.decided > 0
    (counted,) = sizes_by_version(engine, ADDS, f"{LEVEL},function(gvn)", "instructions", [MAJOR])
    assert counted.level == counted.decided == 5


def test_a_version_that_crashes_hangs_or_cannot_read_is_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    tool(tmp_path, "opt-7", "kill -SEGV $$")
    tool(tmp_path, "opt-8", "sleep 60")
    tool(tmp_path, "opt-9", "echo 'opt-9: f.ll:3:1: error: expected type' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(versions, "_SECONDS", 0.5)
    rows = sizes_by_version(engine, ADDS, LEVEL, "size", [7, 8, 9, 10])
    assert [row.failure for row in rows][:3] == [
        "opt-7 crashed", "no answer within 0.5 s", "opt-9: expected type",
    ]  # fmt: skip
    assert "opt-10" in rows[3].failure


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ([(16, 10, 10), (19, 10, 8), (22, 10, 8)], "missed since 19, not in 16"),
        ([(16, 9, 8), (22, 12, 8)], "regression from 16 (9) to 22 (12)"),
        ([(16, 9, 8), (22, 9, 9)], "not missed in 22"),
        ([(22, 9, 9)], "no installed version shows it"),
    ],
)
def test_the_rows_say_since_when(sizes: list[tuple[int, int, int]], said: str) -> None:
    assert said in describe_versions([VersionSize(*one) for one in sizes])


def test_the_text_is_made_readable_for_older_versions() -> None:
    newer = "  %4 = getelementptr inbounds nuw i8, ptr %0, i64 %1\n  %5 = zext nneg i32 %2 to i64\n"
    plain = versions._NEWER.sub(  # pyright: ignore[reportPrivateUsage]
        lambda match: " inbounds" if "inbounds" in match[0] else "", newer
    )
    assert plain == newer.replace(" nuw", "").replace(" nneg", "")
