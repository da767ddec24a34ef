# SPDX-License-Identifier: MIT
# ruff: noqa: E501  # lines of IR
"""Programs whose intrinsics must be lowered before code is generated, through the environment."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.errors import ObservationError

MakeEnv = Callable[..., LlvmEnv]
TRIPLE = 'target triple = "x86_64-pc-linux-gnu"\n'
MAIN = "define i32 @main() {\n  ret i32 0\n}\n"
LOWERED = {
    "coroutine": """
declare token @llvm.coro.id(i32, ptr, ptr, ptr)
declare i64 @llvm.coro.size.i64()
declare ptr @llvm.coro.begin(token, ptr)
declare i8 @llvm.coro.suspend(token, i1)
declare ptr @llvm.coro.free(token, ptr)
declare void @llvm.coro.end(ptr, i1, token)
declare void @llvm.coro.resume(ptr)
declare i1 @llvm.coro.done(ptr)
declare ptr @malloc(i64)
declare void @free(ptr)
define ptr @generate(i32 %n) presplitcoroutine {
  %id = call token @llvm.coro.id(i32 0, ptr null, ptr null, ptr null)
  %size = call i64 @llvm.coro.size.i64()
  %room = call ptr @malloc(i64 %size)
  %frame = call ptr @llvm.coro.begin(token %id, ptr %room)
  %s = call i8 @llvm.coro.suspend(token none, i1 false)
  switch i8 %s, label %end [i8 0, label %clean
                            i8 1, label %clean]
clean:
  %m = call ptr @llvm.coro.free(token %id, ptr %frame)
  call void @free(ptr %m)
  br label %end
end:
  call void @llvm.coro.end(ptr %frame, i1 false, token none)
  ret ptr %frame
}
define i1 @use() {
  %h = call ptr @generate(i32 3)
  call void @llvm.coro.resume(ptr %h)
  %d = call i1 @llvm.coro.done(ptr %h)
  ret i1 %d
}
""",
    "matrix": """
declare <4 x float> @llvm.matrix.transpose.v4f32(<4 x float>, i32, i32)
declare <4 x float> @llvm.matrix.column.major.load.v4f32.i64(ptr, i64, i1, i32, i32)
define <4 x float> @turn(ptr %p) {
  %a = call <4 x float> @llvm.matrix.column.major.load.v4f32.i64(ptr %p, i64 2, i1 false, i32 2, i32 2)
  %t = call <4 x float> @llvm.matrix.transpose.v4f32(<4 x float> %a, i32 2, i32 2)
  ret <4 x float> %t
}
""",
    "type tests": """
@table = constant [2 x ptr] [ptr @virtual, ptr @virtual], !type !0
declare i1 @llvm.type.test(ptr, metadata)
declare i1 @llvm.public.type.test(ptr, metadata)
declare {ptr, i1} @llvm.type.checked.load(ptr, i32, metadata)
define void @virtual() {
  ret void
}
define i1 @test(ptr %p) {
  %a = call i1 @llvm.type.test(ptr %p, metadata !"T")
  %b = call i1 @llvm.public.type.test(ptr %p, metadata !"T")
  %c = call {ptr, i1} @llvm.type.checked.load(ptr %p, i32 8, metadata !"T")
  %d = extractvalue {ptr, i1} %c, 1
  %e = and i1 %a, %b
  %f = and i1 %e, %d
  ret i1 %f
}
!0 = !{i64 0, !"T"}
""",
    "counters": """
@__profn_count = private constant [5 x i8] c"count"
declare void @llvm.instrprof.increment(ptr, i64, i32, i32)
declare void @llvm.instrprof.value.profile(ptr, i64, i64, i32, i32)
define void @count(i64 %n) {
  call void @llvm.instrprof.increment(ptr @__profn_count, i64 1, i32 1, i32 0)
  call void @llvm.instrprof.value.profile(ptr @__profn_count, i64 1, i64 %n, i32 0, i32 0)
  ret void
}
""",
    "guard": """
