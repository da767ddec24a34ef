# SPDX-License-Identifier: MIT
"""Any mix of marks, options and passes on any program keeps every promise.

An episode draws its program and its actions from a seed. What it made must verify, repeat,
fork, survive printing and reading, be made by ``opt-22`` too, and pass the ladder. Where LLVM
itself fails, ``opt-22`` must fail on the same marked module.
"""

import pickle
import random
import re
import shlex
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.actions.marks.space import DecisionPoint, MarksSpace

BUNDLED = ("crc32", "sha", "qsort", "bitcount", "dijkstra", "patricia", "stringsearch", "blowfish")
LARGE = ("bzip2", "gsm", "susan", "jpeg-d", "ispell")
SPACES = ("Marks", "MarksAndCodegen")
FEW, MANY = 2, 62
needs_opt = pytest.mark.skipif(shutil.which("opt-22") is None, reason="needs opt-22")


def program_of(generator: random.Random) -> str:
    """Return the address of a program, small ones more often."""
    kind = generator.random()
    if kind < 0.15 and shutil.which("csmith"):
        return f"generator://csmith-v0/{generator.randrange(300)}"
    if kind < 0.25:
        return f"generator://llvm-stress-v0/{generator.randrange(300)}"
    name = generator.choice(LARGE if kind < 0.35 else BUNDLED)
    flags = generator.choice(("", "", "?goal=speed", "?scope=program"))
    return f"cbench-v1/{name}{flags}"


def draw(space: MarksSpace, generator: random.Random) -> int:
    """Return an action that there is now: marks mostly, a level now and then."""
    legal = space.legal()
    marks = legal[space.dense :]
    kind = generator.random()
    if kind < 0.6 and len(marks):
        return int(generator.choice(marks))
    if kind < 0.7:
        return space[generator.choice(("-Oz", "-O1", "-O2", "-O3", "-Os"))]
    return generator.randrange(space.dense)


def lines_of(points: list[DecisionPoint]) -> set[str]:
    """Return what is listed of points, as lines."""
    return {repr(point) for point in points}


def fuzz(seed: int, folder: Path) -> str:
    """Play an episode, check what is promised, and return how it ended."""
    generator = random.Random(f"marks {seed}")
    uri, name = program_of(generator), generator.choice(SPACES)
    with LlvmEnv(action_space=name, benchmark=uri) as env:
        env.reset()
        size = env.action_space.n
        before = lines_of(env.action_space.points)
        for _ in range(generator.randint(4, 24)):
            space = env.action_space
            action = draw(space, generator)
            is_mark = space.find_mark(action) is not None
            *_, truncated, info = env.step(action)
            if truncated:
                assert not is_mark, (space.find_name(action), info)
                assert info["error_type"] != "InvalidActionError", info
                return failed_as_opt_does(env, folder, info)
            now = env.action_space.points
            assert env.action_space.n == size, "an id that nothing had at reset"
            if is_mark:
                assert {point.name for point in now} == {line.split()[0] for line in before}
            before = lines_of(now)
        check_episode(env, folder)
        validation = env.validate()
        assert validation.okay(), f"{env.commandline()}: {validation}"
    return "kept"


def check_episode(env: LlvmEnv, folder: Path) -> None:
    """Check what is promised of the episode that `env` is in."""
    env.send_param("llvm.verify", "")
    made, space = env.observation["Bitcode"].tobytes(), env.action_space
    with env.fork() as fork:
        assert fork.observation["Bitcode"].tobytes() == made
        assert fork.action_space == space
    with pickle.loads(pickle.dumps(env)) as twin:
        assert twin.action_space == space
        assert twin.observation["IrHash"] == env.observation["IrHash"]
    with LlvmEnv(action_space=space.name) as again:
        again.apply(env.state)
        assert again.observation["Bitcode"].tobytes() == made
        assert again.action_space == space
        text = _llvm.Module(made).text()
        assert without_comments(_llvm.Module(text.encode()).text()) == without_comments(text)
        for contents in (made, text.encode()):
            again.reset(
                benchmark=Benchmark.from_file_contents("benchmark://fuzz-v0/again", contents)
            )
            assert lines_of(space.points) <= lines_of(again.action_space.points)
    # As they are read: a reader gives declarations of intrinsics LLVM's attributes again.
    assert _llvm.Module(made_by_opt(env, folder).read_bytes()).text() == _llvm.Module(made).text()


def without_comments(text: str) -> str:
    """Return IR without its comments, which say in what order LLVM holds uses."""
    return re.sub(r" *;.*", "", text)


def made_by_opt(env: LlvmEnv, folder: Path) -> Path:
    """Return the file that ``opt-22`` makes of the marked module."""
    command = shlex.split(env.write_marked(folder / "marked.bc"))
    output = folder / "output.bc"
    command[command.index("output.bc")] = str(output)
    subprocess.run(["opt-22", *command[1:]], check=True, capture_output=True, timeout=120)
    return output


def failed_as_opt_does(env: LlvmEnv, folder: Path, info: dict[str, object]) -> str:
    """Return the failure of a pass; raise where ``opt-22`` does not fail so."""
    if info["error_type"] in ("ModuleTooLargeError", "StepTimeoutError"):
        return str(info["error_type"])  # limits are ours
    try:
        made_by_opt(env, folder)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return str(info["error_type"])
    raise AssertionError(f"opt-22 does not fail: {env.commandline()}: {info}")


@needs_opt
@pytest.mark.parametrize("seed", range(FEW))
def test_an_episode_keeps_every_promise(tmp_path: Path, seed: int) -> None:
    fuzz(seed, tmp_path)


@needs_opt
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_episodes_keep_every_promise(tmp_path: Path) -> None:
    ends = Counter(fuzz(seed, tmp_path) for seed in range(FEW, FEW + MANY))
    assert ends["kept"] > MANY * 0.8, ends
