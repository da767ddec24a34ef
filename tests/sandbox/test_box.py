# SPDX-License-Identifier: MIT
"""Attacks on the host: none gets out of a box with namespaces, as whoever it is made."""

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.datasets import RunCase, RunLimits
from compiler_gym.sandbox import Sandbox
from tests.stand_ins import stand_in

from .conftest import Box


def words(printed: bytes) -> dict[str, str]:
    """Return what each part of an attack came to."""
    return dict(line.rsplit(" ", 1) for line in printed.decode().splitlines())


def running(text: str) -> list[int]:
    """Return the live processes whose command holds `text`."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text in path.read_bytes().replace(b"\0", b" ").decode(errors="replace"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def soon(condition: object) -> bool:
    """Return whether `condition` comes true within a minute."""
    assert callable(condition)
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return bool(condition())


@contextmanager
def neighbour() -> Generator["subprocess.Popen[bytes]"]:
    """Start a process of this user that says when it is signalled."""
    script = "trap 'echo signalled; exit 1' CONT; echo ready; while :; do sleep 0.05; done"
    with subprocess.Popen(["/bin/sh", "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process
        process.kill()


@pytest.fixture
def secret(place: Path) -> Iterator[Path]:
    """Return a file that every user of the host may read and write."""
    path = place / "secret"
    path.write_text("secret")
    path.chmod(0o666)
    yield path
    path.unlink()


def test_no_file_of_the_host_is_written(box: Box, secret: Path) -> None:
    others = ["/usr/attacked", "/etc/attacked", "/var/attacked", "/root/attacked", "/attacked"]
    came = words(box.run("write", secret, *others).stdout)
    came.pop(str(secret))  # a folder of this name may be there, in memory
    assert set(came.values()) == {"no"}
    assert secret.read_text() == "secret"
    assert not any(os.path.exists(other) for other in others)


def test_no_file_of_a_user_is_read(box: Box, secret: Path) -> None:
    hidden = [secret, "/etc/shadow", "/root/.profile", "/root/.bashrc", Path.home() / ".bashrc"]
    ran = box.run("read", *hidden, "/dev/kmsg", "/dev/mem", "/run/secrets", __file__)
    assert set(words(ran.stdout).values()) == {"no"}


def test_accounts_of_the_host_are_not_seen(apart: Box) -> None:
    ran = apart.run_command(["/bin/sh", "-c", "cat /etc/passwd; ls -A /home /root /run /srv"])
    for name in ("root:", "daemon:"):
        assert name not in ran.stdout.decode()
    assert "box" in ran.stdout.decode() or apart.kind == "bubblewrap"


def test_files_outside_the_folder_are_bounded(box: Box) -> None:
    places = ["/tmp/attack-big", "/dev/shm/attack-big", "/var/tmp/attack-big", "big"]
    ran = box.run("fill", 300, *places, limits=replace(box.limits, output_bytes=8 << 20))
    assert not any(Path(place).exists() for place in places[:3])
    sizes = [int(size) for size in words(ran.stdout).values()]
    assert all(size <= 8 for size in sizes)
    assert ran.stopped_by in ("output", None)


def test_a_full_scratch_folder_ends_the_run(apart: Box) -> None:
    limits = replace(apart.limits, output_bytes=1 << 20)
    ran = apart.run("fill", 300, *(f"big{i}" for i in range(9)), limits=limits)
    assert ran.stopped_by == "output"
    assert sum(int(size) for size in words(ran.stdout).values()) <= 5


def test_files_without_end_are_bounded(apart: Box) -> None:
    ran = apart.run("many", limits=replace(apart.limits, seconds=30))
    assert ran.stopped_by in ("output", "memory")


def test_no_network_is_reached(box: Box, place: Path) -> None:
    with ExitStack() as stack:
        four = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        hidden = stack.enter_context(socket.socket(socket.AF_UNIX))
        name = f"compiler-gym-attacked-{os.getpid()}"
        hidden.bind(f"\0{name}")
        named = stack.enter_context(socket.socket(socket.AF_UNIX))
        path = place / "socket"
        named.bind(str(path))
        path.chmod(0o777)
        for one in (four, hidden, named):
            one.listen()
        port = four.getsockname()[1]
        datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        datagrams.bind(("127.0.0.1", port))
        datagrams.setblocking(False)
        ran = box.run("sockets", port, name, path)
        path.unlink()
        with pytest.raises(BlockingIOError, match="unavailable"):
            datagrams.recv(1)
    came = words(ran.stdout)
    came.pop("datagram")  # may be sent to nobody
    if not box.is_apart:
        came.pop("path")  # a hole of this tier: sockets that are files
    assert set(came.values()) == {"no"}


def test_no_process_of_the_host_is_signalled(box: Box) -> None:
    with neighbour() as other:
        got: list[int] = []
        before = signal.signal(signal.SIGCONT, stand_in(lambda number, frame: got.append(1)))
        try:
            ran = box.run("signal", other.pid, os.getpid())
        finally:
            signal.signal(signal.SIGCONT, before)
        assert ran.exit_status == 0
        assert other.poll() is None
        assert got == []


def test_the_caller_is_not_killed_or_stopped(box: Box) -> None:
    ran = box.run("parent")
    assert (ran.exit_status, ran.stdout, ran.stopped_by) == (0, b"alive\n", None)


def test_a_program_does_not_end_its_own_box(box: Box) -> None:
    ran = box.run("init")
    assert (ran.exit_status, ran.stdout) == (0, b"alive\n")


def test_a_daemon_of_a_daemon_ends_with_the_run(box: Box) -> None:
    for _ in range(5):
        assert box.run("daemon").exit_status == 0
    assert running("sleep 71.25") == []


def test_processes_that_ignore_signals_end_with_the_run(box: Box) -> None:
    assert box.run("stubborn").exit_status == 0
    assert running(f"{box.program} stubborn") == []


def test_neighbours_are_not_looked_at(box: Box) -> None:
    with neighbour() as other:
        ran = box.run("look", other.pid, os.getpid(), 1)
        assert other.poll() is None
    assert "done" not in ran.stdout.decode(), ran.stdout.decode()


def test_no_new_power_is_had(box: Box) -> None:
    ran = box.run("escape")
    assert [what for what, came in words(ran.stdout).items() if came == "done"] == []


def test_no_descriptor_is_inherited(box: Box, place: Path) -> None:
    target = place / "inherited"
    descriptor = os.open(target, os.O_RDWR | os.O_CREAT)
    os.set_inheritable(descriptor, True)
    try:
        ran = box.run("descriptors")
    finally:
        os.close(descriptor)
    assert ran.stdout == b"0\n"
    assert target.read_bytes() == b""
    target.unlink()


def test_a_report_is_not_forged(box: Box) -> None:
    ran = box.run("forge")
    assert (ran.exit_status, ran.stdout) == (5, b"")


def test_a_personality_is_kept(box: Box) -> None:
    assert words(box.run("personality").stdout) == {"legacy": "no", "fixed": "no"}


def test_timers_reach_only_their_program(box: Box) -> None:
    assert box.run("timers").exit_status == -signal.SIGALRM


def test_closed_standard_streams_are_not_others(box: Box) -> None:
    ran = box.run("closed", outputs=("made",))
    assert (ran.exit_status, dict(ran.files)) == (3, {"made": b"made"})


def test_output_without_end_is_ended(box: Box) -> None:
    ran = box.run_command(["/bin/sh", "-c", "yes & yes >&2"])
    assert ran.stopped_by == "output"
    assert len(ran.stdout) <= box.limits.output_bytes


def test_a_fork_bomb_is_bounded_and_ends(box: Box) -> None:
    most = [0]
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            most[0] = max(most[0], len(running(f"{box.program} bomb")))

    watcher = threading.Thread(target=count)
    watcher.start()
    try:
        ran = box.run("bomb")
    finally:
        done.set()
        watcher.join()
    assert ran.stopped_by == "processes"
    assert running(f"{box.program} bomb") == []
    if box.is_apart and box.kind == "unshare":
        assert most[0] <= box.limits.processes + 4


def test_one_process_gets_its_memory_and_no_more(box: Box) -> None:
    ran = box.run("eat", 1, 1000)
    assert ran.stopped_by == "memory" or ran.exit_status == 9


def test_many_processes_together_get_no_more(box: Box) -> None:
    ran = box.run("eat", 12, 60)
    assert ran.stopped_by == "memory"
    assert running(f"{box.program} eat") == []


def test_memory_that_is_shared_counts_once(box: Box) -> None:
    script = "import os, time; held = os.urandom(60 << 20); os.fork(); os.fork(); time.sleep(0.4)"
    ran = box.run_command(["/usr/bin/python3", "-S", "-c", script])
    assert (ran.exit_status, ran.stopped_by) == (0, None)


def test_outputs_that_lead_out_are_not_taken(box: Box, secret: Path) -> None:
    names = ("a", "b", "d", "way/etc/passwd", "way/proc/self/environ", "../secret")
    ran = box.run("links", secret, outputs=names)
    assert dict(ran.files) == {}
    assert secret.read_text() == "secret"


def test_two_boxes_do_not_see_each_other(apart: Box) -> None:
    script = "touch /tmp/mark-$0; sleep 0.3; ls /proc | grep -c '^[0-9]'; ls /tmp"
    seen: dict[str, bytes] = {}

    def run(name: str) -> None:
        seen[name] = apart.run_command(["/bin/sh", "-c", script, name]).stdout

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, text in seen.items():
        assert int(text.split()[0]) <= 5
        assert [word for word in text.decode().split() if "mark" in word] == [f"mark-{name}"]


def test_a_result_names_its_sandbox(box: Box) -> None:
    assert box.run("closed").sandbox == ("namespaces" if box.is_apart else "limits")


def test_a_program_gets_its_files_and_gives_them_back(box: Box) -> None:
    case = RunCase(
        ("-c", "cat {dir}/deep/in.txt > made/out.txt; ls -A; exit 4"),
        {"deep/in.txt": b"text", "made/x": b""},
        outputs=("made/out.txt", "deep/in.txt"),
    )
    ran = box.run_command(["/bin/sh"], case)
    assert (ran.exit_status, ran.stdout) == (4, b"deep\nmade\n")
    assert dict(ran.files) == {"made/out.txt": b"text", "deep/in.txt": b"text"}


def test_a_client_that_is_killed_takes_its_boxes_along(box: Box) -> None:
    own = f"sleep 72.{os.getpid()}"  # other test processes run this test meanwhile
    child = os.fork()
    if child == 0:
        box.run_command(["/bin/sh", "-c", f"{own} & {own}"])
        os._exit(0)
    assert soon(lambda: len(running(own)) >= 2)
    client = [pid for pid in running("") if _parent_of(pid) == child] if box.user != "self" else []
    for pid in (*client, child):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(child, 0)
    assert soon(lambda: not running(own))


def _parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_bytes().rsplit(b")")[-1].split()[1])
    except OSError:
        return 0


def test_making_a_box_is_not_part_of_the_time_of_a_run() -> None:
    from compiler_gym.datasets import run_contained

    for tier in Sandbox:
        ran = run_contained(["/bin/sleep", "0.05"], limits=RunLimits(seconds=2), sandbox=tier)
        assert 0.05 <= ran.seconds < 0.5
