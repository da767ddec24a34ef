# SPDX-License-Identifier: MIT
"""Whoever asks, and however the box is made: the program has no powers, changes no file of the
host, and keeps no memory that nobody counts."""

import errno
import os
import platform
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.datasets import RunCase, run_contained
from compiler_gym.sandbox import run_tool_boxed, use_sandbox
from compiler_gym.sandbox.box import try_way
from compiler_gym.sandbox.ways import OWN, find_helper

from .conftest import NOBODY, Box, as_other, keep_powers

DEVICES = ("null", "zero", "full", "random", "urandom")
MOST_PIPES_MB = 96


def words(printed: bytes) -> dict[str, str]:
    """Return what each part of an attack came to."""
    return dict(line.rsplit(None, 1) for line in printed.decode().splitlines())


@pytest.fixture
def key(every: Box, place: Path) -> Iterator[Path]:
    """Return a file of the user who asks, which the program may read."""
    path = place / "key"
    path.write_text("key")
    path.chmod(0o644)
    try:
        os.setxattr(path, "user.kept", b"kept")
    except OSError:
        pass  # a file system without them
    if every.user == "nobody":
        os.chown(path, NOBODY, NOBODY)
    yield path
    path.unlink()


def state_of(path: Path) -> tuple[object, ...]:
    """Return the metadata of a file, and when they were changed."""
    found = path.stat()
    try:
        extended = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    except OSError:
        extended = {}
    return found.st_mode, found.st_uid, found.st_gid, found.st_mtime_ns, found.st_ctime_ns, extended


def test_the_program_runs_as_nobody_without_capabilities(every: Box) -> None:
    came = words(every.run("identity").stdout)
    # What has no namespaces and may become nobody else is who it was: without any power.
    own = 0 if every.user == "bare" else NOBODY
    if os.geteuid() and every.kind == "limits":
        own = os.geteuid()
    assert (came["user"], came["group"]) == (str(own), str(own))
    assert {int(came[f"Cap{kind}:"], 16) for kind in ("Inh", "Prm", "Eff", "Amb")} == {0}
    assert came["NoNewPrivs:"] == "1"


def test_devices_of_the_host_stay_as_they_are(every: Box) -> None:
    before = [(device := Path("/dev", name).stat()).st_mode | device.st_uid for name in DEVICES]
    script = "for name; do chmod 666 /dev/$name && echo done; chown 0 /dev/$name && echo done; done"
    ran = every.run_command(["/bin/sh", "-c", f"{script}; echo x > /dev/null", "sh", *DEVICES])
    assert b"done" not in ran.stdout
    assert ran.exit_status == 0  # the null device can be written to
    after = [(device := Path("/dev", name).stat()).st_mode | device.st_uid for name in DEVICES]
    assert before == after


def test_files_of_root_alone_are_not_read(every: Box, place: Path) -> None:
    if every.user in ("nobody", "bare") or os.geteuid() != 0:
        pytest.skip("needs root that may become nobody")
    secret = place / "secret-of-root"
    secret.write_text("secret")
    secret.chmod(0o600)
    ran = every.run_command([every.program], RunCase(("read", str(secret))), visible=[secret])
    secret.unlink()
    assert list(words(ran.stdout).values()) == ["no"]


def test_no_metadata_of_a_file_are_changed(every: Box, key: Path) -> None:
    before = state_of(key)
    ran = every.run_command([every.program], RunCase(("metadata", str(key))), visible=[key])
    came = words(ran.stdout)
    assert came.pop("open") == "done"
    assert [what for what, done in came.items() if done == "done"] == []
    assert len(came) == 30
    assert state_of(key) == before


def test_its_own_files_are_its_own(every: Box) -> None:
    ran = every.run("own")
    assert words(ran.stdout) == {
        "fchmod": "done", "chmod": "done", "utimensat": "done", "mode": "755", "time": "7",
    }  # fmt: skip


def test_memory_that_belongs_to_no_process_is_bounded(every: Box) -> None:
    came = {what: int(had) for what, had in words(every.run("kernel").stdout).items()}
    assert came.pop("pipes") <= MOST_PIPES_MB
    assert set(came.values()) == {0}
    assert len(came) == 11


def test_threads_count_as_processes(every: Box) -> None:
    ran = every.run("threads", 3000, limits=replace(every.limits, processes=16))
    assert ran.stopped_by == "processes"
    if every.is_apart:
        assert int(words(ran.stdout)["threads"]) <= 18


