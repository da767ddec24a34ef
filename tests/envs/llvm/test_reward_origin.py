# SPDX-License-Identifier: MIT
"""Every reward for a cost counts from the program at reset, whatever made the program."""

import hashlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler_gym.datasets import Benchmark, RunCase, RunSpec
from compiler_gym.envs.llvm import LlvmEnv, make_benchmark
from compiler_gym.envs.llvm.observations import TABLE
from compiler_gym.envs.llvm.programs.source import EMIT_FLAGS, ClangInvocation
from compiler_gym.tables import Cost
from tests.effort import examples

INLINED = """
#include <stdio.h>
#include <stdlib.h>
static inline __attribute__((always_inline)) unsigned mix(unsigned x, unsigned *state) {
  unsigned parts[4];
  for (int i = 0; i < 4; i++) parts[i] = x * (i + 3);
  for (int i = 0; i < 4; i++) *state = *state * 31 + (parts[i] ^ (*state >> 3));
  return parts[x & 3];
}
int main(int count, char **words) {
  unsigned state = 7, sum = 0;
  for (int i = 0; i < 200; i++) {
    sum += mix(i, &state); sum ^= mix(sum, &state); sum += mix(state, &state);
    if (sum % 3 == 0) sum += mix(sum + 1, &state) + mix(sum + 2, &state);
  }
  printf("%u %u\\n", sum, state);
  return 0;
}
"""
CPP = """
#include <iostream>
#include <map>
#include <string>
#include <vector>
int main(int count, char **words) {
  std::map<std::string, std::vector<int>> found;
  for (int i = 0; i < 50; i++) found[std::to_string(i % 7)].push_back(i);
  for (auto &[name, numbers] : found) std::cout << name << ' ' << numbers.size() << std::endl;
}
"""
PROGRAMS = (
    pytest.param("crc32", marks=pytest.mark.slow),
    pytest.param("qsort?goal=speed", marks=pytest.mark.slow),
    "inlined.c",
    pytest.param("strings.cc", marks=pytest.mark.slow),
)
LEVELS = ("O3", "Oz", "OptOz")
"""The baselines; costs that are measured are compared with one of them in the fast tests."""
NOTHING = "always-inline"
"""What every level does first: nothing is left to do."""


@pytest.fixture(scope="module")
def env() -> Iterator[LlvmEnv]:
    with LlvmEnv(action_space="PassesAndPipelines") as env:
        yield env


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Benchmark]:
    folder = tmp_path_factory.mktemp("own")
    (folder / "inlined.c").write_text(INLINED)
    (folder / "strings.cc").write_text(CPP)
    run = RunSpec((RunCase(),))
    return {path.name: make_benchmark(path, run=run) for path in folder.iterdir()}


def _start(env: LlvmEnv, own: dict[str, Benchmark], program: str, reward: str | None) -> None:
    env.reset(benchmark=own.get(program, f"cbench-v1/{program}"), reward_space=reward)


def _rewards(cost: Cost) -> list[str]:
    levels = LEVELS if cost.deterministic else LEVELS[: examples(len(LEVELS))]
    return [cost.observation, f"{cost.name}Norm", *(f"{cost.name}{level}" for level in levels)]


def _noise(cost: Cost) -> float:
    return 1e-12 if cost.deterministic else 5e-3


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_state_at_reset_has_earned_nothing(
    env: LlvmEnv, own: dict[str, Benchmark], program: str
) -> None:
    _start(env, own, program, None)
    names = [(cost, name) for cost in TABLE.costs for name in _rewards(cost)]
    for _, name in names:
        assert (name, env.reward[name]) == (name, 0)
        assert (name, env.reward[name]) == (name, 0)
    _start(env, own, program, None)
    assert env.step(env.action_space[NOTHING])[4]["action_had_no_effect"]
    for cost, name in names:
        noise = _noise(cost) * (env.observation[cost.initial] if name == cost.observation else 1)
        assert (name, env.reward[name]) == (name, pytest.approx(0, abs=noise))
        assert env.step(env.action_space[NOTHING], reward_spaces=name)[1] == pytest.approx(
            0, abs=noise
        )


