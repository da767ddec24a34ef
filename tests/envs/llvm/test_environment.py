# SPDX-License-Identifier: MIT
"""The environment as its users meet it."""

import copy
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import compiler_gym
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.errors import SessionNotFound, UnknownNameError

MakeEnv = Callable[..., LlvmEnv]
IDS = list(compiler_gym.COMPILER_GYM_ENVS)


def test_the_first_five_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    env = compiler_gym.make(
        "llvm-v0",
        benchmark="cbench-v1/qsort",
        observation_space="Autophase",
        reward_space="IrInstructionCountOz",
    )
    env.reset()
    env.render()
    env.step(env.action_space.sample())
    env.close()
    assert "define" in capsys.readouterr().out


def test_the_documented_ids_are_registered() -> None:
    assert set(IDS) >= {
        "llvm-v0",
        "llvm-ic-v0",
        "llvm-codesize-v0",
        "llvm-autophase-ic-v0",
        "llvm-autophase-codesize-v0",
        "llvm-ir-ic-v0",
        "llvm-ir-codesize-v0",
    }


@pytest.mark.parametrize(
    ("id", "observation", "reward"),
    [
        ("llvm-v0", None, None),
        ("llvm-ic-v0", None, "IrInstructionCountOz"),
        ("llvm-codesize-v0", None, "ObjectTextSizeOz"),
        ("llvm-autophase-ic-v0", "Autophase", "IrInstructionCountOz"),
        ("llvm-autophase-codesize-v0", "Autophase", "ObjectTextSizeOz"),
        ("llvm-ir-ic-v0", "Ir", "IrInstructionCountOz"),
        ("llvm-ir-codesize-v0", "Ir", "ObjectTextSizeOz"),
    ],
)
def test_ids_have_their_documented_defaults(
    make_env: MakeEnv, id: str, observation: str | None, reward: str | None
) -> None:
    env = make_env(id)
    spec = env.observation_space_spec
    assert (spec.id if spec else None) == observation
    assert (env.reward_space.name if env.reward_space else None) == reward
    assert str(env.benchmark) == "benchmark://cbench-v1/qsort"


@pytest.mark.parametrize("make", [gymnasium.make, compiler_gym.make])
@pytest.mark.parametrize("id", ["llvm-autophase-ic-v0", "compiler_gym/llvm-autophase-ic-v0"])
def test_every_way_to_make_gives_the_same_environment(
    make: Callable[..., LlvmEnv], id: str
) -> None:
    with make(id, benchmark="cbench-v1/crc32") as env:
        assert type(env) is LlvmEnv
        assert env.spec is not None
        assert env.spec.id == id
        observation, _ = env.reset()
        assert observation.shape == (56,)


@pytest.mark.parametrize("id", [id for id in IDS if id.startswith(("llvm", "gcc"))])
@pytest.mark.parametrize("isolation", ["process", "in-process"])
def test_gymnasium_s_checker_has_no_complaint(id: str, isolation: Any) -> None:
    spaces: dict[str, Any]
    benchmark = "cbench-v1/crc32"
    if id in ("llvm-v0", "llvm-ic-v0", "llvm-codesize-v0", "llvm-inline-v0"):
        spaces = {"observation_space": "InstCountNorm", "reward_space": "IrInstructionCountOz"}
    elif id == "llvm-tails-v0":
        spaces = {"observation_space": "FunctionCounts", "reward_space": "FunctionSavings"}
    elif id == "gcc-v0":
        spaces = {"observation_space": "obj_size", "reward_space": "obj_size"}
    elif id == "llvm-rule-v0":
        spaces = {"observation_space": "RuleEffect", "reward_space": "LoadedBytes"}
        benchmark = "rule-programs-v0/crc32"
    else:
        spaces = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with compiler_gym.make(id, benchmark=benchmark, isolation=isolation, **spaces) as env:
            check_env(env, skip_render_check=False)


def test_the_spec_rebuilds_the_environment(env: LlvmEnv) -> None:
    assert env.spec is not None
    with gymnasium.make(env.spec) as other:
        assert other.unwrapped.spec == env.spec
        assert other.observation_space == env.observation_space
        first, _ = env.reset()
        second, _ = other.reset()
        assert np.array_equal(first, second)


