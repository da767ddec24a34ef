# SPDX-License-Identifier: MIT
"""Actions with parameters: what ``opt`` does with them, and what an environment makes of them."""

import pickle
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import compiler_gym
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.actions.parameters import NAME, PARAMETERS
from compiler_gym.errors import InvalidActionError
from compiler_gym.search import Budget, run_search
from compiler_gym.vector import CompilerVectorEnv
from tests.effort import examples

PROGRAMS = ("cbench-v1/crc32", "cbench-v1/qsort", "cbench-v1/sha")
needs_opt = pytest.mark.skipif(shutil.which("opt-22") is None, reason="opt-22 is missing")


@pytest.fixture(scope="module")
def env() -> Iterator[LlvmEnv]:
    with LlvmEnv(action_space=NAME, reward_space="IrInstructionCount") as made:
        made.reset(benchmark=PROGRAMS[0])
        yield made


@pytest.fixture(scope="module")
def plain() -> Iterator[LlvmEnv]:
    with LlvmEnv() as made:
        yield made


def actions(env: LlvmEnv) -> st.SearchStrategy[dict[str, Any]]:
    """Return actions by name: a pass, and values for some of its parameters."""

    @st.composite
    def draw(pick: st.DrawFn) -> dict[str, Any]:
        # The levels are LLVM's own, and slow.
        names = [name for name in env.action_space.flags if not name.startswith("-")]
        name = pick(st.sampled_from(names) | st.sampled_from(sorted(PARAMETERS)))
        chosen = pick(st.lists(st.sampled_from(PARAMETERS.get(name, ()) or (None,)), max_size=4))
        values = {p.name: pick(st.sampled_from(p.values)) for p in chosen if p is not None}
        return {"pass": name, **values}

    return draw()


def repeated_by_opt(env: LlvmEnv, folder: Path) -> bytes:
    command = re.sub(r"(?<![\w-])opt ", "opt-22 ", env.commandline())
    subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)
    return (folder / "output.bc").read_bytes()


@needs_opt
@settings(max_examples=examples(12))
@given(data=st.data())
def test_opt_makes_the_same_bytes_of_random_actions(
    env: LlvmEnv, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
):
    folder = tmp_path_factory.mktemp("opt")
    env.reset(benchmark=data.draw(st.sampled_from(PROGRAMS)))
    env.write_bitcode(folder / "input.bc")
    chosen = data.draw(st.lists(actions(env), min_size=1, max_size=6))
    *_, truncated, info = env.multistep(chosen)
    assume(info.get("error_type") != "ModuleTooLargeError")  # peeling grows it as it says
    assert not truncated, info
    assert repeated_by_opt(env, folder) == env.observation["Bitcode"].tobytes()
    assert env.commandline_to_actions(env.commandline()) == env.actions


def test_an_action_that_sets_nothing_is_the_plain_pass(env: LlvmEnv, plain: LlvmEnv):
    names = [name for name in env.action_space.flags if not name.startswith("-")]
    env.reset(benchmark="cbench-v1/qsort")
    plain.reset(benchmark="cbench-v1/qsort")
    for name in names:
        env.step({"pass": name})
        plain.step(plain.action_space[name])
        assert env.observation["IrHash"] == plain.observation["IrHash"], name


def test_every_sample_is_an_action_that_is_written_and_read_back(env: LlvmEnv):
    space = env.action_space
    space.seed(3)
    for _ in range(300):
        action = space.sample()
        assert space.contains(action)
        by_name = space.to_plain(action)
        assert space.contains(by_name)
        assert space.to_plain(space.from_plain(by_name)) == by_name
        assert space.from_string(space.to_string([action])) == [by_name]
        assert space.from_jsonable(space.to_jsonable([action]))[0]["pass"] == action["pass"]


def test_every_value_of_every_parameter_survives_the_way_to_numbers(env: LlvmEnv):
    space = env.action_space
    for name, rows in PARAMETERS.items():
        for row in rows:
            for value in row.values if len(row.values) < 3000 else row.values[::997]:
                action = space.action(name, {row.name: value})
                assert space.contains(action)
                assert space.to_plain(action) == {"pass": name, row.name: value}


def test_an_option_never_reaches_another_session_of_the_process():
    first, second, alone = (
        LlvmEnv(action_space=NAME, isolation="in-process", benchmark="cbench-v1/qsort")
        for _ in range(3)
    )
    with first, second, alone:
        for made in (first, second, alone):
            made.reset()
        for name in ("inline", "simplifycfg", "loop-unroll", "licm"):
            option = {
                "inline": {"inline-threshold": 1000, "inlinehint-threshold": 1000},
                "simplifycfg": {"speculate-one-expensive-inst": False},
                "loop-unroll": {"unroll-count": 8, "unroll-threshold": 2000},
                "licm": {"disable-licm-promotion": True},
            }[name]
            alone.step({"pass": name})  # before any option was ever set, and between them
            first.step({"pass": name, **option})
            second.step({"pass": name})
            assert second.observation["IrHash"] == alone.observation["IrHash"], name
        with compiler_gym.make("llvm-v0", action_space=NAME, benchmark="cbench-v1/qsort") as far:
            far.reset()
            far.multistep(second.actions)
            assert far.observation["IrHash"] == second.observation["IrHash"]


