# SPDX-License-Identifier: MIT
import itertools
import json
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from benchmarks import peer, peer_round
from benchmarks.__main__ import main

OLD = {"instructions": 1_100, "changed": 30, "episode of 15 steps": 4.0, "reset after 15 steps": 1}


def test_where_the_old_library_is_not_set_up_the_section_reports_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv(peer.VARIABLE, raising=False)
    main(["peer"])
    assert (
        "not measured: CompilerGym 0.2.5 is not set up: name its folder" in capsys.readouterr().out
    )
    monkeypatch.setenv(peer.VARIABLE, "")  # so that it is taken back
    main(["peer", "--peer", str(tmp_path)])
    assert "venv/bin/python" in capsys.readouterr().out.replace("\n", "")


def test_both_sides_take_turns_and_a_ratio_has_the_interval_of_its_rounds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rounds: list[str] = []

    def run(folder: Path, program: str, *_: float, old: bool = False, **__: bool) -> peer.Round:
        rounds.append(f"{program} {'old' if old else 'ours'}")
        times = 1 if old else {2: 4, 4: 1, 6: 2}[len(rounds)]
        return OLD | {name: OLD[name] / times for name in list(OLD)[2:]}

    monkeypatch.setattr(peer, "run_round", run)
    found = list(peer.compare(tmp_path, ["p1k_mix"], jobs=[2], rounds=3))
    assert rounds == ["p1k_mix old", "p1k_mix ours"] * 3
    episode, worst, reset, counts = found
    assert episode.name == (
        "two jobs, 1,100 instructions: episode of 15 steps (4e+03 against 2e+03 ms)"
    )
    assert (episode.measured, worst.value, reset.value, counts.value) == (
        "2.00 x [1.00, 4.00]", 1, 2, 1,
    )  # fmt: skip
    assert (episode.holds, worst.holds, reset.holds) == (True, False, True)


@pytest.mark.parametrize("is_old", [True, False])
def test_an_episode_in_which_the_old_compiler_crashes_does_not_count(
    monkeypatch: pytest.MonkeyPatch, is_old: bool
) -> None:
    env, episodes = Mock(), vars(peer_round)["episodes"]
    ended = ((), 0, True, {"error_type": "ServiceIsClosed"})
    env.step.side_effect = [ended, *[((), 0, False, {})] * 50]
    monkeypatch.setattr(peer_round, "IS_OLD", is_old)
    if not is_old:
        with pytest.raises(RuntimeError, match="ServiceIsClosed"):
            episodes(env, "program", [1], 2, 0)
        return
    found = episodes(env, "program", [1], 2, 0)
    assert set(found) == {"episode of 2 steps", "reset after 2 steps"}
    assert (env.reset.call_count, env.step.call_count) == (4, 7)
    env.step.side_effect = itertools.repeat(ended)
    with pytest.raises(RuntimeError, match="ServiceIsClosed"):
        episodes(env, "program", [1], 2, 0)


def test_a_round_does_the_same_work_on_whichever_library_there_is() -> None:
    program = Path(peer.__file__).parents[1] / "programs" / "crc32" / "crc32.bc"
    asked = {"program": str(program), "actions": ["-gvn", "-sroa", "-gvn"] * 34, "seconds": 0.0}
    found = json.loads(
        subprocess.run(
            [sys.executable, peer.ROUND], input=json.dumps(asked | {"is_idle": True}),
            capture_output=True, text=True, check=True,
            env={"PYTHONPATH": str(peer.ROUND.parents[1]), "PATH": "/usr/bin:/bin"},
        ).stdout
    )  # fmt: skip
    assert 0 < found["changed"] < 4
    assert {kind.replace("102", "100") for kind in found} > set(peer.PROMISES[0])
    assert found["reset after 15 steps"] < found["episode of 15 steps"] < 10