declare void @llvm.experimental.guard(i1, ...)
define void @guarded(i1 %c) {
  call void (i1, ...) @llvm.experimental.guard(i1 %c) [ "deopt"() ]
  ret void
}
""",
}
REFUSED = {
    "a coroutine's size outside a coroutine": """
declare i64 @llvm.coro.size.i64()
define i64 @size() {
  %r = call i64 @llvm.coro.size.i64()
  ret i64 %r
}
""",
    "an intrinsic of another machine": """
declare i32 @llvm.aarch64.crc32b(i32, i32)
define i32 @sum(i32 %x) {
  %r = call i32 @llvm.aarch64.crc32b(i32 %x, i32 4)
  ret i32 %r
}
""",
    "pointer authentication": """
declare i64 @llvm.ptrauth.sign(i64, i32, i64)
define i64 @sign(i64 %p) {
  %r = call i64 @llvm.ptrauth.sign(i64 %p, i32 0, i64 0)
  ret i64 %r
}
""",
    "a garbage collector that LLVM does not have": """
define void @collected() gc "nonsense" {
  ret void
}
""",
}
SIZES = ("Assembly", "ObjectTextSizeBytes", "ObjectInstructionCount")
PROGRAMS = ("TextSizeBytes", "Buildtime")
REWARDS = ("ObjectTextSizeBytes", "ObjectTextSizeOz", "ObjectTextSizeNorm")


@pytest.fixture
def start(make_env: MakeEnv, tmp_path: Path) -> Callable[[str], LlvmEnv]:
    env = make_env()

    def start(text: str) -> LlvmEnv:
        path = tmp_path / "program.ll"
        path.write_text(TRIPLE + text + MAIN)
        env.reset(benchmark=env.make_benchmark(path))
        return env

    return start


@pytest.mark.parametrize("kind", LOWERED)
def test_code_is_generated_for_a_lowered_copy_and_the_program_stays_as_it_is(
    kind: str, start: Callable[[str], LlvmEnv]
) -> None:
    env = start(LOWERED[kind])
    before = env.observation["Bitcode"].tobytes()
    assert "llvm." not in env.observation["Assembly"].replace("__llvm", "")
    assert env.observation["ObjectTextSizeBytes"] > 0
    assert env.observation["ObjectInstructionCount"] > 0
    assert env.observation["Bitcode"].tobytes() == before
    *_, truncated, info = env.step(env.action_space["mem2reg"])
    assert not truncated, info


@pytest.mark.parametrize("kind", LOWERED)
def test_rewards_of_code_are_paid_for_programs_that_need_lowering(
    kind: str, start: Callable[[str], LlvmEnv]
) -> None:
    env = start(LOWERED[kind])
    for reward in REWARDS:
        env.reset(reward_space=reward)
        _, _, _, truncated, info = env.step(env.action_space["mem2reg"])
        assert not truncated, info


@pytest.mark.parametrize("kind", ["coroutine", "matrix", "type tests"])
def test_programs_that_need_lowering_are_linked(kind: str, start: Callable[[str], LlvmEnv]) -> None:
    env = start(LOWERED[kind])
    assert env.observation["TextSizeBytes"] > 0
    assert len(env.observation["Buildtime"]) == 1


@pytest.mark.parametrize("kind", REFUSED)
def test_a_program_without_code_raises_and_its_session_goes_on(
    kind: str, start: Callable[[str], LlvmEnv]
) -> None:
    env = start(REFUSED[kind])
    before = env.observation["Bitcode"].tobytes()
    for name in SIZES:
        with pytest.raises(ObservationError, match="code cannot be generated"):
            env.observation[name]
    with pytest.raises(ObservationError, match=r"."):
        env.observation["TextSizeBytes"]
    assert len(env.observation["Buildtime"]) == 0
    assert env.observation["Bitcode"].tobytes() == before
    *_, truncated, info = env.step(env.action_space["mem2reg"])
    assert not truncated, info
