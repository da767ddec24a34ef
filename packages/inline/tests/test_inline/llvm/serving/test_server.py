# SPDX-License-Identifier: MIT
"""Stock compilers decide as our process does, several at once, and nothing is left of any."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import compiler_gym
from compiler_gym import _llvm
from compiler_gym.errors import (
    InvalidParameterError,
    PolicyLoadError,
    UnknownNameError,
)
from compiler_gym_inline.llvm import FeaturePolicy
from compiler_gym_inline.llvm.observations import INLINE_FEATURES
from compiler_gym_inline.llvm.serving import (
    PolicyServer,
    serve,
    words_to_ask,
)

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")

PROGRAMS = Path(__file__).parents[6] / "programs"
COST = INLINE_FEATURES.index("cost_estimate")
SECONDS = 60.0
TWO = """
int used(int);
static int twice(int x) { int s = 0; for (int i = 0; i < x; i++) s += used(i * x); return s; }
int f(int a) { return twice(a) + twice(a + 1); }
"""
"""A program with calls to decide about."""


def cheap(features: NDArray[np.int64]) -> bool:
    return bool(features[COST] < -10)


def by_chance(features: NDArray[np.int64]) -> bool:
    return bool(features.sum() % 3 == 0)


class Held:
    """A policy that answers when it is told to go on."""

    def __init__(self) -> None:
        self.asked, self.goes_on = threading.Event(), threading.Event()

    def __call__(self, features: NDArray[np.int64]) -> bool:
        self.asked.set()
        assert self.goes_on.wait(SECONDS)
        return True


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., PolicyServer]]:
    servers: list[PolicyServer] = []

    def start(decide: Any) -> PolicyServer:
        folder = tmp_path / f"server-{len(servers)}"
        folder.mkdir()
        servers.append(PolicyServer(FeaturePolicy.of(decide), folder).__enter__())
        return servers[-1]

    yield start
    for server in servers:
        server.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "policy"]
    assert not list(tmp_path.glob("server-*/pipes-*"))


def compiling(server: PolicyServer, *words: str, folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [server.bin / "clang-22", *words],
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def text_of(bitcode: bytes) -> list[str]:
    """Return IR without what names the file and the compiler that wrote it."""
    module = _llvm.Module(bitcode).bitcode()
    done = subprocess.run(["llvm-dis-22", "-o", "-"], input=module, capture_output=True, check=True)
    named = ("; ModuleID", "source_filename", "!")
    return [line for line in done.stdout.decode().splitlines() if not line.startswith(named)]


@pytest.mark.parametrize("decide", [cheap, by_chance])
@pytest.mark.parametrize(
    "name",
    [
        path.stem if path.stem in ("bitcount", "sha", "patricia", "susan")
        else pytest.param(path.stem, marks=pytest.mark.slow)
        for path in sorted(PROGRAMS.glob("*/*.bc"))
    ],
)  # fmt: skip
def test_a_stock_clang_makes_what_our_process_makes_with_the_same_policy(
    name: str, decide: Any, served: Callable[..., PolicyServer], tmp_path: Path
) -> None:
    module = _llvm.Module((PROGRAMS / name / f"{name}.bc").read_bytes())
    module.set_goal("size")  # its functions carry the marks of -Oz, as those of clang do
    (tmp_path / "in.bc").write_bytes(module.bitcode())
    server = served(decide)
    words = ("-x", "ir", "-Oz", "-c", "-emit-llvm", "in.bc", "-o", "out.bc")
    with compiling(server, *words, folder=tmp_path) as clang:
        assert clang.wait() == 0, clang.stderr
    ours = FeaturePolicy.of(decide)
    with compiler_gym.make("llvm-inline-v0", benchmark=f"cbench-v1/{name}") as env:
        env.reset()
        ours(env)
        bitcode = env.observation["Bitcode"].tobytes()
    assert text_of((tmp_path / "out.bc").read_bytes()) == text_of(bitcode)
    assert (server.asked, server.agreed) == (ours.asked, ours.agreed)
    assert ours.asked > 0


def test_several_compilers_ask_at_once(served: Callable[..., PolicyServer], tmp_path: Path) -> None:
    together = threading.Barrier(3, timeout=SECONDS)

    class Waits:
        """Answers the first question only when every compiler has asked one."""

        def __init__(self) -> None:
            together.wait()

        def __call__(self, features: NDArray[np.int64]) -> bool:
            return cheap(features)

    (tmp_path / "two.c").write_text(TWO)
    server = served(Waits)
    compilers = [
        compiling(server, "-Oz", "-c", "two.c", "-o", f"{number}.o", folder=tmp_path)
        for number in range(3)
    ]
    for one in compilers:
        _, said = one.communicate(timeout=SECONDS)
        assert one.returncode == 0, said
    assert len({(tmp_path / f"{number}.o").read_bytes() for number in range(3)}) == 1
    assert server.asked == 6


def test_a_compiler_that_dies_while_it_waits_leaves_the_others_alone(
    served: Callable[..., PolicyServer], tmp_path: Path
) -> None:
    held = Held()
    (tmp_path / "two.c").write_text(TWO)
    server = served(held)
    with compiling(server, "-Oz", "-c", "two.c", folder=tmp_path) as launcher:
        assert held.asked.wait(SECONDS)
        (compiler,) = children_of(launcher.pid)
        os.kill(compiler, signal.SIGKILL)
        assert launcher.wait(SECONDS) == 256 - signal.SIGKILL
        held.goes_on.set()
    with compiling(server, "-Oz", "-c", "two.c", folder=tmp_path) as launcher:
        assert launcher.wait(SECONDS) == 0


def test_a_compiler_whose_launcher_is_killed_comes_to_its_end(
    served: Callable[..., PolicyServer], tmp_path: Path
) -> None:
    held = Held()
    (tmp_path / "two.c").write_text(TWO)
    server = served(held)
    with compiling(server, "-Oz", "-c", "two.c", "-o", "two.o", folder=tmp_path) as launcher:
        assert held.asked.wait(SECONDS)
        (compiler,) = children_of(launcher.pid)
        launcher.kill()
        held.goes_on.set()
        ended(compiler)
    assert (tmp_path / "two.o").exists()


def test_a_policy_that_raises_fails_the_compilation_and_gives_the_reason(
    served: Callable[..., PolicyServer], tmp_path: Path
) -> None:
    def decide(features: NDArray[np.int64]) -> bool:
        raise ValueError("no idea")

    (tmp_path / "two.c").write_text(TWO)
    server = served(decide)
    with compiling(server, "-Oz", "-c", "two.c", "-o", "two.o", folder=tmp_path) as clang:
        _, said = clang.communicate(timeout=SECONDS)
    assert clang.returncode == 1
    assert said == b"clang-22: error: the policy raised ValueError: no idea\n"
    assert [type(error).__name__ for error in server.failures] == ["PolicyCrashedError"]
    assert not (tmp_path / "two.o").exists()


def test_calls_that_compile_nothing_work_as_ever(
    served: Callable[..., PolicyServer], tmp_path: Path
) -> None:
    server = served(cheap)
    (tmp_path / "two.c").write_text(TWO)
    for words in (("--version",), ("-E", "two.c"), ("-Werror", "-fsyntax-only", "two.c")):
        with compiling(server, *words, folder=tmp_path) as clang:
            _, said = clang.communicate(timeout=SECONDS)
        assert (clang.returncode, said) == (0, b""), words
    assert server.asked == 0


@pytest.fixture
def short_path() -> Iterator[Path]:
    """Return a folder whose name leaves room for that of a socket."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.slow  # 4 s: two of the servers wait for their policy
