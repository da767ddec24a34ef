# SPDX-License-Identifier: MIT
"""What single decisions about calls change is learnt, and departed from LLVM for or not."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .conftest import load_agent

CRC, SHA, SEARCH = (f"benchmark://cbench-v1/{name}" for name in ("crc32", "sha", "stringsearch"))


@pytest.fixture(scope="module")
def agent() -> Any:
    return load_agent("inline_advantage")


def few(agent: Any, **changes: Any) -> Any:
    """Return options of a training that takes seconds."""
    options = agent.Options(train=(CRC, SHA, SEARCH), probes=6, trees=20, leaf=2, models=3)
    return dataclasses.replace(options, margins=(0.0,), **changes)


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
    always = agent.Trees(np.zeros((1, 1), np.int64), np.zeros((1, 1)), np.full((1, 2), -5.0))
    with agent.make_env() as env:
        answers = agent.Answers(agent.Policy([always], 4.0))
        changed = agent.play_program(env, SHA, answers)
        assert answers.given
        assert agent.DEFAULT not in answers.given.values()
        cautious = agent.Answers(agent.Policy([always], 6.0))
        assert agent.play_program(env, SHA, cautious) == env.observation["ObjectTextSizeOz"]
        assert set(cautious.given.values()) == {agent.DEFAULT}
        assert changed != env.observation["ObjectTextSizeOz"]


def test_the_same_seed_learns_the_same_and_a_file_saves_trying_again(
    agent: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = few(agent, examples=str(tmp_path / "examples.jsonl"))
    first = agent.train(options, report=lambda _: None)
    monkeypatch.setattr(agent, "probe", lambda *_: pytest.fail("was in the file"))
    again = agent.train(options, report=lambda _: None)
    assert first.trials == again.trials
    assert first.policy.margin == again.policy.margin
    rows = [seen for one in first.tried.values() for seen, _ in one.examples]
    assert [first.policy.gain(row) for row in rows] == [again.policy.gain(row) for row in rows]
    assert len({first.policy.gain(row) for row in rows}) > 3


def test_what_is_learnt_tells_apart_what_saved_and_what_did_not(agent: Any) -> None:
    options = few(agent, probes=12)
    learnt = agent.train(dataclasses.replace(options, margins=()), report=lambda _: None)
    examples = [one for tried in learnt.tried.values() for one in tried.examples]
    promised = [learnt.policy.gain(seen) for seen, _ in examples]
    saved = [float(np.clip(-more, -options.clip, options.clip)) for _, more in examples]
    assert np.corrcoef(promised, saved)[0, 1] > 0.5


def test_no_margin_that_costs_is_taken(agent: Any) -> None:
    options = few(agent, worst=0.0)
    learnt = agent.train(options, report=lambda _: None)
    (trial,) = learnt.trials
    fine = trial.mean < 1.0 and trial.worst <= 1.0
    assert learnt.policy.margin == (0.0 if fine else math.inf)


def test_several_compilations_are_never_worse_than_one(agent: Any) -> None:
    with agent.make_env() as env:
        found = [agent.improve(env, SHA, lambda _: 0.0, count) for count in (1, 4)]
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
    options = agent.parse(["--margins", "1", "2.5", "--test", "cbench-v1", "--seeds", "3"])
    assert (options.margins, options.test, options.seeds) == ((1.0, 2.5), ("cbench-v1",), 3)


def test_it_prints_what_became_of_a_program_it_has_not_seen(
    agent: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    agent.main(few(agent, test=("generator://csmith-v0/5",), compilations=3, seeds=2))
    printed = capsys.readouterr().out
    assert "| csmith-v0/5 | 375 | 375 |" in printed
    assert printed.count("in geometric mean, ") >= 2