@pytest.mark.parametrize("program", PROGRAMS)
def test_reaching_the_baseline_earns_one(
    env: LlvmEnv, own: dict[str, Benchmark], program: str
) -> None:
    level = "O3" if "speed" in program else "Oz"  # what the marks of the goal make the action do
    for cost in TABLE.costs:
        reward, noise = f"{cost.name}{level}", _noise(cost)
        _start(env, own, program, reward)
        initial, baseline = env.observation[cost.initial], env.observation[reward]
        assert env.observation[cost.observation] == pytest.approx(initial, rel=noise)
        wanted = (initial - baseline) / max(initial - baseline, 1)
        noise *= initial / max(initial - baseline, 1)  # it is that of the counts
        at_once = env.step(env.action_space[f"-{level}"])[1]
        assert (reward, at_once) == (reward, pytest.approx(wanted, rel=noise))
        _start(env, own, program, reward)
        earned = [env.step(env.action_space[name])[1] for name in (NOTHING, f"-{level}")]
        assert sum(earned) == env.episode_reward == pytest.approx(wanted, rel=noise)
        _start(env, own, program, None)
        env.step(env.action_space[f"-{level}"])
        assert (reward, env.reward[reward]) == (reward, pytest.approx(wanted, rel=noise))


@pytest.mark.parametrize("cost", ["IrInstructionCount", "ObjectTextSize"])
def test_reaching_opts_result_without_attributes_earns_one(
    env: LlvmEnv, own: dict[str, Benchmark], cost: str
) -> None:
    # At the goal of speed nothing is marked, so the action is that baseline.
    benchmark = own["inlined.c"]
    unmarked = Benchmark(f"{benchmark.uri}?goal=speed", benchmark.contents)
    env.reset(benchmark=unmarked, reward_space=f"{cost}OptOz")
    earned = [env.step(env.action_space[name])[1] for name in (NOTHING, "-Oz")]
    assert earned == [0, 1]
    env.reset(benchmark=benchmark, reward_space=f"{cost}OptOz")
    assert env.step(env.action_space["-Oz"])[1] >= 1


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_sum_depends_on_where_an_episode_ends_alone(
    env: LlvmEnv, own: dict[str, Benchmark], program: str
) -> None:
    _start(env, own, program, "ObjectTextSizeOz")
    initial, oz = (env.observation[f"ObjectTextSize{end}"] for end in ("Initial", "Oz"))
    names = ("sroa", "loop-rotate", "inline", "gvn", "simplifycfg", "-Oz")
    earned = [env.step(env.action_space[name])[1] for name in names]
    now = env.observation["ObjectTextSizeBytes"]
    assert sum(earned) == pytest.approx((initial - now) / (initial - oz), rel=1e-15)
    assert env.episode_reward == sum(earned)


@pytest.mark.parametrize("program", ["inlined.c", "strings.cc"])
def test_a_program_from_source_starts_as_the_levels_of_clang_do(
    env: LlvmEnv, own: dict[str, Benchmark], program: str
) -> None:
    _start(env, own, program, None)
    assert "alwaysinline" not in env.ir
    assert env.observation["IrInstructionCount"] == env.observation["IrInstructionCountO0"]
    assert env.observation["ObjectTextSizeOz"] < env.observation["ObjectTextSizeInitial"]


def test_a_program_without_functions_that_must_be_inlined_keeps_its_bytes(tmp_path: Path) -> None:
    source = tmp_path / "plain.c"
    source.write_text("int f(int n) { int s = 0; while (n--) { if (n & 1) continue; s += n; } "
                      "return s; }\nint main(void) { return f(9); }\n")  # fmt: skip
    ours = ClangInvocation.from_c_file(source)
    command = ours.command(tmp_path / "out.bc")
    assert "-disable-llvm-passes" not in command
    front_end = [command[0], *ours.args, *EMIT_FLAGS, "-o", str(tmp_path / "front.bc")]
    subprocess.run(front_end, cwd=tmp_path, check=True)
    digests = [hashlib.sha256(found).hexdigest()
               for found in (ours.run(), (tmp_path / "front.bc").read_bytes())]  # fmt: skip
    assert digests[0] == digests[1]
