# SPDX-License-Identifier: MIT
"""A control group is made where one may be, with its bounds, and is gone afterwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler_gym.datasets import run_contained
from compiler_gym.sandbox import groups
from compiler_gym.sandbox.groups import group_for
from tests.stand_ins import always

UNIFIED = [Path(mount) for mount in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")]


def given(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "cgroup.subtree_control").write_text(text)
    (folder / "cgroup.procs").touch()
    (folder / "cgroup.controllers").write_text(text)
    return folder


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    groups._parent.cache_clear()  # pyright: ignore[reportPrivateUsage]
    yield
    groups._parent.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_where_none_may_be_made_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "_MOUNTS", (str(given(tmp_path / "mount", "cpu io")),))
    with group_for(1 << 20, 4) as group:
        assert group is None


def test_bounds_are_written_and_what_the_kernel_stopped_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount = given(tmp_path / "mount", "cpu memory pids")
    monkeypatch.setattr(groups, "_MOUNTS", (str(mount),))
    monkeypatch.setattr(groups, "_own_group", always(mount / "user.slice/session"))
    with group_for(1 << 20, 4) as group:
        assert group is not None
        assert (group.path / "memory.max").read_text() == str(1 << 20)
        assert (group.path / "pids.max").read_text() == "5"
        assert group.find_passed_limit() is None
        (group.path / "pids.events").write_text("max 3\n")
        assert group.find_passed_limit() == "processes"
        (group.path / "memory.events").write_text("low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n")
        assert group.find_passed_limit() == "memory"
        for file in group.path.iterdir():  # the kernel's go with their folder
            file.unlink()
    assert not group.path.exists()


def test_a_box_starts_in_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    mount = next((m for m in UNIFIED if (m / "cgroup.procs").exists()), None)
    if mount is None:
        pytest.skip("needs cgroup v2")
    folder = mount / "compiler-gym-test"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("needs leave to make a group")
    monkeypatch.setattr(groups, "_parent", lambda: folder)
    made: list[str] = []
    before = groups._new_group  # pyright: ignore[reportPrivateUsage]

    def bare(parent: Path, memory_bytes: int, processes: int) -> groups.ControlGroup | None:
        group = before(parent, memory_bytes, processes)
        if group is None:  # no controllers here: a group without bounds shows where a box starts
            path = parent / "bare"
            path.mkdir(exist_ok=True)
            group = groups.ControlGroup(path, groups.os.open(path, groups.os.O_RDONLY))
        made.append(group.path.name)
        return group

    monkeypatch.setattr(groups, "_new_group", bare)
    try:
        ran = run_contained(["/bin/cat", "/proc/self/cgroup"])
    finally:
        folder.rmdir()
    assert made
    assert made[0] in ran.stdout.decode()