def test_a_server_that_is_killed_leaves_no_compiler_waiting(
    tmp_path: Path, short_path: Path
) -> None:
    policy = tmp_path / "slow.py"
    policy.write_text(
        "import pathlib, time\n"
        "def decide(features):\n"
        f"    pathlib.Path({str(tmp_path / 'asked')!r}).touch()\n"
        "    time.sleep(1000)\n"
    )
    (tmp_path / "two.c").write_text(TWO)
    for end in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        command = [sys.executable, "-m", "compiler_gym", "serve-policy", str(policy), "--"]
        with subprocess.Popen(
            [*command, "clang", "-Oz", "-c", "two.c"],
            cwd=tmp_path, start_new_session=True, stderr=subprocess.DEVNULL,
            env=os.environ | {"TMPDIR": str(short_path)},
        ) as server:  # fmt: skip
            wait_until(lambda: (tmp_path / "asked").exists())
            (tmp_path / "asked").unlink()
            (launcher,) = children_of(server.pid)
            (compiler,) = children_of(launcher)
            server.send_signal(end)
            server.wait(SECONDS)
            ended(launcher)
            ended(compiler)
    assert not list(short_path.glob("compiler_gym-policy-*"))  # nor that of the one before


def test_opt_asks_over_its_own_pipes_one_after_the_other(tmp_path: Path) -> None:
    channel = tmp_path / "channel"
    command = [sys.executable, "-m", "compiler_gym", "serve-policy", "default"]
    (tmp_path / "in.bc").write_bytes((PROGRAMS / "sha" / "sha.bc").read_bytes())
    with subprocess.Popen([*command, "--channel", str(channel)], stderr=subprocess.PIPE) as server:
        wait_until(lambda: channel.with_name("channel.out").exists())
        for output in ("asked.bc", "again.bc"):
            words = words_to_ask(channel, is_driver=False)
            opt = ["opt-22", "-passes=default<Oz>", *words, "in.bc", "-o", output]
            subprocess.run(opt, cwd=tmp_path, check=True, timeout=SECONDS)
        server.send_signal(signal.SIGINT)
        assert server.wait(SECONDS) == 0
        assert server.stderr is not None
        assert b"-inliner-interactive-channel-base" in server.stderr.read()
    plain = ["opt-22", "-passes=default<Oz>", "in.bc", "-o", "plain.bc"]
    subprocess.run(plain, cwd=tmp_path, check=True)
    made = {(tmp_path / f"{name}.bc").read_bytes() for name in ("asked", "again", "plain")}
    assert len(made) == 1, "with LLVM's own answers opt makes what it makes unasked"
    assert not list(tmp_path.glob("channel*"))


def test_an_unserviceable_request_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyLoadError, match="use default"):
        serve("nothing", say=print)
    with pytest.raises(InvalidParameterError, match="--channel cannot be combined with a command"):
        serve("default", command=["make"], channel=tmp_path / "channel", say=print)
    with pytest.raises(UnknownNameError, match="cannot run no-such-program"):
        serve("default", command=["no-such-program"], say=print)


def children_of(pid: int) -> list[int]:
    words: list[str] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        words += (task / "children").read_text().split()
    return [int(word) for word in words]


def ended(pid: int) -> None:
    wait_until(lambda: not Path(f"/proc/{pid}/exe").exists())


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)
