# SPDX-License-Identifier: MIT
"""Programs that attack, and boxes of every kind to run them in: made by our own helper or by
bubblewrap, or without namespaces; as the user of the tests, as nobody, and as root in a container
that keeps some capabilities (``container``) or none (``bare``)."""

import ctypes
import faulthandler
import os
import pickle
import shutil
import subprocess
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.datasets import RunCase, RunLimits, RunReport, run_contained
from compiler_gym.sandbox.ways import BUBBLEWRAP, OWN, Way, find_helper

NOBODY = 65534
_MOST_SECONDS = 200.0
LIMITS = RunLimits(
    seconds=60, memory_bytes=256 << 20, output_bytes=4 << 20, processes=16,
    total_memory_bytes=192 << 20,
)  # fmt: skip


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder that every user can reach."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="compiler-gym-attacks-") as made:
        path = Path(made)
        path.chmod(0o755)
        yield path


@pytest.fixture(scope="session")
def attacks(place: Path) -> Path:
    """Return the program whose first argument names an attack."""
    program = place / "attacks"
    source = Path(__file__).with_name("attacks.c")
    subprocess.run(["gcc", "-O1", "-w", str(source), "-o", str(program)], check=True)
    return program


@dataclass
class Box:
    """One kind of box."""

    user: str
    kind: str
    program: Path
    limits: RunLimits = LIMITS
    way: Way | None = field(default=None)

    @property
    def is_apart(self) -> bool:
        """Whether it has namespaces."""
        return self.way is not None

    def run(self, *words: object, limits: RunLimits | None = None, **case: Any) -> RunReport:
        """Run the attack."""
        argv = tuple(map(str, words))
        return self.run_command([self.program], RunCase(argv, **case), limits or self.limits)

    def run_command(
        self,
        command: list[Any],
        case: RunCase | None = None,
        limits: RunLimits | None = None,
        visible: Sequence[Path] = (),
    ) -> RunReport:
        sandbox = "namespaces" if self.is_apart else self.kind

        def job() -> RunReport:
            return run_contained(
                command, case, limits=limits or self.limits, sandbox=sandbox, visible=visible
            )

        return job() if self.user == "self" else as_other(job, _BECOME[self.user])


def become_nobody() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def keep_powers(kept: int) -> None:
    """Stay root and keep these capabilities only, as root of a container does."""
    libc = ctypes.CDLL(None, use_errno=True)
    for number in range(64):
        if not kept >> number & 1:
            libc.prctl(_DROP_BOUND, number, 0, 0, 0)
    low, high = kept & 0xFFFFFFFF, kept >> 32
    header, data = (ctypes.c_uint * 2)(_CAPABILITIES, 0), (ctypes.c_uint * 6)(low, low, 0, high)
    assert libc.capset(header, data) == 0


_DROP_BOUND, _CAPABILITIES = 24, 0x20080522
_DOCKER = 0xA80425FB
"""What Docker leaves root: CHOWN, DAC_OVERRIDE, SETUID, SETGID, SETFCAP, ... and no SYS_ADMIN."""
_BECOME: dict[str, Callable[[], None]] = {
    "nobody": become_nobody,
    "container": lambda: keep_powers(_DOCKER),
    "bare": lambda: keep_powers(0),
}


def as_other(job: Callable[[], Any], become: Callable[[], None]) -> Any:
    """Return what `job` returns in a process that became somebody else."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(_MOST_SECONDS, exit=True)  # a lock of another thread?
        try:
            os.close(reading)
            become()
            answer = (True, job())
        except BaseException:
            answer = (False, traceback.format_exc())
        with os.fdopen(writing, "wb") as stream:
            pickle.dump(answer, stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        done, answer = pickle.load(stream)
    os.waitpid(child, 0)
    assert done, answer
    return answer


KINDS = [
    pytest.param((user, kind), id=f"{kind}-{user}")
    for kind in ("unshare", "bubblewrap", "limits")
    for user in ("self", "nobody")
]
CONTAINERS = [
    pytest.param((user, kind), id=f"{kind}-{user}")
    for kind, user in (
        ("unshare", "container"), ("bubblewrap", "container"), ("limits", "container"),
        ("limits", "bare"),
    )
]  # fmt: skip


@pytest.fixture(params=KINDS)
def box(
    request: pytest.FixtureRequest, attacks: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> Box:
    """Return a box of each kind that there is here."""
    user, kind = request.param
    return made(user, kind, attacks, place, monkeypatch)


@pytest.fixture(params=KINDS + CONTAINERS)
def every(
    request: pytest.FixtureRequest, attacks: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> Box:
    """Return a box of each kind, made by root of containers too."""
    user, kind = request.param
    return made(user, kind, attacks, place, monkeypatch)


@pytest.fixture(params=KINDS[:4])
def apart(
    request: pytest.FixtureRequest, attacks: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> Box:
    """Return a box with namespaces of each kind that there is here."""
    user, kind = request.param
    return made(user, kind, attacks, place, monkeypatch)


def made(user: str, kind: str, attacks: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> Box:
    if user != "self" and os.geteuid() != 0:
        pytest.skip(f"needs root to become {user}")
    if kind == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap: apt install bubblewrap")
    helper = place / "helper"  # a checkout may be closed to other users
    if not helper.exists():
        shutil.copy(find_helper(), helper)
        helper.chmod(0o755)
    monkeypatch.setattr("compiler_gym.sandbox.box.find_helper", lambda: str(helper))
    monkeypatch.setattr("tempfile.tempdir", "/tmp")
    way = {"unshare": OWN, "bubblewrap": BUBBLEWRAP}.get(kind)
    if way is not None:
        monkeypatch.setattr("compiler_gym.sandbox.tiers._way", lambda: (way, ""))
        box = Box(user, kind, attacks, way=way)
        if box.run_command(["/bin/true"]).exit_status != 0:
            pytest.skip("needs namespaces for this user")
        return box
    return Box(user, kind, attacks)
