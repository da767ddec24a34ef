# SPDX-License-Identifier: MIT
import json
from pathlib import Path
from uuid import uuid4

import pytest

from compiler_gym.cli.profile import profile
from compiler_gym.errors import WorkerCrashedError
from compiler_gym.testing import FakeEnv
from tests.command_line import Run, States, write
from tests.stand_ins import always

PROGRAM = "cbench-v1/crc32"


def test_the_layers_and_the_passes_are_shown_on_a_screen_of_eighty_columns(cli: Run) -> None:
    ran = cli("profile", PROGRAM, "sroa", "gvn", COLUMNS="80")
    assert ran.status == 0, ran.errors
    words = ran.output.split()
    for word in ("passes", "python", "transport", "observations", "sroa", "gvn", "Autophase"):
        assert word in words, ran.output
    assert "change detection" in ran.output
    assert max(map(len, ran.output.splitlines())) <= 80


def test_layers_add_up_to_the_whole(cli: Run) -> None:
    found = cli("profile", PROGRAM, "--random", "20", "--json").json
    layers = found["layers"]
    assert sum(layers.values()) == found["nanoseconds"]
    assert layers["other"] <= 0.05 * found["nanoseconds"]
    assert len(found["actions"]) == 20
    assert found["environment"] == "llvm-v0"


def test_the_same_seed_draws_the_same_actions(cli: Run) -> None:
    drawn = [
        cli("profile", PROGRAM, "--random", "12", "--seed", seed, "--json").json["actions"]
        for seed in ("1", "1", "2")
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_flame_graph_is_written_for_speedscope_or_folded(cli: Run, tmp_path: Path) -> None:
    ran = cli("profile", PROGRAM, "sroa", "gvn", "--output", "flame.json")
    assert ran.status == 0, ran.errors
    written = json.loads((tmp_path / "flame.json").read_text())
    frames = {frame["name"] for frame in written["shared"]["frames"]}
    assert {"reset", "step sroa", "step gvn", "request", "worker", "domtree"} <= frames
    assert written["profiles"][0]["unit"] == "nanoseconds"
    folded = cli("profile", PROGRAM, "sroa", "--format", "folded", "--output", "-")
    assert folded.status == 0
    assert all(line.rpartition(" ")[2].isdigit() for line in folded.output.splitlines())
    assert "Layer" in folded.errors  # the tables make room


def test_actions_may_come_from_a_state(cli: Run, states: States, tmp_path: Path) -> None:
    path = write(tmp_path / "states.csv", states)
    found = cli("profile", "--state", path, "--json").json
    assert found["actions"] == ["sroa", "gvn", "simplifycfg"]
    assert found["benchmark"] == states[0].benchmark
    other = cli("profile", "cbench-v1/sha", "--state", path, "--json").json
    assert other["benchmark"] == "benchmark://cbench-v1/sha"


def test_another_compiler_is_asked_in_the_same_way(cli: Run, tmp_path: Path) -> None:
    # What it finds of a program is remembered for good: nobody has seen this one.
    source = tmp_path / "new.c"
    source.write_text(f"int f{uuid4().hex}(int n) {{ return n * n; }}\n")
    ran = cli("profile", "--env", "gcc-v0", str(source), "--random", "2", "--json")
    if "EnvironmentNotSupported" in ran.errors:
        pytest.skip("needs gcc")
    found = ran.json
    assert found["layers"]["processes"] > 0
    assert {row["name"] for row in found["rows"]["observations"]} >= {"choices", "obj_size"}


def test_a_step_may_see_and_earn_nothing(cli: Run) -> None:
    found = cli("profile", PROGRAM, "gvn", "--observation", "-", "--reward", "-", "--json").json
    assert "observations" not in found["rows"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((PROGRAM, "sroaa"), "no action 'sroaa'"),
        ((PROGRAM, "100000"), "no action number 100000"),
        (
            (PROGRAM, "gvn", "--random", "3"),
            "actions and --random cannot be combined: use one of them",
        ),
        ((), "no program is given: name one, or use --state FILE"),
        ((PROGRAM, "--random", "-1"), "--random must be at least 0 (got -1)"),
        ((PROGRAM, "gvn", "--reward", "none"), "no reward space 'none'"),
        ((PROGRAM, "gvn", "--output", "no/such/flame.json"), "cannot write no/such/flame.json"),
        (("--state", "no-such-file.csv"), "no-such-file.csv"),
    ],
)
def test_an_impossible_request_gives_one_clear_line(
    cli: Run, arguments: tuple[str, ...], message: str
) -> None:
    ran = cli("profile", *arguments)
    assert ran.status == 2
    assert message in ran.errors
    assert "Traceback" not in ran.errors


def test_a_worker_that_is_lost_leaves_the_profile_so_far(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = FakeEnv(action_space="Behaviours")
    monkeypatch.setattr("compiler_gym.registration.make", always(env))
    path = tmp_path / "flame.json"
    with pytest.raises(WorkerCrashedError, match="SIGSEGV"):
        profile(program="fake-v0/7", actions=["add", "segfault", "add"], output=path, json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["actions"] == ["add", "segfault"]
    assert found["error"]["type"] == "WorkerCrashedError"
    frames = {frame["name"] for frame in json.loads(path.read_text())["shared"]["frames"]}
    assert {"step add", "step segfault", "segfault: lost with its worker"} <= frames
