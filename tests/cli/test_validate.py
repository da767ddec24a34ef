# SPDX-License-Identifier: MIT
"""``compiler-gym validate`` as a shell sees it."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

from tests.command_line import COMMAND, Run, States, run_until_killed, write

QUICK = ("--rungs", "replay")


def test_a_truncated_file_is_reported_after_what_could_be_read(
    cli: Run,
    tmp_path: Path,
    states: States,
) -> None:
    path = Path(write(tmp_path / "s.csv", states))
    path.write_text(path.read_text()[:-20])
    for command in (("replay",), ("validate", *QUICK)):
        ran = cli(*command, str(path))
        assert ran.status == 2
        assert "crc32" in ran.output
        assert "line 3 is damaged or cut short" in ran.errors


def test_a_validation_shows_each_rung_and_keeps_its_results(
    cli: Run,
    tmp_path: Path,
    states: States,
) -> None:
    path = write(tmp_path / "s.jsonl", states)
    ran = cli("validate", path, "--quick", "--output", "r.jsonl")
    assert ran.status == 0, ran.errors
    assert "2 states, 0 wrong" in ran.output
    kept = (tmp_path / "r.jsonl").read_text()
    assert [r["name"] for r in json.loads(kept.splitlines()[0])["rungs"]] == [
        "replay",
        "verify",
        "run",
    ]
    again = cli("validate", path, "--quick", "--output", "r.jsonl", "--json")
    assert len(again.json) == 2
    assert (tmp_path / "r.jsonl").read_text() == kept
    other = cli("validate", path, "--rungs", "replay", "--output", "r.jsonl", "--json")
    assert [len(document["rungs"]) for document in other.json] == [1, 1]
    assert (tmp_path / "r.jsonl").read_text().startswith(kept)
    (tmp_path / "one").mkdir()
    one = write(tmp_path / "one" / "s.jsonl", states[:1])
    assert len(cli("validate", one, "--quick", "--output", "r.jsonl", "--json").json) == 1


def test_results_with_other_options_are_not_used(cli: Run, tmp_path: Path, states: States) -> None:
    path = write(tmp_path / "s.jsonl", states)
    words = ("validate", path, "--rungs", "replay", "--output", "r.jsonl")
    for options, expected in (
        ((), 2),
        ((), 2),
        (("--step-seconds", "200"), 4),
        (("--step-seconds", "200"), 4),
        (("--sandbox", "limits"), 6),
    ):
        assert len(cli(*words, *options, "--json").json) == 2
        assert len((tmp_path / "r.jsonl").read_text().splitlines()) == expected


def test_a_wrong_state_fails_the_validation(cli: Run, tmp_path: Path, states: States) -> None:
    wrong = [states[0], replace(states[1], state_hash="0" * 32)]
    ran = cli("validate", write(tmp_path / "s.jsonl", wrong), *QUICK)
    assert ran.status == 1
    assert "2 states, 1 wrong" in ran.output
    assert "bitcount: the replay reaches a different program" in ran.output


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
    arguments = ["validate", path, *QUICK, "--jobs", "1", "--output", str(kept)]
    run_until_killed("compiler_gym.cli.validate:_Log.add", 3, *arguments)
    done = kept.read_text().rpartition("\n")[0].splitlines()
    assert len(done) == 3
    kept.write_text(kept.read_text() + '{"state": {"bench')
    subprocess.run([*COMMAND, *arguments], stdout=subprocess.DEVNULL, check=False)
    lines = kept.read_text().splitlines()
    assert lines[: len(done)] == done
    assert len({json.loads(line)["state"]["state_hash"] for line in lines}) == len(lines) == 30
