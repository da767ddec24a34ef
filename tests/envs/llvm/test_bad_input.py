# SPDX-License-Identifier: MIT
"""Bad input is refused with words that help, and costs nobody anything."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.datasets import BenchmarkUri
from compiler_gym.envs.llvm import LlvmEnv, make_benchmark, make_benchmark_from_source
from compiler_gym.envs.llvm.toolchain.baselines import Baselines
from compiler_gym.errors import BenchmarkInitError, CacheWarning, PipelineError, UnknownNameError
from tests.stand_ins import always

MakeEnv = Callable[..., LlvmEnv]


def still_works(env: LlvmEnv) -> bool:
    """Return whether the environment serves a good program after a bad one."""
    env.reset(benchmark="cbench-v1/crc32")
    return env.step(env.action_space["sroa"])[3] is False


@pytest.mark.parametrize(
    ("name", "contents", "message"),
    [
        ("empty.bc", b"", "the file is empty"),
        ("noise.bc", b"BC\xc0\xde" + bytes(range(256)) * 8, r"noise\.bc.*Malformed"),
        ("text.bc", b"hello", "expected"),
        ("broken.ll", b"define i32 @f() {\n  ret i64 0\n}\n", "i64|type"),
        ("cut.ll", b"define void @f() {\n  br label %a\na:\n", "expecting more|expected"),
    ],
)
def test_a_file_that_is_not_a_module_is_refused(
    env: LlvmEnv, tmp_path: Path, name: str, contents: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(contents)
    with pytest.raises(BenchmarkInitError, match=message):
        env.reset(benchmark=f"file://{path}")
    assert still_works(env)


@pytest.mark.parametrize("cut", [3, 100, 1000, 5000])
def test_truncated_bitcode_is_refused(env: LlvmEnv, tmp_path: Path, cut: int) -> None:
    whole = env.datasets.benchmark("cbench-v1/sha").contents
    path = tmp_path / "cut.bc"
    path.write_bytes(whole[:cut])
    with pytest.raises(BenchmarkInitError, match=r"cut\.bc"):
        env.reset(benchmark=f"file://{path}")
    assert still_works(env)


def test_every_kind_of_corrupt_byte_is_survived(env: LlvmEnv, tmp_path: Path) -> None:
    whole = bytearray(env.datasets.benchmark("cbench-v1/crc32").contents)
    path = tmp_path / "corrupt.bc"
    outcomes: set[str] = set()
    for position in range(40, len(whole), len(whole) // 60):
        corrupt = bytearray(whole)
        corrupt[position] ^= 0x5A
        path.write_bytes(corrupt)
        try:
            env.reset(benchmark=f"file://{path}", timeout=20)
            outcomes.add("read")
        except BenchmarkInitError:
            outcomes.add("refused")
    assert "refused" in outcomes
    assert still_works(env)


def test_a_directory_and_a_missing_file_are_named(env: LlvmEnv, tmp_path: Path) -> None:
    with pytest.raises(BenchmarkInitError, match="is a directory"):
        env.reset(benchmark=f"file://{tmp_path}")
    with pytest.raises(BenchmarkInitError, match=r"gone\.bc.*No such file"):
        env.reset(benchmark=f"file://{tmp_path}/gone.bc")
    (tmp_path / "notes.txt").write_text("milk")
    with pytest.raises(BenchmarkInitError, match=r"unknown type of file .*notes\.txt"):
        env.reset(benchmark=f"file://{tmp_path}/notes.txt")
    assert still_works(env)


def test_source_that_does_not_compile_comes_with_clang_s_words(
    env: LlvmEnv, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.c"
    path.write_text("int main(void) { return missing; }\n")
    with pytest.raises(BenchmarkInitError, match="use of undeclared identifier 'missing'"):
        env.make_benchmark(path)
    with pytest.raises(BenchmarkInitError, match="use of undeclared identifier 'missing'"):
        env.reset(benchmark=f"file://{path}")
    assert still_works(env)


def test_cpp_without_main_is_a_program_like_any_other(env: LlvmEnv) -> None:
    benchmark = make_benchmark_from_source(
        "struct A { int f() const; }; int A::f() const { return 1; }"
    )
    env.reset(benchmark=benchmark)
    assert env.observation["IrInstructionCount"] > 0


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("nope-v1/x", "nope-v1"),
        ("cbench-v1/qsrt", "qsort"),
        ("cbench-v1", "cbench"),
    ],
)
def test_an_unknown_program_is_named(env: LlvmEnv, uri: str, message: str) -> None:
    with pytest.raises(LookupError, match=message):
        env.reset(benchmark=uri)
    assert still_works(env)


def test_a_goal_that_does_not_exist_is_named(env: LlvmEnv) -> None:
    with pytest.raises(BenchmarkInitError, match=r"no goal 'beauty'.*use goal=size or speed"):
        env.reset(benchmark="cbench-v1/crc32?goal=beauty")
    assert still_works(env)


def test_a_thing_that_is_not_a_program_is_refused(env: LlvmEnv) -> None:
    with pytest.raises(BenchmarkInitError, match="a URI or a Benchmark \\(got int"):
        env.reset(benchmark=3)  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(TypeError, match=r"inputs must be paths or ClangInvocations \(got int"):
        make_benchmark([1])  # type: ignore[list-item]  # the mistake under test


@pytest.mark.parametrize(
    "pipeline",
    ["nope", "function(", "loop(licm)", "function(instcombine<verify-me>)", "default<O9>"],
)
def test_a_pipeline_that_llvm_refuses_leaves_the_episode_as_it_was(
    env: LlvmEnv, pipeline: str
) -> None:
    env.reset()
    before = env.ir_sha1
    with pytest.raises(PipelineError):
        env.send_param("llvm.apply_pipeline", pipeline)
    assert env.in_episode
    assert env.ir_sha1 == before


def test_an_unknown_parameter_is_named(env: LlvmEnv) -> None:
    env.reset()
    with pytest.raises(ValueError, match="has no parameter 'colour'"):
        env.send_param("colour", "blue")
    assert env.in_episode


def test_without_clang_the_message_names_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a.c"
    path.write_text("int x;")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", always(None))
    with pytest.raises(BenchmarkInitError, match="apt install clang"):
        make_benchmark(path)
    monkeypatch.setenv("COMPILER_GYM_CLANG", "my-clang")
    with pytest.raises(BenchmarkInitError, match="'my-clang', which is not a program"):
        make_benchmark(path)


@pytest.mark.parametrize("name", ["50%.ll", "a%20b.ll", "a b.ll", "été#1?x=2.ll"])
def test_a_file_may_have_any_name(env: LlvmEnv, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("define i32 @f(i32 %a) {\n  %b = add i32 %a, 1\n  ret i32 %b\n}\n")
    benchmark = make_benchmark(path)
    env.reset(benchmark=benchmark)
    assert env.observation["IrInstructionCount"] == 2
    env.reset(benchmark=BenchmarkUri("file", "", str(path)).__str__())
    assert env.observation["IrInstructionCount"] == 2
    env.apply(env.state)


@pytest.mark.parametrize("isolation", ["process", "in-process"])
def test_a_cache_that_cannot_be_written_costs_no_result_and_is_said_once(
    make_env: MakeEnv, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, isolation: str
) -> None:
    env = make_env()  # first: what its process inherits, the other tests share
    env.reset()
    expected = env.observation["IrInstructionCountOz"]
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a directory should be")
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(blocked))
    code = (
        "import compiler_gym\n"
        "env = compiler_gym.make('llvm-v0', reward_space='IrInstructionCountOz',\n"
        f"                        isolation={isolation!r})\n"
        "env.reset(); print(env.observation['IrInstructionCountOz'])\n"
        "env.reset(); env.step(3); env.observation['IrInstructionCountO3']; env.close()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == expected
    assert done.stderr.count("CacheWarning") == 1
    assert str(blocked) in done.stderr
    assert "Not a directory" in done.stderr
    assert "set COMPILER_GYM_CACHE" in done.stderr
    assert blocked.is_file()


class OneOf:
    """A module whose costs are known, for the cache alone."""

    def __init__(self, contents: bytes) -> None:
        self.size = len(contents)

    def apply_level(self, level: str) -> None:
        self.size += len(level)

    def instruction_count(self) -> int:
        return self.size


def baseline_of(contents: bytes, level: str, version: str) -> float:
    """Return a cost through the cache of `version`."""
    baselines = Baselines(OneOf, version)
    return baselines.cost(contents, level, "IrInstructionCount", OneOf.instruction_count)


def test_a_full_disk_costs_no_result_and_leaves_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path))
    monkeypatch.setattr("os.replace", full)
    with pytest.warns(CacheWarning, match="No space left on device"):
        assert baseline_of(b"abc", "Oz", "full-disk") == 5
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("garbage", ["", "12", "12 o", "x ok\n", "12 ok\nmore"])
def test_a_damaged_cache_entry_is_computed_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, garbage: str
) -> None:
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path))
    contents = f"damaged{garbage}".encode()
    wanted = baseline_of(contents, "O3", "damage")
    (entry,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    entry.write_text(garbage)
    monkeypatch.setattr("compiler_gym.envs.llvm.toolchain.baselines._memory", {})
    assert baseline_of(contents, "O3", "damage") == wanted
    assert entry.read_text() == f"{wanted} ok\n"


def test_processes_that_fill_the_cache_at_once_agree(tmp_path: Path) -> None:
    code = (
        "import compiler_gym\n"
        "env = compiler_gym.make('llvm-v0', benchmark='cbench-v1/sha')\n"
        "env.reset()\n"
        "print([env.observation[f'IrInstructionCount{l}'] for l in ('O1','O2','O3','Os','Oz')])\n"
        "env.close()"
    )
    environment = {**os.environ, "COMPILER_GYM_CACHE": str(tmp_path)}
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment)
        for _ in range(4)
    ]
    printed = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0] * 4
    assert len(printed) == 1
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 5
    assert all(path.read_text().endswith(" ok\n") for path in files)
    assert all(stat.S_ISREG(path.stat().st_mode) for path in files)


def test_an_unknown_observation_leaves_the_episode_as_it_was(env: LlvmEnv) -> None:
    env.reset()
    with pytest.raises(UnknownNameError, match="no observation space 'Nope'"):
        env.step(0, observation_spaces=["Nope"])
    assert env.actions == []
    assert env.in_episode
