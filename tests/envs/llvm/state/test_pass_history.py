# SPDX-License-Identifier: MIT
"""The record of the last action, compared with what opt writes."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from compiler_gym.envs.llvm import LlvmEnv

MakeEnv = Callable[..., LlvmEnv]
Tool = Callable[..., bytes]


def test_a_record_says_what_the_last_action_did(make_env: MakeEnv) -> None:
    env = make_env(benchmark="cbench-v1/crc32", observation_space="InstCount")
    before, _ = env.reset()
    for action in ("sroa", "instcombine", "gvn", "simplifycfg"):
        after, _, _, _, _ = env.step(env.action_space[action])
        record = env.observation["PassStatistics"]
        assert (record["added"] - record["removed"])[:2].tolist() == (after - before)[:2].tolist()
        assert (record["added"] - record["removed"])[3:].tolist() == (after - before)[3:].tolist()
        assert record["changed"] == bool(record["changed_functions"])
        before = after


def test_remarks_are_those_that_opt_writes(make_env: MakeEnv, tool: Tool, tmp_path: Path) -> None:
    env = make_env(benchmark="cbench-v1/crc32")
    env.reset()
    env.step(env.action_space["sroa"])
    path = env.write_bitcode(tmp_path / "module.bc")
    env.step(env.action_space["gvn"])
    remarks = env.observation["PassStatistics"]["remarks"]
    written = tmp_path / "remarks.yaml"
    pipeline = env.action_space.to_string([env.action_space["gvn"]]).split("-passes=")[1].split()[0]
    tool("bash", "-c", f"opt-22 -passes={pipeline} -pass-remarks-output={written} "
         f"-pass-remarks-filter=. {path} -disable-output")  # fmt: skip
    kinds = Counter(re.findall(r"^--- !(\w+)", written.read_text(), re.M))
    assert kinds
    assert Counter(remark["kind"] for remark in remarks) == {
        kind.lower(): count for kind, count in kinds.items()
    }
    names = re.findall(r"^Name: +(\S+)", written.read_text(), re.M)
    assert [remark["name"] for remark in remarks] == names


def test_recording_changes_no_result(make_env: MakeEnv) -> None:
    hashes: list[str] = []
    for observed in (None, "PassStatistics"):
        env = make_env(benchmark="cbench-v1/qsort", observation_space=observed)
        env.reset()
        actions = [env.action_space[n] for n in ("inline", "sroa", "loop-rotate", "licm", "gvn")]
        for action in actions:
            env.step(action)
        hashes.append(env.observation["IrHash"])
    assert hashes[0] == hashes[1]


def test_nothing_recorded_before_the_first_action_or_after_one_without_effect(
    make_env: MakeEnv,
) -> None:
    env = make_env(benchmark="cbench-v1/qsort")
    env.reset()
    assert not env.observation["PassStatistics"]["changed"]
    env.step(env.action_space["sroa"])
    assert env.observation["PassStatistics"]["changed"]
    env.step(env.action_space["sroa"])
    record = env.observation["PassStatistics"]
    assert (record["changed"], int(record["added"].sum())) == (False, 0)
