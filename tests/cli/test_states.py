# SPDX-License-Identifier: MIT
"""``replay``, ``bisect`` and ``validate`` as a shell sees them."""

import json
import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym import CompilerEnvState, CompilerEnvStateReader, CompilerEnvStateWriter

from .conftest import COMMAND, Run

States = list[CompilerEnvState]
QUICK = ("--rungs", "replay")


@pytest.fixture(scope="session")
def states() -> list[CompilerEnvState]:
    """Return two states with rewards and hashes."""
    found = []
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCountOz") as env:
        for name in ("crc32", "bitcount"):
            env.reset(benchmark=f"cbench-v1/{name}")
            env.multistep([env.action_space[a] for a in ("sroa", "gvn", "simplifycfg")])
            found.append(env.state)
    return found


def write(path: Path, states: list[CompilerEnvState]) -> str:
    with CompilerEnvStateWriter(path.open("w", encoding="utf-8")) as writer:
        for state in states:
            writer.write_state(state)
    return str(path)


def test_states_that_replay_say_so(cli: Run, tmp_path: Path, states: States) -> None:
    ran = cli("replay", write(tmp_path / "s.jsonl", states), "--json")
    assert [row["differences"] for row in ran.json] == [[], []]
    assert [row["replayed_hash"] for row in ran.json] == [s.state_hash for s in states]


def test_a_replay_that_differs_is_shown_and_fails(cli: Run, tmp_path: Path, states: States) -> None:
    wrong = [states[0], replace(states[1], reward=0.9)]
    ran = cli("replay", write(tmp_path / "s.jsonl", wrong))
    assert ran.status == 1
    assert "bitcount: the replay earns another reward, reward=0.9" in ran.output


def test_csv_of_0_2_5_is_replayed_with_a_reward_that_the_user_names(
    cli: Run, tmp_path: Path, states: States,
) -> None:  # fmt: skip
    path = write(tmp_path / "s.csv", states)
    assert "name its space with --reward" in cli("replay", path).output
    ran = cli("replay", path, "--reward", "IrInstructionCountOz", "--json")
    assert [row["replayed_reward"] for row in ran.json] == pytest.approx([s.reward for s in states])


def test_another_version_is_said_and_is_no_failure(
    cli: Run, tmp_path: Path, states: States
) -> None:
    old = replace(states[0], compiler_version="17.0.6", reward=0.1)
    ran = cli("replay", write(tmp_path / "s.jsonl", [old]))
    assert ran.status == 0
    assert "recorded with version 17.0.6 of the compiler, replayed with 22" in ran.output


def test_unknown_programs_and_actions_are_rows_of_the_table(cli: Run, tmp_path: Path) -> None:
    bad = [CompilerEnvState("cbench-v1/nope"), CompilerEnvState("cbench-v1/sha", "nope")]
    ran = cli("replay", write(tmp_path / "s.jsonl", bad), "--trace", "t.jsonl")
    assert ran.status == 1
    assert "no program 'nope'" in ran.output
    assert "'nope' is not an action" in ran.output
    bisected = cli("bisect", "t.jsonl", "--json")
    assert bisected.status == 0
    assert ["'nope'" in error for row in bisected.json for error in row["errors"]] == [True] * 4


def test_a_program_that_one_machine_lacks_disagrees_before_any_action(
    cli: Run, tmp_path: Path, states: States
) -> None:
    cli("replay", write(tmp_path / "s.jsonl", states), "--trace", "t.jsonl")
    theirs = (tmp_path / "t.jsonl").read_text().replace("crc32", "crc33")
    (tmp_path / "u.jsonl").write_text(theirs)
    ran = cli("bisect", "u.jsonl", "--json")
    assert ran.status == 1
    rows = json.loads(ran.output)
    assert {row["benchmark"]: row["after"] for row in rows} == {
        row["benchmark"]: 0 if "crc33" in row["benchmark"] else None for row in rows
    }
    assert any("no program 'crc33'" in row["errors"][1] for row in rows)


def test_a_truncated_file_is_reported_after_what_could_be_read(
    cli: Run, tmp_path: Path, states: States,
) -> None:  # fmt: skip
    path = Path(write(tmp_path / "s.csv", states))
    path.write_text(path.read_text()[:-20])
    for command in (("replay",), ("validate", *QUICK)):
        ran = cli(*command, str(path))
        assert ran.status == 2
        assert "crc32" in ran.output
        assert "line 3 is damaged or cut short" in ran.errors