def test_rewards_add_up_to_the_saving(env: LlvmEnv) -> None:
    env.reset()
    before = env.observation["IrInstructionCount"]
    oz = env.observation["IrInstructionCountOz"]
    for name in ("sroa", "instcombine", "simplifycfg"):
        env.step(env.action_space[name])
    after = env.observation["IrInstructionCount"]
    o0 = env.observation["IrInstructionCountO0"]
    assert after < before
    assert env.episode_reward == pytest.approx((before - after) / (o0 - oz))


def test_a_whole_level_as_one_action_ties_with_the_baseline(make_env: MakeEnv) -> None:
    env = make_env(benchmark="cbench-v1/sha", action_space="Pipelines")
    env.reset(reward_space="IrInstructionCountOz")
    _, reward, *_ = env.step(env.action_space["-Oz"])
    assert reward == pytest.approx(1.0)


def test_steps_in_one_request_equal_steps_one_by_one(make_env: MakeEnv) -> None:
    one, many = (
        make_env(observation_space="Ir", reward_space="IrInstructionCount") for _ in range(2)
    )
    actions = [one.action_space[name] for name in ("mem2reg", "gvn", "simplifycfg", "dce")]
    one.reset()
    many.reset()
    rewards: list[float] = []
    observation = None
    for action in actions:
        observation, reward, *_ = one.step(action)
        rewards.append(reward)
    together, total, *_ = many.multistep(actions)
    assert together == observation
    assert total == pytest.approx(sum(rewards))
    assert many.actions == one.actions == actions


def test_no_actions_are_a_pure_observation(env: LlvmEnv) -> None:
    first, _ = env.reset()
    again, reward, terminated, truncated, info = env.multistep([])
    assert np.array_equal(first, again)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["action_had_no_effect"]


def test_an_action_that_changes_nothing_reports_it(env: LlvmEnv) -> None:
    env.reset()
    mem2reg = env.action_space["mem2reg"]
    assert env.step(mem2reg)[4]["action_had_no_effect"] is False
    assert env.step(mem2reg)[4]["action_had_no_effect"] is True


def test_spaces_can_be_chosen_for_one_step(env: LlvmEnv) -> None:
    env.reset()
    observation, reward, *_ = env.step(
        env.action_space["sroa"],
        observation_spaces=["IrInstructionCount", "InstCountDict"],
        reward_spaces="IrInstructionCount",
    )
    assert observation[0] == observation[1]["TotalInstsCount"]
    assert reward >= 0


def test_several_observation_spaces_are_a_dictionary(env: LlvmEnv) -> None:
    observation, _ = env.reset(observation_space=["Autophase", "InstCountNorm"])
    assert observation in env.observation_space
    assert isinstance(env.observation_space, gymnasium.spaces.Dict)
    assert set(observation) == {"Autophase", "InstCountNorm"}


def test_every_observation_stays_in_its_space(env: LlvmEnv) -> None:
    # What needs a linker, a run or a vocabulary of the user's own is in test_matrix.
    names = [
        name
        for name, spec in env.observation.spaces.items()
        if not name.startswith("Inst2vec") and (name == "CpuInfo" or not spec.platform_dependent)
    ]
    env.reset()
    for _ in range(3):
        for name in names:
            assert env.observation[name] in env.observation.spaces[name].space, name
        env.step(env.action_space.sample())


def test_a_derived_observation_can_be_added(env: LlvmEnv) -> None:
    env.reset()
    env.observation.add_derived_space(
        "Blocks", "AutophaseDict", lambda features: features["TotalBlocks"]
    )
    assert env.observation["Blocks"] == env.observation["AutophaseDict"]["TotalBlocks"]


def test_a_fork_goes_its_own_way(env: LlvmEnv) -> None:
    env.reset()
    env.step(env.action_space["sroa"])
    before = env.ir_sha1
    with env.fork() as twin:
        assert twin.ir_sha1 == before
        assert twin.actions == env.actions
        assert twin.episode_reward == env.episode_reward
        twin.step(twin.action_space["instcombine"])
        assert twin.ir_sha1 != before
    assert env.ir_sha1 == before
    assert env.episode_reward is not None


@pytest.mark.parametrize("isolation", ["process", "in-process"])
def test_a_fork_continues_exactly_as_the_original_would(make_env: MakeEnv, isolation: str) -> None:
    env = make_env(benchmark="cbench-v1/sha", isolation=isolation, observation_space="IrSha1")
    env.reset(seed=7)
    for _ in range(15):
        env.step(env.action_space.sample())
    with env.fork() as twin:
        for _ in range(15):
            action = env.action_space.sample()
            assert twin.action_space.sample() == action
            assert env.step(action)[0] == twin.step(action)[0]


