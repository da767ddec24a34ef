# SPDX-License-Identifier: MIT
"""Every reward for a cost counts from the program at reset, bundled or one's own, C or C++."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.datasets import RunCase, RunSpec
from compiler_gym_gcc import GccEnv, make_benchmark
from compiler_gym_gcc.observations import TABLE

C = """
#include <stdio.h>
static inline __attribute__((always_inline)) int mix(int x) { return x * 31 ^ (x >> 3); }
int main(int count, char **words) {
  int sum = count;
  for (int i = 0; i < 100; i++) sum = mix(sum) + mix(i);
  printf("%d\\n", sum);
}
"""
CPP = """
template <class T> struct Pile {
  T *items = nullptr;
  int count = 0;
  ~Pile() { delete[] items; }
  void add(T item) {
    T *more = new T[count + 1];
    for (int i = 0; i < count; i++) more[i] = items[i];
    more[count++] = item;
    delete[] items;
    items = more;
  }
};
int main(int count, char **words) {
  Pile<const char *> seen;
  for (int i = 0; i < count; i++) seen.add(words[i]);
  return seen.count == 0;
}
"""
PROGRAMS = [
    pytest.param("crc32", marks=pytest.mark.slow),
    pytest.param("mixed.c", marks=pytest.mark.slow),
    "words.cc",
]
SCALED = [cost for cost in TABLE.costs if cost.scales]


@pytest.mark.parametrize("program", PROGRAMS)
def test_rewards_count_from_the_program_at_reset(
    make_env: Callable[..., GccEnv], tmp_path: Path, program: str
) -> None:
    benchmark = f"cbench-v1/{program}"
    if "." in program:
        (tmp_path / program).write_text(C if program.endswith(".c") else CPP)
        benchmark = make_benchmark(tmp_path / program, run=RunSpec((RunCase(),)))
    env = make_env(benchmark=benchmark)
    for cost in TABLE.costs:
        ends = (cost.normalized, *cost.scales) if cost.scales else ()
        for name in (cost.observation, *(f"{cost.name}{end}" for end in ends)):
            env.reset(reward_space=None)
            assert (name, env.reward[name]) == (name, 0)
            env.reset(reward_space=name)
            assert env.multistep([])[1] == 0
    for cost in SCALED:
        noise: dict[str, Any] = {"rel": 1e-12 if cost.deterministic else 1e-2}
        env.reset(reward_space=None)
        assert env.observation[cost.observation] == pytest.approx(
            env.observation[cost.initial], **noise
        )
        for end, level in (("_o2", "-O2"), ("_os", "-Os")):
            reward = f"{cost.name}{end}"
            action = env.action_space[level]
            env.reset(reward_space=reward)
            saved = env.observation[cost.initial] - env.observation[reward]
            wanted = pytest.approx(saved / max(saved, 1), **noise)
            assert (reward, env.step(action)[1]) == (reward, wanted)
            env.reset(reward_space=None)
            env.step(action)
            assert (reward, env.reward[reward]) == (reward, wanted)
            if cost.deterministic:
                assert env.reward[reward] == 0
