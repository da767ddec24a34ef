# SPDX-License-Identifier: MIT
"""Scripts like the examples of CompilerGym 0.2.5 start and run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