def test_two_machines_that_disagree_are_bisected(cli: Run, tmp_path: Path, states: States) -> None:
    trace = tmp_path / "t.jsonl"
    assert cli("replay", write(tmp_path / "s.jsonl", states), "--trace", str(trace)).status == 0
    assert [row["after"] for row in cli("bisect", str(trace), "--json").json] == [None, None]
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    lines[1]["hashes"][2] = "0" * 32
    lines[1]["compiler_version"] = "21.1.0"
    (tmp_path / "u.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = cli("bisect", "u.jsonl", str(trace))
    assert ran.status == 1
    assert "action 2: gvn" in ran.output
    assert "21.1.0 / 22" in ran.output


def test_a_validation_shows_each_rung_and_keeps_its_results(
    cli: Run, tmp_path: Path, states: States,
) -> None:  # fmt: skip
    path = write(tmp_path / "s.jsonl", states)
    ran = cli("validate", path, "--quick", "--output", "r.jsonl")
    assert ran.status == 0, ran.errors
    assert "2 states, 0 wrong" in ran.output
    kept = (tmp_path / "r.jsonl").read_text()
    assert [r["name"] for r in json.loads(kept.splitlines()[0])["rungs"]] == [
        "replay", "verify", "run",
    ]  # fmt: skip
    again = cli("validate", path, "--quick", "--output", "r.jsonl", "--json")
    assert len(again.json) == 2
    assert (tmp_path / "r.jsonl").read_text() == kept
    other = cli("validate", path, "--rungs", "replay", "--output", "r.jsonl", "--json")
    assert [len(document["rungs"]) for document in other.json] == [1, 1]
    assert (tmp_path / "r.jsonl").read_text().startswith(kept)
    (tmp_path / "one").mkdir()
    one = write(tmp_path / "one" / "s.jsonl", states[:1])
    assert len(cli("validate", one, "--quick", "--output", "r.jsonl", "--json").json) == 1


def test_a_wrong_state_fails_the_validation(cli: Run, tmp_path: Path, states: States) -> None:
    wrong = [states[0], replace(states[1], state_hash="0" * 32)]
    ran = cli("validate", write(tmp_path / "s.jsonl", wrong), *QUICK)
    assert ran.status == 1
    assert "2 states, 1 wrong" in ran.output
    assert "bitcount: the replay reaches another program" in ran.output


def test_an_unknown_rung_is_named(cli: Run, tmp_path: Path, states: States) -> None:
    ran = cli("validate", write(tmp_path / "s.jsonl", states), "--rungs", "nope")
    assert ran.status == 2
    assert "no rung 'nope'; there are replay, verify, run" in ran.errors


def test_a_validation_that_is_killed_goes_on_where_it_was(tmp_path: Path, states: States) -> None:
    many = [
        replace(states[i % 2], walltime=float(i), reward=None, state_hash=f"{i:032x}")
        for i in range(30)
    ]
    path, kept = write(tmp_path / "s.jsonl", many), tmp_path / "r.jsonl"
    command = [*COMMAND, "validate", path, *QUICK, "--jobs", "1", "--output", str(kept)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    end = time.monotonic() + 60
    while not (kept.is_file() and kept.read_text().count("\n") >= 3) and time.monotonic() < end:
        assert running.poll() is None
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    done = kept.read_text().rpartition("\n")[0].splitlines()
    assert 3 <= len(done) < 30
    kept.write_text(kept.read_text() + '{"state": {"bench')
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    lines = kept.read_text().splitlines()
    assert lines[: len(done)] == done
    assert len({json.loads(line)["state"]["state_hash"] for line in lines}) == len(lines) == 30


def test_states_written_by_the_library_are_read_from_standard_input(
    cli: Run, tmp_path: Path, states: States,
) -> None:  # fmt: skip
    text = Path(write(tmp_path / "s.jsonl", states)).read_bytes()
    assert cli("replay", "-", stdin=text).status == 0
    assert len(list(CompilerEnvStateReader.read_paths([tmp_path / "s.jsonl"]))) == 2
