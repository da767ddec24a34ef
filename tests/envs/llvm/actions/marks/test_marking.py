# SPDX-License-Identifier: MIT
"""Episodes of Marks: passes obey, opt agrees, everything repeats."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym import _llvm
from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.actions.marks.marking import choose
from compiler_gym.errors import InvalidActionError
from tests.effort import examples

MakeEnv = Callable[..., LlvmEnv]
PROGRAM = """
target triple = "x86_64-pc-linux-gnu"
declare void @elsewhere(i32)
define internal void @small(i32 %x) {
  call void @elsewhere(i32 %x)
  ret void
}
define void @again(i32 %x) {
  call void @again(i32 %x)
  call void @elsewhere(i32 %x)
  ret void
}
define weak void @other(i32 %x) {
  call void @elsewhere(i32 %x)
  ret void
}
define void @tail(i32 %x) {
  musttail call void @again(i32 %x)
  ret void
}
define void @all(ptr %f, i32 %n) {
entry:
  call void @small(i32 1)
  call void @small(i32 2)
  call void @again(i32 3)
  call void @other(i32 4)
  call void %f()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  call void @elsewhere(i32 %i)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, 64
  br i1 %more, label %loop, label %end, !llvm.loop !0
end:
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.mustprogress"}
"""


@pytest.fixture
def env(make_env: MakeEnv) -> LlvmEnv:
    """Return an environment at the start of an episode on the program above."""
    program = Benchmark.from_file_contents("benchmark://marks-v0/program", PROGRAM.encode())
    env = make_env(action_space="Marks", benchmark=program, reward_space="IrInstructionCount")
    env.reset()
    return env


def apply(env: LlvmEnv, *names: str) -> None:
    """Apply actions by name, or raise what went wrong."""
    *_, info = env.multistep([env.action_space[name] for name in names])
    if "error" in info:
        raise info["error"]


def point(env: LlvmEnv, label: str, at: int = 0) -> str:
    """Return the name of a decision by its label."""
    return [p.name for p in env.action_space.points if p.label.startswith(label)][at]


def test_the_listing_shows_calls_and_loops(env: LlvmEnv) -> None:
    space = env.action_space
    assert [p.label for p in space.calls] == [
        "again -> again", "tail -> again", "all -> small", "all -> small", "all -> again",
        "all -> other",
    ]  # fmt: skip
    assert [p.label for p in space.loops] == ["all, block 1, depth 1, 64 times"]
    assert [p.label for p in space.functions] == ["small", "again", "other", "tail", "all"]


def test_calls_that_llvm_cannot_inline_are_not_offered(env: LlvmEnv) -> None:
    offered = {p.label for p in env.action_space.calls if "inline" in p.choices}
    # Recursion, a musttail call and what the linker may replace are left out.
    assert offered == {"all -> small"}
    calls = env.observation["CallSites"]
    assert calls["is_inlinable"].tolist() == [0, 0, 1, 1, 0, 0]


def test_outside_the_space_a_module_gets_no_ids(make_env: MakeEnv, env: LlvmEnv) -> None:
    plain = make_env(benchmark=env.benchmark)
    plain.reset()
    assert "compiler_gym" not in plain.ir
    assert plain.observation["CallSites"]["id"].tolist() == [-1] * 6
    assert env.observation["CallSites"]["id"].tolist() == [0, 1, 2, 3, 4, 5]
    assert "compiler_gym" in env.ir


def test_never_stays_a_call_and_inline_is_none(env: LlvmEnv) -> None:
    first, second = (point(env, "all -> small", at) for at in (0, 1))
    apply(env, f"{first}=never", f"{second}=inline", "-Oz")
    assert len(re.findall(r"call .*@small\(", env.ir)) == 1
    assert "@elsewhere(i32 2)" in env.ir  # the body of the other


@pytest.mark.parametrize("level", ["-Oz", "-O3"])
def test_a_loop_is_unrolled_as_often_as_requested(env: LlvmEnv, level: str) -> None:
    apply(env, "loop:0=unroll.4", level)
    body = env.ir.partition("define void @all")[2].partition("\n}")[0]
    steps = [int(n) for n in re.findall(r"add nuw nsw i32 %\d+, (\d+)", body)]
    assert max(steps) == 4


def test_a_function_that_is_marked_has_the_attribute(env: LlvmEnv) -> None:
    small = point(env, "small")
    before = env.observation["IrHash"]
    for choice, there, gone in (
        ("optsize", "optsize", "minsize"),
        ("hot", "hot", "optsize"),
        ("cold", "cold", "hot"),
        ("noinline", "noinline", "cold"),
        ("minsize", "minsize", "noinline"),
    ):
        apply(env, f"{small}={choice}")
        group = re.search(r"@small\(i32[^)]*\).*? (#\d+)", env.ir)
        assert group is not None
        line = re.search(rf"attributes {group[1]} = (.*)", env.ir)
        assert line is not None
        words = re.sub(r'"[^"]*"(="[^"]*")?', "", line[1]).split()
        assert there in words
        assert gone not in words
    apply(env, f"{small}=default")
    assert env.observation["IrHash"] == before


def test_a_mark_twice_has_no_effect(env: LlvmEnv) -> None:
    action = env.action_space["loop:0=vectorize.4"]
    assert env.step(action)[4]["action_had_no_effect"] is False
    assert env.step(action)[4]["action_had_no_effect"] is True


def test_a_removed_point_is_refused_and_nothing_changes(env: LlvmEnv) -> None:
    first = point(env, "all -> small")
    gone = env.action_space[f"{first}=never"]
    *_, info = env.step(env.action_space["-Oz"])
    assert info["new_action_space"]
    before, count = env.observation["IrHash"], len(env.actions)
    for refused in (gone, env.action_space["call:500=never"]):
        with pytest.raises(InvalidActionError, match=r"no call:|not an action"):
            env.step(refused)
    assert env.in_episode
    assert (env.observation["IrHash"], len(env.actions)) == (before, count)


def test_in_a_list_what_is_gone_ends_the_episode_with_the_error(env: LlvmEnv) -> None:
    space = env.action_space
    *_, truncated, info = env.multistep(
        [space["-Oz"], space[f"{point(env, 'all -> small')}=never"]]
    )
    assert truncated
    assert info["error_type"] == "InvalidActionError"


COPIES = """
target triple = "x86_64-pc-linux-gnu"
declare void @elsewhere(i32)
define internal void @inner(i32 %x) {
  call void @elsewhere(i32 %x)
  ret void
}
define internal void @outer(i32 %x) {
  call void @inner(i32 %x)
  ret void
}
define void @all() {
  call void @outer(i32 1)
  call void @outer(i32 2)
  ret void
}
"""


def test_copies_of_a_call_share_their_id_and_their_marks(make_env: MakeEnv) -> None:
    program = Benchmark.from_file_contents("benchmark://marks-v0/copies", COPIES.encode())
    env = make_env(action_space="Marks", benchmark=program)
    env.reset()
    apply(env, "call:1=inline", "call:2=inline", "always-inline", "globaldce")
    calls = env.observation["CallSites"]
    assert calls["id"].tolist() == [0]
    assert calls["copies"].tolist() == [2]
    apply(env, "call:0=never")
    assert env.ir.count("noinline") == 1  # the attributes of both calls
    assert len(re.findall(r"call void @inner\(i32 \d\) #\d", env.ir)) == 2


def test_ids_in_a_file_are_kept(env: LlvmEnv, make_env: MakeEnv) -> None:
    apply(env, "always-inline", f"{point(env, 'all -> again')}=never")
    again = make_env(action_space="Marks")
    contents = env.observation["Bitcode"].tobytes()
    again.reset(benchmark=Benchmark.from_file_contents("benchmark://marks-v0/again", contents))
    assert again.action_space.points[0].name == env.action_space.points[0].name
    assert again.action_space == env.action_space
    calls = again.observation["CallSites"]
    assert calls["choice"].tolist() == env.observation["CallSites"]["choice"].tolist()


@pytest.mark.parametrize("program", ["sha", "bitcount", "dijkstra"])
@pytest.mark.parametrize("level", ["-Oz", "-O2"])
def test_ids_alone_change_no_code(make_env: MakeEnv, program: str, level: str) -> None:
    seen: list[tuple[int, int]] = []
    for space in ("PassesAndPipelines", "Marks"):
        env = make_env(action_space=space, benchmark=f"cbench-v1/{program}")
        env.reset()
        apply(env, level)
        seen.append((env.observation["IrInstructionCount"], env.observation["ObjectTextSizeBytes"]))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("name", ["sroa", "simplifycfg", "gvn", "loop-rotate", "instcombine"])
def test_ids_alone_change_no_pass(make_env: MakeEnv, name: str) -> None:
    counts: list[list[int]] = []
    for space in ("PassesAndPipelines", "Marks"):
        env = make_env(action_space=space, benchmark="cbench-v1/stringsearch2")
        env.reset()
        counts.append([])
        for action in ("sroa", name, "simplifycfg", name):
            apply(env, action)
            counts[-1].append(env.observation["IrInstructionCount"])
    assert counts[0] == counts[1]


@pytest.mark.parametrize("seed", range(4))
def test_opt_makes_the_same_of_a_marked_module(
    make_env: MakeEnv, tool: Callable[..., bytes], tmp_path: Path, seed: int
) -> None:
    env = make_env(action_space="Marks", benchmark="cbench-v1/sha")
    env.reset(seed=seed)
    space = env.action_space
    marks = [a for a in space.legal() if a >= space.dense]
    picked = [int(m) for m in space.np_random.choice(marks, 8)]
    passes = [int(space.np_random.integers(space.dense - 6)) for _ in range(4)]
    *_, info = env.multistep([*picked[:-1], passes[0], space["function:0=cold"], *passes[1:]])
    assert "error" not in info
    command = shlex.split(env.write_marked(tmp_path / "marked.bc"))
    assert command[0] == "opt"
    command[command.index("output.bc")] = str(tmp_path / "output.bc")
    tool("opt-22", *command[1:])
    text = _llvm.Module((tmp_path / "output.bc").read_bytes()).text()
    assert text == _llvm.Module(env.observation["Bitcode"].tobytes()).text()


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=12))
@settings(max_examples=examples(25))
def test_any_marks_and_passes_leave_a_module_that_repeats(draws: list[int]) -> None:
    with LlvmEnv(action_space="Marks", benchmark="cbench-v1/crc32") as env:
        env.reset()
        for draw in draws:
            legal = env.action_space.legal()
            passes = env.action_space.dense
            choices = legal[:passes] if draw % 2 else legal[passes:]
            if len(choices):
                *_, info = env.step(int(choices[draw % len(choices)]))
                assert "error" not in info
        env.send_param("llvm.verify", "")
        made = env.observation["Bitcode"].tobytes()
        with env.fork() as fork:
            assert fork.observation["Bitcode"].tobytes() == made
            assert fork.action_space == env.action_space
        env.apply(env.state)
        assert env.observation["Bitcode"].tobytes() == made


def test_a_state_validates(env: LlvmEnv, make_env: MakeEnv) -> None:
    with make_env(action_space="Marks", benchmark="cbench-v1/crc32") as crc:
        crc.reset()
        apply(crc, f"{crc.action_space.calls[0].name}=never", "-Oz")
        assert crc.validate().okay()


def test_pass_statistics_repeat_marks(env: LlvmEnv) -> None:
    apply(env, f"{point(env, 'all -> small')}=inline", "always-inline")
    assert env.observation["PassStatistics"]["changed_functions"] == ("all",)
    apply(env, f"{point(env, 'all -> again')}=never")
    record = env.observation["PassStatistics"]
    assert record["changed"]
    assert record["changed_functions"] == ()


def test_a_module_is_marked_as_in_an_episode() -> None:
    module = _llvm.Module(PROGRAM.encode())
    _llvm.Marks(module).number()
    assert choose(module, (0, 2, 2))
    assert not choose(module, (0, 2, 2))
    with pytest.raises(InvalidActionError, match="use one of default, never"):
        choose(module, (0, 0, 1))