def test_a_program_that_gets_no_memory_is_reported_so(every: Box) -> None:
    limits = replace(every.limits, memory_bytes=150 << 20, total_memory_bytes=0)
    for attack, size in (("ask", 400), ("grow", 16000)):
        ran = every.run(attack, size, limits=limits)
        assert (ran.exit_status, ran.stopped_by) == (-11, "memory"), attack
        assert every.run(attack, 40, limits=limits).stdout == b"had\n"
    ran = every.run("crash", limits=limits)
    assert (ran.exit_status, ran.stopped_by) == (-11, None)


def test_an_output_is_not_taken_from_elsewhere(every: Box, place: Path) -> None:
    outside = place / "outside"
    outside.write_text("outside")
    names = (str(outside), "/etc/hostname", "../outside", "here")
    ran = every.run("write", "here", outputs=names)
    outside.unlink()
    assert dict(ran.files) == {"here": b"attacked"}


def test_a_container_whose_filter_knows_no_clone3_runs_programs(
    attacks: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    confined = place / "confined"
    confined.write_text(f'#!/bin/sh\nexec {attacks} confine {shlex.quote(find_helper())} "$@"\n')
    confined.chmod(0o755)
    monkeypatch.setattr("compiler_gym.sandbox.box.find_helper", lambda: str(confined))
    for tier in ("limits", "none"):
        ran = run_contained(["/bin/echo", "ran"], sandbox=tier)
        assert (ran.exit_status, ran.stdout) == (0, b"ran\n")
    assert "Operation not permitted" in try_way(OWN)


def test_root_without_setuid_gets_no_namespaces(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to give up powers")

    def job() -> tuple[list[str], str]:
        from compiler_gym.sandbox import Sandbox, available, tiers, why_not

        tiers._way.cache_clear()  # pyright: ignore[reportPrivateUsage]
        return [tier.value for tier in available()], why_not(Sandbox.NAMESPACES)

    tiers, reason = as_other(job, lambda: keep_powers(0))
    assert tiers == ["limits", "none"]
    assert "become nobody" in reason
    assert "SETUID" in reason


@pytest.mark.parametrize("tier", ["namespaces", "limits"])
def test_a_linker_makes_a_program_that_can_be_run(tier: str, tmp_path: Path) -> None:
    from compiler_gym.sandbox import available

    if tier not in [one.value for one in available()]:
        pytest.skip("needs namespaces")
    with use_sandbox(tier):
        done = run_tool_boxed(
            ["/usr/bin/gcc", "-x", "c", "-", "-o", "program"],
            folder=tmp_path, seconds=60, input=b"int main(void) { return 7; }\n",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert run_contained([tmp_path / "program"], sandbox="none").exit_status == 7


_PROCESS_VM_READV, _OPENAT2 = 310, 437


@pytest.mark.skipif(platform.machine() != "x86_64", reason="needs the numbers of calls of x86-64")
@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS])
@pytest.mark.parametrize("call", [_PROCESS_VM_READV, _OPENAT2])
def test_a_linker_works_where_a_container_refuses_a_call_to_the_watcher(
    call: int, error: int, attacks: Path, place: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    refusing = place / f"refusing-{call}-{error}"
    helper = shlex.quote(find_helper())
    refusing.write_text(f'#!/bin/sh\nexec {attacks} refuse {call} {error} {helper} "$@"\n')
    refusing.chmod(0o755)
    monkeypatch.setattr("compiler_gym.sandbox.box.find_helper", lambda: str(refusing))
    test_a_linker_makes_a_program_that_can_be_run("limits", tmp_path)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="needs the numbers of calls of x86-64")
def test_a_watcher_that_cannot_read_memory_names_the_call(
    attacks: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = place / "refusing-memory"
    words = f"{attacks} hide-memory {_PROCESS_VM_READV} {shlex.quote(find_helper())}"
    refusing.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    refusing.chmod(0o755)
    monkeypatch.setattr("compiler_gym.sandbox.box.find_helper", lambda: str(refusing))
    (tmp_path / "file").touch()
    with use_sandbox("limits"):
        done = run_tool_boxed(["/bin/chmod", "700", "file"], folder=tmp_path, seconds=60)
    assert done.returncode != 0
    assert b"process_vm_readv and /proc/PID/mem: Operation not permitted" in done.stderr