def test_a_copy_is_a_fork_and_a_shallow_copy_is_refused(env: LlvmEnv) -> None:
    env.reset()
    env.step(env.action_space["sroa"])
    with copy.deepcopy(env) as twin:
        assert twin.ir_sha1 == env.ir_sha1
    with pytest.raises(TypeError, match="deepcopy"):
        copy.copy(env)


def test_a_pickle_replays_the_episode(env: LlvmEnv) -> None:
    env.reset()
    env.multistep([env.action_space["sroa"], env.action_space["gvn"]])
    with pickle.loads(pickle.dumps(env)) as other:
        assert other.ir_sha1 == env.ir_sha1
        assert other.actions == env.actions
        assert other.episode_reward == env.episode_reward
        assert other.observation_space == env.observation_space
        action = env.action_space["instcombine"]
        assert other.step(action)[1] == env.step(action)[1]


def test_a_state_replays(make_env: MakeEnv, env: LlvmEnv) -> None:
    env.reset()
    for name in ("sroa", "gvn", "simplifycfg"):
        env.step(env.action_space[name])
    state = env.state
    other = make_env(reward_space="IrInstructionCountOz")
    other.apply(state)
    assert other.state == state
    assert other.state.state_hash == state.state_hash
    result = env.validate()
    assert result.okay(), result.error_details
    assert result.reward_validated


def test_seeds_repeat_actions_and_programs(make_env: MakeEnv) -> None:
    envs = [make_env() for _ in range(2)]
    drawn: list[tuple[list[Any], list[str]]] = []
    for env in envs:
        env.reset(seed=11)
        actions = [env.action_space.sample() for _ in range(10)]
        programs = [str(env.datasets.random_benchmark().uri) for _ in range(5)]
        drawn.append((actions, programs))
    assert drawn[0] == drawn[1]


def test_the_goal_is_part_of_the_program(make_env: MakeEnv) -> None:
    env = make_env(benchmark="cbench-v1/sha")
    env.reset()
    assert "minsize" in env.ir
    assert "optsize" in env.ir
    env.reset(benchmark="cbench-v1/sha?goal=speed")
    assert "minsize" not in env.ir
    assert env.state.benchmark == "benchmark://cbench-v1/sha?goal=speed"


def test_written_bitcode_equals_the_observed_module(
    env: LlvmEnv, tmp_path: Path, make_env: MakeEnv
) -> None:
    env.reset()
    env.step(env.action_space["sroa"])
    env.write_ir(tmp_path / "out.ll")
    env.write_bitcode(tmp_path / "out.bc")
    for name in ("out.ll", "out.bc"):
        other = make_env(benchmark=f"file://{tmp_path / name}")
        other.reset()
        assert other.observation["IrInstructionCount"] == env.observation["IrInstructionCount"]


def test_render_as_text_is_valid_ir(make_env: MakeEnv, tool: Callable[..., bytes]) -> None:
    env = make_env(render_mode="ansi")
    env.reset()
    text = env.render()
    assert text is not None
    assert tool("opt-22", "-passes=verify", "-S", input=text.encode()).startswith(b"; ModuleID")


def test_closing_twice_is_fine_and_reset_opens_again(env: LlvmEnv) -> None:
    env.reset()
    env.close()
    env.close()
    with pytest.raises(SessionNotFound, match="reset"):
        env.step(0)
    env.reset()
    assert env.in_episode


def test_a_step_before_reset_gives_the_fix(env: LlvmEnv) -> None:
    with pytest.raises(SessionNotFound, match=r"call reset\(\) first"):
        env.step(0)


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("observation_space", "no observation space 'Nope'; there are Ir"),
        ("reward_space", "no reward space 'Nope'; there are IrInstructionCount"),
        ("action_space", "no action space 'Nope'; there are Passes"),
    ],
)
def test_an_unknown_space_is_named_with_those_that_exist(
    env: LlvmEnv, attribute: str, message: str
) -> None:
    with pytest.raises(UnknownNameError, match=message):
        setattr(env, attribute, "Nope")


def test_versions_say_what_they_are(env: LlvmEnv) -> None:
    assert env.version == compiler_gym.__version__
    assert env.compiler_version.startswith("22.")
