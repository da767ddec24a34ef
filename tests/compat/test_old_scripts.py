# SPDX-License-Identifier: MIT
"""Scripts like the examples of CompilerGym 0.2.5 start and run, with their flags and helpers."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from search.puzzle import make_puzzle

from compiler_gym import random_search
from compiler_gym.compat.old_scripts import (
    Timer,
    arithmetic_mean,
    emph,
    geometric_mean,
    humanize_duration,
    indent,
    join_cmd,
    plural,
    stdev,
)

pytest.importorskip("absl")
HEAD = """
import compiler_gym.util.flags.nproc
import compiler_gym.util.flags.output_dir
from absl import app, flags
from compiler_gym.util.flags.benchmark_from_flags import benchmark_from_flags
from compiler_gym.util.flags.env_from_flags import env_from_flags
from compiler_gym.util.shell_format import emph
from compiler_gym.util.timer import Timer
flags.DEFINE_list("actions", ["-sroa", "-mem2reg", "-newgvn"], "Actions.")
flags.DEFINE_integer("episode_length", 3, "Steps.")
FLAGS = flags.FLAGS
"""
WALK = """
def main(argv):
    env = env_from_flags(benchmark_from_flags())
    with Timer() as spent:
        env.reset()
        for name in FLAGS.actions:
            number = env.action_space.flags.index(name)
            observation, reward, done, info = env.step(number)
            assert not done
            print(env.action_space.names[number], reward, info["action_had_no_effect"])
    print(f"done in {spent}, {spent.time > 0}", emph("bold"), FLAGS.nproc > 0, FLAGS.output_dir)
    env.close()
app.run(main)
"""
CONSTRAINED = """
import compiler_gym.util.flags.episodes
import compiler_gym.util.flags.learning_rate
from compiler_gym.wrappers import ConstrainedCommandline, TimeLimit
def main(argv):
    FLAGS.env = "llvm-v0"
    FLAGS.observation = "Autophase"
    FLAGS.reward = "IrInstructionCountOz"
    env = ConstrainedCommandline(env_from_flags(benchmark_from_flags()), flags=FLAGS.actions)
    env = TimeLimit(env, max_episode_steps=FLAGS.episode_length)
    with env:
        state = env.reset()
        done, earned = False, 0.0
        while not done:
            state, reward, done, _ = env.step(env.action_space["-sroa"])
            earned += reward
        print(len(state), env.action_space.n, round(earned, 3), FLAGS.episodes, FLAGS.learning_rate)
        assert env.observation["Ir"]
app.run(main)
"""


def run_script(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(HEAD + text)
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def test_a_random_walk_of_old_runs(tmp_path: Path) -> None:
    program = ("--env=llvm-v0", "--benchmark=cbench-v1/crc32", "--reward=IrInstructionCount")
    done = run_script(tmp_path, WALK, *program)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^-sroa [1-9][\d.]* False$", done.stdout, re.M), done.stdout


def test_old_wrappers_keep_the_old_interface(tmp_path: Path) -> None:
    done = run_script(tmp_path, CONSTRAINED, "--benchmark=cbench-v1/crc32")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"56 3 0\.\d+ 2000 0\.008\n", done.stdout), done.stdout


def test_the_environments_are_listed_and_one_must_be_chosen(tmp_path: Path) -> None:
    assert "llvm-v0\n" in run_script(tmp_path, WALK, "--ls_env").stdout
    assert "use --env, such as --env=llvm-v0" in run_script(tmp_path, WALK).stderr


def test_patience_ends_a_search_long_before_its_time(tmp_path: Path) -> None:
    reward, actions = random_search(make_puzzle, tmp_path, total_runtime=None, patience=20, nproc=1)
    assert reward > 0
    (found,) = json.loads((tmp_path / "results.json").read_text())["results"]
    assert (found["reward"], found["actions"]) == (reward, actions)
    lines = [json.loads(line) for line in (tmp_path / "progress.jsonl").read_text().splitlines()]
    rewards = [line["reward"] for line in lines]
    assert rewards == sorted(set(rewards))


def test_a_finished_search_is_not_repeated(tmp_path: Path) -> None:
    def refuse() -> None:
        raise AssertionError("nothing is to be made")

    kept = {"results": [{"reward": 2.5, "actions": [1, 0]}]}
    (tmp_path / "results.json").write_text(json.dumps(kept))
    assert random_search(refuse, tmp_path, skip_done=True) == (2.5, [1, 0])  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="nothing is to be made"):
        random_search(refuse, tmp_path, skip_done=False)  # type: ignore[arg-type]


def test_results_go_to_the_logs_where_no_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILER_GYM_LOGS", str(tmp_path))
    random_search(make_puzzle, total_runtime=0.2, nproc=1)
    assert (tmp_path / "random_search/latest/results.json").is_file()


def test_random_search_keeps_its_signature_and_its_results(tmp_path: Path) -> None:
    reward, actions = random_search(make_puzzle, outdir=tmp_path, total_runtime=2, nproc=1)
    assert reward > 0
    assert (tmp_path / "progress.jsonl").read_text()
    with make_puzzle() as env:
        env.reset()
        assert env.multistep(actions)[1] == reward
    assert random_search(make_puzzle, tmp_path, skip_done=True) == (reward, actions)


def test_random_search_ends_when_its_patience_does(tmp_path: Path) -> None:
    reward, _ = random_search(make_puzzle, tmp_path, total_runtime=None, patience=20, nproc=1)
    assert reward > 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2e-8, "20.0ns"), (5e-4, "500.0us"), (-0.25, "-250.0ms"), (1, "1.000s"), (61, "61.0s")],
)
def test_a_duration_gets_the_unit_that_fits(seconds: float, text: str) -> None:
    assert humanize_duration(seconds) == text


def test_a_timer_with_a_label_reports_and_then_stands_still() -> None:
    lines: list[str] = []
    with Timer("Counted", lines.append) as timer:
        assert timer.time >= 0
    assert lines == [f"Counted in {timer}"]
    assert timer.time == timer.time
    assert timer.reset() is timer


def test_texts_for_a_terminal() -> None:
    assert "x" in emph("x")
    assert plural(0, "step", "steps") == "0 steps"
    assert indent("a\nb", 2) == "  a\n  b"
    assert join_cmd(["cc", "a b.c"]) == "cc 'a b.c'"


def test_means_are_zero_where_there_is_none() -> None:
    assert (arithmetic_mean([1, 2, 6]), geometric_mean([1, 2, 4]), stdev([1, 3])) == (3, 2, 1)
    assert arithmetic_mean([]) == geometric_mean([]) == geometric_mean([3, 0]) == stdev([]) == 0
    with pytest.raises(ValueError, match="positive"):
        geometric_mean([-1, 2])
