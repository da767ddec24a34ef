# SPDX-License-Identifier: MIT
"""A compiler is named in several ways, and says why it cannot be used."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import compiler_gym
from compiler_gym.errors import EnvironmentNotSupported, ServiceError
from compiler_gym_gcc import DEFAULT_GCC, Gcc, GccEnv
from compiler_gym_gcc.toolchain import gcc as machine_gcc
from compiler_gym_gcc.toolchain.gcc import major_version
from compiler_gym_gcc.toolchain.spec import get_spec

from ..conftest import needed


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_the_default_is_the_gcc_on_path() -> None:
    assert DEFAULT_GCC == "gcc"
    needed("gcc")
    with compiler_gym.make("gcc-v0") as env:
        assert env.compiler_version.startswith("gcc (")


def test_a_path_names_a_compiler() -> None:
    path = shutil.which(needed("gcc-11"))
    with compiler_gym.make("gcc-v0", gcc_bin=path, benchmark="cbench-v1/crc32") as env:
        assert isinstance(env, GccEnv)
        env.reset()
        assert env.command_line.startswith(f"{path} ")
        assert env.obj_size > 1000


def test_two_compilers_live_side_by_side() -> None:
    versions: list[list[str]] = []
    for isolation in ("process", "in-process"):
        envs = [
            compiler_gym.make("gcc-v0", gcc_bin=needed(name), isolation=isolation)
            for name in ("gcc-11", "gcc-12", "gcc-11")
        ]
        for env in envs:
            env.reset(benchmark="cbench-v1/crc32")
        listings = [env.asm for env in envs if isinstance(env, GccEnv)]
        versions.append([asm.rstrip().splitlines()[-2].split('"')[1] for asm in listings])
        for env in envs:
            env.close()
    assert versions[0] == versions[1]
    assert ["11." in version for version in versions[0]] == [True, False, True]


@pytest.mark.parametrize("isolation", ["process", "in-process"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("echo 'Debian clang version 22.1.0'", "is clang"),
        ("echo 'gcc (X) 12.1'; echo 'Apple clang version 15'", "is clang"),
        ("echo 'tcc version 0.9.27'", "is not GCC"),
        ("echo 'gcc (GCC) 4.8.5'; echo 'Free Software Foundation'", "but GCC 5 or newer is needed"),
        ("echo broken >&2; exit 3", "exited with status 3: broken"),
        ("kill -SEGV $$", "exited with status"),
        (
            "case $1 in --version) echo 'gcc (X) 12.1.0'; echo 'Free Software Foundation';; esac",
            "lists no options",
        ),
        (
            "case $1 in --v*) echo 'gcc 12.1.0'; echo 'Free Software Foundation';; -p*) ;; "
            "*) echo boom >&2; exit 4;; esac",
            r"lists no options.*status 4: boom",
        ),
        (
            "case $1 in --v*) echo 'gcc 12.1.0'; echo 'Free Software Foundation';; "
            "*) echo /no/such/cc1;; esac",
            "needs /no/such/cc1, which is missing",
        ),
        ("exec yes 'Free Software Foundation'", "prints more than 16 MiB"),
        ("exec yes >&2", "prints more than 16 MiB"),
        ("head -c 9999 /dev/urandom", "is not GCC"),
    ],
)
def test_an_unusable_compiler_gives_the_reason(
    text: str, reason: str, isolation: Any, tmp_path: Path
) -> None:
    gcc_bin = script(tmp_path / "gcc", text)
    with pytest.raises(EnvironmentNotSupported, match=reason):
        compiler_gym.make("gcc-v0", gcc_bin=gcc_bin, isolation=isolation)


@pytest.mark.parametrize(
    ("gcc_bin", "reason"),
    [
        ("no-such-gcc", "is not a program; install it"),
        ("/no/such/gcc", "is not a program; "),
        ("", "is not a program; "),
        (str(Path(__file__).parent), "not an executable program"),
        (__file__, "not an executable program"),
    ],
)
def test_a_missing_compiler_gives_the_fix(gcc_bin: str, reason: str) -> None:
    with pytest.raises(EnvironmentNotSupported, match=reason):
        compiler_gym.make("gcc-v0", gcc_bin=gcc_bin)


@pytest.mark.parametrize("hangs_at", ["--version", "--help=optimizers"])
def test_a_compiler_that_does_not_answer_is_not_waited_for(
    hangs_at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"""case $1 in {hangs_at}) exec sleep 600;;
    --version) echo 'gcc (X) 12.1.0'; echo 'Free Software Foundation';; esac"""
    gcc = Gcc(script(tmp_path / "gcc", text))
    monkeypatch.setattr(machine_gcc, "_QUERY_SECONDS", 0.5)
    with pytest.raises(EnvironmentNotSupported, match=f"{hangs_at} did not finish within"):
        get_spec.__wrapped__(gcc.bin)


def test_an_invalid_program_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "gcc"
    path.write_bytes(b"\x7fELF, or not")
    path.chmod(0o755)
    with pytest.raises(EnvironmentNotSupported, match="cannot run"):
        compiler_gym.make("gcc-v0", gcc_bin=str(path))


def test_a_compiler_that_was_replaced_is_another_one(tmp_path: Path) -> None:
    real = shutil.which(needed("gcc-12"))
    wrapper = script(tmp_path / "gcc", f'exec {real} "$@"')
    before = Gcc(wrapper).identity()
    assert Gcc(wrapper).identity() == before
    script(tmp_path / "gcc", f'exec {real} -O2 "$@"')
    assert Gcc(wrapper).identity() != before


def test_a_compiler_can_be_called() -> None:
    gcc = Gcc(needed("gcc-12"))
    assert gcc("-dumpversion").strip() == "12"
    with pytest.raises(ServiceError, match="no-such-option"):
        gcc("--no-such-option")


def test_a_path_is_a_name_too(tmp_path: Path) -> None:
    assert Gcc(tmp_path / "gcc") == Gcc(f"{tmp_path}/gcc") != Gcc("gcc")
    assert Gcc(Path("gcc-12")).bin == "gcc-12"
    assert len({Gcc("gcc"), Gcc("gcc"), Gcc("cc")}) == 2
    assert repr(Gcc("gcc")) == "Gcc('gcc')"


def test_a_call_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    gcc = Gcc(script(tmp_path / "gcc", "exec sleep 60"))
    with pytest.raises(TimeoutError, match=r"within 0\.2 s"):
        gcc("-v", timeout=0.2)


def test_variables_that_change_results_do_not_reach_the_compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CPATH", str(tmp_path))
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    gcc = Gcc(script(tmp_path / "gcc", 'echo "$CPATH,$LC_ALL,$SOURCE_DATE_EPOCH"'))
    assert gcc() == ",C,0\n"
    assert os.environ["CPATH"] == str(tmp_path)


@pytest.mark.parametrize(
    ("line", "major"),
    [
        ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0", 12),
        ("gcc-5 (Ubuntu 5.5.0-12ubuntu1) 5.5.0 20171010", 5),
        ("x86_64-linux-gnu-gcc-14 (GCC) 14.1.1 20240522 (Red Hat 14.1.1-4)", 14),
        ("gcc", None),
    ],
)
def test_the_major_version_is_read(line: str, major: int | None) -> None:
    assert major_version(line) == major
