# SPDX-License-Identifier: MIT
"""Objects are known by their bytes, and those of unknown origin stay what they are."""

import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.envs import llvm
from compiler_gym.envs.llvm.programs import objects
from compiler_gym.errors import (
    BenchmarkInitError,
)

from .conftest import Env, functions_of, status_of

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")


def test_objects_that_were_compiled_are_known_by_their_bytes(project: Path, make_env: Env) -> None:
    env = make_env()
    for name, flags in (("main", "-DN=5"), ("part", "")):
        program = env.make_benchmark_from_command_line(f"cc -Iinclude {flags} -c {name}.c")
        env.reset(benchmark=program)
        program.compile(env)
    (project / "part.o").rename(project / "moved.o")
    subprocess.run(["ar", "rcs", "libpart.a", "moved.o"], check=True)
    program = env.make_benchmark_from_command_line("cc main.o libpart.a -lm -o run")
    assert functions_of(program, make_env) == {"main", "part"}
    env.reset(benchmark=program)
    program.compile(env)
    assert status_of(project / "run") == 14


def test_objects_of_unknown_origin_stay_for_the_linker(project: Path, make_env: Env) -> None:
    subprocess.run(["cc", "-Iinclude", "-c", "part.c"], check=True)
    env = make_env()
    program = env.make_benchmark_from_command_line("cc -Iinclude -DN=1 main.c part.o -lm -o run")
    assert functions_of(program, make_env) == {"main"}
    env.reset(benchmark=program)
    program.compile(env)
    assert status_of(project / "run") == 6
    with pytest.raises(BenchmarkInitError, match="no objects of known origin"):
        env.make_benchmark_from_command_line("cc part.o -o run")


@pytest.mark.parametrize("size", [b"-100", b"x", b"99999999", b""])
def test_a_damaged_archive_is_one_of_unknown_origin(size: bytes, project: Path) -> None:
    header = b"a.o/".ljust(48) + size.ljust(10) + b"`\n"
    (project / "bad.a").write_bytes(b"!<arch>\n" + header + b"data" * 50)
    with pytest.raises(BenchmarkInitError, match="no objects of known origin"):
        llvm.make_benchmark_from_command_line("cc bad.a -o run")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a folder; nothing is remembered of any object."""
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(objects, "_outputs", {})
    return tmp_path


def test_an_object_is_found_by_its_bytes_wherever_it_is(folder: Path) -> None:
    (folder / "a.o").write_bytes(b"object")
    assert objects.find_modules(folder / "a.o") is None
    objects.remember_object(folder / "a.o", b"module")
    (folder / "a.o").rename(folder / "b.o")
    assert objects.find_modules(folder / "b.o") == [b"module"]
    (folder / "c.o").write_bytes(b"other object")
    assert objects.find_modules(folder / "c.o") is None


def test_bitcode_is_its_own_origin(folder: Path) -> None:
    for magic in (b"BC\xc0\xde", b"\xde\xc0\x17\x0b"):
        (folder / "a.o").write_bytes(magic + b"rest")
        assert objects.find_modules(folder / "a.o") == [magic + b"rest"]


def test_an_output_of_a_command_that_was_not_run_is_known_by_its_path(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    objects.remember_output(Path("run"), b"module")
    assert objects.find_modules(folder / "run") == [b"module"]
    assert objects.find_modules(folder / "walk") is None
    monkeypatch.setattr(objects, "_MOST_OUTPUTS", 1)
    objects.remember_output(folder / "walk", b"other")
    assert objects.find_modules(folder / "run") is None


@pytest.mark.parametrize("names", [["a.o"], ["a.o", "a-long-name-that-needs-a-table.o"]])
def test_an_archive_is_known_if_all_that_ar_put_into_it_is(folder: Path, names: list[str]) -> None:
    for name in names:
        (folder / name).write_bytes(name.encode())  # odd and even lengths
        objects.remember_object(folder / name, f"module of {name}".encode())
    subprocess.run(["ar", "rcs", "l.a", *names], cwd=folder, check=True)
    assert objects.is_archive(folder / "l.a")
    assert objects.find_modules(folder / "l.a") == [f"module of {n}".encode() for n in names]
    (folder / "stranger.o").write_bytes(b"odd")
    subprocess.run(["ar", "rs", "l.a", "stranger.o"], cwd=folder, check=True)
    assert objects.find_modules(folder / "l.a") is None


def test_an_invalid_archive_is_none(folder: Path) -> None:
    (folder / "a.o").write_bytes(b"!<arch")
    assert not objects.is_archive(folder / "a.o")
    assert not objects.is_archive(folder / "nothing.a")
    (folder / "empty.a").write_bytes(b"!<arch>\n")
    assert objects.is_archive(folder / "empty.a")
    assert objects.find_modules(folder / "empty.a") is None


def test_without_a_cache_an_object_is_one_of_unknown_origin(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.o").write_bytes(b"object")
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(folder / "a.o"))
    objects.remember_object(folder / "a.o", b"module")
    assert objects.find_modules(folder / "a.o") is None