def test_an_option_is_put_back_after_an_error(plain: LlvmEnv):
    with LlvmEnv(action_space=NAME, isolation="in-process", benchmark="cbench-v1/qsort") as env:
        env.reset()
        env.send_param("limits.growth", "0.01")
        env.multistep([{"pass": "sroa"}, {"pass": "inline", "inline-threshold": 1000}])
        env.reset()
        env.step({"pass": "inline"})
        plain.reset(benchmark="cbench-v1/qsort")
        plain.step(plain.action_space["inline"])
        assert env.observation["IrHash"] == plain.observation["IrHash"]


@pytest.mark.parametrize(
    ("action", "complaint"),
    [
        ({"pass": "no-such-pass"}, "no pass 'no-such-pass'"),
        ({"pass": "dce", "x": 1}, "dce has no parameter 'x'"),
        ({"pass": "inline", "inline-threshold": 10**9}, r"must be one of -100\.\.1000"),
        ({"pass": 3}, "no pass 3: "),
        ({"values": []}, "is not an action of Parameters"),
        ({"pass": 0, "values": [2.0]}, "is not an action of Parameters"),
        (3, "is not an action of Parameters"),
        (None, "is not an action of Parameters"),
    ],
)
def test_an_invalid_action_is_refused_and_changes_nothing(
    env: LlvmEnv, action: object, complaint: str
):
    env.reset(benchmark=PROGRAMS[0])
    before = env.observation["IrHash"]
    with pytest.raises(InvalidActionError, match=complaint):
        env.step(action)
    assert env.actions == []
    assert env.observation["IrHash"] == before


def test_numbers_that_are_none_are_refused(env: LlvmEnv):
    values = np.full(env.action_space["values"].shape, np.nan, np.float32)
    assert not env.action_space.contains({"pass": 0, "values": values})


@pytest.mark.parametrize(
    "text",
    [
        "opt -passes='function(nope)' input.bc -o output.bc",
        "opt -passes='function(licm<nope>)' input.bc -o output.bc",
        "opt -no-such-option=1 -passes=ipsccp input.bc -o output.bc",
        "opt -inline-threshold=1 -passes=ipsccp,inline input.bc -o output.bc",
        "opt -passes=ipsccp input.bc -o output.bc | rm -rf /",
        "opt -passes=ipsccp input.bc -o output.bc; reboot",
    ],
)
def test_a_command_that_is_none_of_ours_is_refused(env: LlvmEnv, text: str):
    with pytest.raises(
        InvalidActionError,
        match=r"does not accept|is neither|is not an (opt|action)|set for one|must be one of",
    ):
        env.commandline_to_actions(text)


def test_states_forks_pickles_and_validation_hold_the_episode(env: LlvmEnv):
    env.reset(benchmark=PROGRAMS[0])
    env.multistep([{"pass": "sroa"}, {"pass": "inline", "inline-threshold": 1}])
    state = env.state
    with env.fork() as fork:
        assert fork.actions == env.actions
        again = {"pass": "simplifycfg", "keep-loops": False, "phi-node-folding-threshold": 9}
        for one in (env, fork):
            one.step(again)
        assert fork.observation["IrHash"] == env.observation["IrHash"]
    with pickle.loads(pickle.dumps(env)) as copy:
        assert copy.observation["IrHash"] == env.observation["IrHash"]
    assert env.validate().okay()
    with compiler_gym.make("llvm-v0") as other:
        other.apply(state)
        assert other.state.state_hash == state.state_hash
        assert other.action_space.name == NAME


def test_the_effects_of_a_pass_with_options_are_recorded(env: LlvmEnv):
    env.reset(benchmark="cbench-v1/qsort")
    env.multistep([{"pass": "sroa"}, {"pass": "inline", "inline-threshold": 1000}])
    assert env.observation["PassStatistics"]["changed"]
    env.step({"pass": "inline", "inline-threshold": 900})
    assert not env.observation["PassStatistics"]["changed"]


def test_vectors_step_with_it():
    def make():
        return compiler_gym.make(
            "llvm-v0",
            action_space=NAME,
            benchmark=PROGRAMS[0],
            observation_space="Autophase",
            reward_space="IrInstructionCount",
        )

    vector = CompilerVectorEnv([make, make])
    try:
        observations, _ = vector.reset(seed=1)
        for _ in range(3):
            observations, *_ = vector.step(vector.action_space.sample())
        assert observations.shape == (2, 56)
    finally:
        vector.close()


def test_a_neighbour_differs_in_one_parameter(env: LlvmEnv):
    generator = random.Random(0)
    space = env.action_space
    assert space.neighbour({"pass": "dce"}, generator) is None
    action = {"pass": "simplifycfg"}
    for _ in range(50):
        other = space.neighbour(action, generator)
        assert other is not None
        assert space.contains(other)
        keys = other.keys() | action.keys()
        assert sum(other.get(key) != action.get(key) for key in keys) == 1
        action = other


def test_a_search_begins_at_the_levels_and_changes_parameters():
    (found,) = run_search(
        lambda: compiler_gym.make(
            "llvm-v0",
            action_space=NAME,
            reward_space="IrInstructionCountOz",
            benchmark=PROGRAMS[0],
        ),
        algorithm="local",
        budget=Budget(steps=60),
        jobs=1,
    )
    assert found.reward >= 1
