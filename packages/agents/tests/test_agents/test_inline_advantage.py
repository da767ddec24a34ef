# SPDX-License-Identifier: MIT
"""What single decisions about calls change is learnt, and departed from LLVM for or not."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.stand_ins import always, never

from .conftest import load_agent

CRC, SHA, SEARCH = (f"benchmark://cbench-v1/{name}" for name in ("crc32", "sha", "dijkstra"))


@pytest.fixture(scope="module")
def agent() -> Any:
    return load_agent("inline_advantage")


def few(agent: Any, **changes: Any) -> Any:
    """Return options of a training that takes seconds."""
    options = agent.Options(train=(CRC, SHA, SEARCH), probes=6, trees=20, leaf=2, models=3)
    return dataclasses.replace(options, share=1.0, **changes)


def test_trees_learn_what_depends_on_two_columns_together(agent: Any) -> None:
    rows = np.random.default_rng(0).normal(size=(400, 4))
    targets = np.where((rows[:, 1] > 0) & (rows[:, 3] > 0.5), 8.0, -2.0)
    trees = agent.fit(rows[:300], targets[:300], agent.Options())
    told = np.array([trees(row) for row in rows[300:]])
    assert float(((told - targets[300:]) ** 2).mean()) < 0.1 * float(targets[300:].var())


def test_a_leaf_has_as_many_examples_as_it_has_to(agent: Any) -> None:
    rows, targets = np.arange(10.0)[:, None], np.arange(10.0)
    trees = agent.fit(rows, targets, agent.Options(leaf=6, trees=1, rate=1.0))
    assert {trees(row) for row in rows} == {4.5}


def test_an_example_is_what_an_episode_with_the_other_answer_leaves(agent: Any) -> None:
    with agent.make_env() as env:
        tried = agent.probe(env, SHA, few(agent, probes=100))
        assert tried.own == env.observation["ObjectTextSizeOz"]
        seen: list[tuple[str, int]] = []

        def look(_: Any, features: Any, site: Any) -> None:
            if features[-1] or agent.added(features, site) <= agent.Options().added:
                seen.append((site["callee"], agent.other(features)))

        agent.play_program(env, SHA, agent.Answers(agent.Policy()), look)
        assert len(seen) == len(tried.examples) > 3
        for (callee, action), (_, more) in zip(seen, tried.examples, strict=True):
            answers = agent.Answers(agent.Policy(), {callee: action})
            assert agent.play_program(env, SHA, answers) - tried.own == more
        assert any(more for _, more in tried.examples)


def test_a_policy_answers_all_calls_of_a_function_alike(agent: Any) -> None:
    with agent.make_env() as env:
        answers = agent.Answers(agent.Policy((-100.0, math.inf, math.inf)))
        changed = agent.play_program(env, SHA, answers)
        assert set(answers.given.values()) == {agent.DEFAULT, agent.LEAVE}
        assert changed != env.observation["ObjectTextSizeOz"]
        own = agent.Answers(agent.Policy())
        assert agent.play_program(env, SHA, own) == env.observation["ObjectTextSizeOz"]
        assert set(own.given.values()) == {agent.DEFAULT}


def call(agent: Any, cost: float) -> Any:
    """Return what is known of one of several calls, which LLVM inlines at this cost."""
    features = np.zeros(len(agent.INLINE_FEATURES), np.int64)
    features[agent.INLINE_FEATURES.index("cost_estimate")] = cost
    features[agent.INLINE_FEATURES.index("inlining_default")] = 1
    return agent.row(features, dict.fromkeys(agent.SITE, 0) | {"callee_calls": 2})


def test_a_threshold_is_where_departing_begins_to_save(agent: Any) -> None:
    costs = (-30, -20, -10, 0)
    adds = (40, 7, -9, -11)
    tried = {
        str(number): agent.Tried(
            10_000, [(call(agent, c), more) for c, more in zip(costs, adds, strict=True)]
        )
        for number in range(10)
    }
    options = agent.Options(least=8)
    assert agent.thresholds(tried, options) == (-10.5, math.inf, math.inf)
    policy = agent.Policy(agent.thresholds(tried, options))
    assert [policy.departs(call(agent, cost)) for cost in costs] == [False, False, True, True]


def test_a_threshold_is_refused_that_loses_much_once_or_rests_on_few_programs(agent: Any) -> None:
    def tried(more: int, programs: int) -> Any:
        found = {
            str(number): agent.Tried(1000, [(call(agent, 0), -10)]) for number in range(programs)
        }
        return found | {"last": agent.Tried(1000, [(call(agent, 0), more)])}

    options = agent.Options(least=8)
    assert agent.thresholds(tried(9, 30), options)[0] == -0.5
    assert agent.thresholds(tried(11, 30), options)[0] == math.inf
    assert agent.thresholds(tried(-10, 6), options)[0] == math.inf


def test_the_same_seed_learns_the_same_and_a_file_saves_trying_again(
    agent: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = few(agent, examples=str(tmp_path / "examples.jsonl"))
    first = agent.train(options, report=always(None))
    monkeypatch.setattr(agent, "probe", never("was in the file"))
    again = agent.train(options, report=always(None))
    assert first.ratios == again.ratios
    assert first.policy.thresholds == again.policy.thresholds
    rows = [seen for one in first.tried.values() for seen, _ in one.examples]
    assert [first.policy.gain(row) for row in rows] == [again.policy.gain(row) for row in rows]
    assert len({first.policy.gain(row) for row in rows}) > 3


def test_a_learnt_policy_distinguishes_savings_from_losses(agent: Any) -> None:
    options = few(agent, probes=12)
    learnt = agent.train(options, report=always(None))
    examples = [one for tried in learnt.tried.values() for one in tried.examples if one[1]]
    promised = [learnt.policy.gain(seen) for seen, _ in examples]
    saved = [float(np.clip(-more, -options.clip, options.clip)) for _, more in examples]
    assert np.corrcoef(promised, saved)[0, 1] > 0.5


def test_it_departs_only_if_that_saves_where_it_was_not_learnt(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = (-12.0, math.inf, math.inf)
    monkeypatch.setattr(agent, "thresholds", always(chosen))
    monkeypatch.setattr(agent, "probe", always(agent.Tried(1000, [(call(agent, 0), -9)] * 9)))
    for left, taken in ((999, chosen), (1001, agent.LLVM)):
        monkeypatch.setattr(agent, "play_program", always(left))
        learnt = agent.train(few(agent), report=always(None))
        assert learnt.policy.thresholds == taken
        assert learnt.ratios == [left / 1000] * 3


def test_several_compilations_are_never_worse_than_one(agent: Any) -> None:
    with agent.make_env() as env:
        found = [agent.improve(env, SHA, always(0.0), count) for count in (1, 4)]
    assert found[0][0] == found[0][1] == found[1][0]
    assert found[1][1] <= found[1][0]


def test_a_folders_folder_is_never_on_both_sides(agent: Any, tmp_path: Path) -> None:
    programs = [f"file://{tmp_path}/{name}.bc" for name in ("a/one", "a/two", "b/one", "c/d/one")]
    options = agent.Options(train=(str(tmp_path),), models=3)
    folds = agent._folds(programs, options)
    assert folds[programs[0]] == folds[programs[1]]
    assert len(set(folds.values())) == 3


def test_the_command_line_has_every_option(agent: Any) -> None:
    assert agent.parse([]) == agent.Options()
    options = agent.parse(["--share", "0.5", "--test", "cbench-v1", "--seeds", "3"])
    assert (options.share, options.test, options.seeds) == (0.5, ("cbench-v1",), 3)


def test_it_prints_what_became_of_a_program_it_has_not_seen(
    agent: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    agent.main(few(agent, test=("generator://csmith-v0/5",), compilations=3, seeds=2))
    printed = capsys.readouterr().out
    assert "| csmith-v0/5 | 375 | 375 |" in printed
    assert printed.count("in geometric mean, ") >= 2


@pytest.mark.slow
def test_a_policy_learnt_on_some_programs_beats_chance_on_others(agent: Any) -> None:
    learnt_on = "adpcm bitcount blowfish crc32 gsm qsort sha stringsearch"
    held_out = "dijkstra patricia rijndael stringsearch2 susan"
    train, test = ([f"benchmark://cbench-v1/{n}" for n in s.split()] for s in (learnt_on, held_out))
    options = agent.Options(train=tuple(train), probes=20, share=1.0, models=4)
    policy = agent.train(options, report=always(None)).policy

    def left(order: str, seed: int) -> float:
        asked = {"order": order, "seed": seed, "test": tuple(test), "compilations": 4}
        found = agent.evaluate(policy, dataclasses.replace(options, **asked))
        return float(np.mean([math.log(one.searched / one.own) for one in found.values()]))

    by_chance = np.mean([left("random", seed) for seed in range(3)])
    assert left("learnt", 0) < 1.5 * by_chance < 0.0
