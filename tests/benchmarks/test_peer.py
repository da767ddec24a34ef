# SPDX-License-Identifier: MIT
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import peer
from benchmarks.__main__ import main

OLD = {
    "instructions": 1_000, "reset": 5.0, "step + IrInstructionCount": 8.0, "multistep": 6.0,
    "step + Autophase + IrInstructionCountOz": 9.0, "fork": 6.0, "changed": 30,
}  # fmt: skip
OURS = {name: value / 2 for name, value in OLD.items()} | {
    "instructions": 1_000, "changed": 29, "bare fork": 2.0,
}  # fmt: skip


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


def test_both_sides_take_turns_and_the_best_of_every_round_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python").touch()
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "one.bc10").write_bytes(b"BC")
    monkeypatch.setenv(peer.VARIABLE, str(tmp_path))
    rounds: list[str] = []

    def run(programs: list[Path], seconds: float, folder: Path | None = None) -> peer.Measured:
        (path,) = map(str, programs)
        is_old = folder == tmp_path
        rounds.append("old" if is_old else "ours")
        slower = 3.0 if len(rounds) < 3 else 1.0
        values = OLD if is_old else OURS
        return {path: {k: v if k in ("instructions", "changed") else v * slower
                       for k, v in values.items()}}  # fmt: skip

    monkeypatch.setattr(peer, "run_round", run)
    figures = {figure.name.partition(": ")[2]: figure for figure in peer.measure()}
    assert rounds == ["old", "ours"] * peer.ROUNDS
    assert figures["multistep of 100"].value == 2.0
    assert figures["multistep of 100"].holds
    assert figures["step + IrInstructionCount"].bound == 4.0
    assert not figures["reset to a program seen before"].holds
    assert figures["fork against a bare one"].value == 1.5
    assert figures["actions that changed it, 0.2.5"].value == 30


def test_a_round_does_the_same_work_on_whichever_library_there_is() -> None:
    program = Path(peer.__file__).parents[1] / "programs" / "crc32" / "crc32.bc"
    asked = {"programs": [str(program)], "actions": ["-gvn", "-sroa", "-gvn"], "seconds": 0.0}
    done = subprocess.run(
        [sys.executable, peer.ROUND], input=json.dumps(asked), capture_output=True, text=True,
        check=True, env={"PYTHONPATH": str(peer.ROUND.parents[1]), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    (found,) = json.loads(done.stdout)["programs"].values()
    assert found.keys() == OURS.keys()
    assert 0 < found["changed"] < 3
    assert found["bare fork"] > 0
