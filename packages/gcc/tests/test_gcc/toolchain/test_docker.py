# SPDX-License-Identifier: MIT
"""A compiler in a Docker image works as one on this machine; the daemon here is a fake."""

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.errors import EnvironmentNotSupported, ObservationError, WorkerTimeoutError
from compiler_gym.service import shut_down
from compiler_gym_gcc import Gcc, GccEnv
from compiler_gym_gcc.toolchain.spec import get_spec

from ..conftest import needed
from .docker_daemon import FakeDaemon

Make = Callable[..., GccEnv]
pytest.importorskip("docker", reason="needs the extra docker")


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDaemon]:
    images = {"gcc:12": needed("gcc-12"), "gcc:11": needed("gcc-11")}
    with FakeDaemon(tmp_path / "docker.sock", images) as daemon:
        monkeypatch.setenv("DOCKER_HOST", daemon.url)
        get_spec.cache_clear()
        yield daemon
    shut_down()  # what it started knows a daemon that has gone
    get_spec.cache_clear()


def test_an_image_gives_what_the_same_compiler_gives_here(
    daemon: FakeDaemon, make_env: Make
) -> None:
    there, here = make_env(gcc_bin="docker:gcc:12"), make_env(gcc_bin="gcc-12")
    for env in (there, here):
        env.reset()
        env.step(env.action_space["-O2"])
    assert there.gcc_spec.options == here.gcc_spec.options
    assert there.obj == here.obj
    assert there.asm_size == here.asm_size
    assert there.command_line == "gcc -O2 -w -std=c11 -c src.i -o obj.o"
    assert len(daemon.removed) == len(daemon.created) > 0


def test_a_container_is_bounded_and_alone(daemon: FakeDaemon, make_env: Make) -> None:
    env = make_env(gcc_bin="docker:gcc:12")
    env.reset()
    assert env.obj_size > 0
    asked = [body for body in daemon.created if body["HostConfig"].get("Binds")][-1]
    assert asked["NetworkDisabled"] is True
    assert asked["HostConfig"]["Memory"] == 8 << 30
    assert asked["HostConfig"]["Binds"][0].endswith(":/work:rw")
    assert asked["User"].count(":") == 1
    assert "ulimit -t" in asked["Cmd"][1]


def test_a_container_that_hangs_is_removed_at_its_deadline(
    daemon: FakeDaemon, make_env: Make, tmp_path: Path
) -> None:
    hang = tmp_path / "gcc"
    hang.write_text('#!/bin/sh\ncase "$*" in *-fgcse*-c*|*-fgcse*-S*) case "$*" in *-\\#*) ;; '
                    '*) exec sleep 60;; esac;; esac\nexec gcc-12 "$@"\n')  # fmt: skip
    hang.chmod(0o755)
    daemon.images["gcc:hang"] = str(hang)
    env = make_env(gcc_bin="docker:gcc:hang")
    env.reset()
    env.timeout = 1
    *_, truncated, info = env.step(env.action_space["-fgcse"], observation_spaces=["obj_size"])
    assert truncated
    assert isinstance(info["error"], WorkerTimeoutError)
    assert len(daemon.removed) == len(daemon.created)


def test_a_program_of_an_image_is_not_run_here(daemon: FakeDaemon, make_env: Make) -> None:
    env = make_env(gcc_bin="docker:gcc:12")
    env.reset()
    with pytest.raises(ObservationError, match="cannot run outside the image"):
        env.observation["runtime"]
    assert [rung.name for rung in env.validate().rungs] == ["replay"]


def test_an_image_that_is_not_there_reports_it(daemon: FakeDaemon) -> None:
    with pytest.raises(
        EnvironmentNotSupported, match="does not have this image and cannot pull it"
    ):
        compiler_gym.make("gcc-v0", gcc_bin="docker:gcc:1")


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # the SDK's, see below
def test_a_daemon_that_is_not_there_reports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'nobody.sock'}")
    shut_down()
    with pytest.raises(EnvironmentNotSupported, match="daemon does not answer; start it"):
        compiler_gym.make("gcc-v0", gcc_bin="docker:gcc:12")
    with pytest.raises(EnvironmentNotSupported, match="daemon does not answer"):
        Gcc("docker:gcc:12").version_text()
    gc.collect()  # the SDK leaves the socket of a refused connection to the collector


def test_an_sdk_that_is_not_there_names_the_package_to_install() -> None:
    code = (
        "import sys; sys.modules['docker'] = None\n"
        "from compiler_gym_gcc import Gcc\n"
        "try:\n    Gcc('docker:gcc:12').version_text()\n"
        "except Exception as error:\n    print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("EnvironmentNotSupported")
    assert "pip install 'compiler-gym-next[docker]'" in done.stdout
