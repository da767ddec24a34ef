# SPDX-License-Identifier: MIT
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import peer
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


@pytest.mark.parametrize("crashes", [1, 5])
def test_a_round_in_which_the_old_compiler_crashes_is_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crashes: int
) -> None:
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(
        "#!/bin/sh\n"
        "echo crash >> crashes\n"
        f"[ $(wc -l < crashes) -gt {crashes} ] && exec echo '{{\"fork\": 1}}'\n"
        "echo 'Service exited with returncode -11' >&2; exit 1\n"
    )
    python.chmod(0o755)
    if crashes == 1:
        assert peer.run_old_round(tmp_path, "cs_7", 1, is_idle=True) == {"fork": 1}
    else:
        with pytest.raises(peer.CrashedError, match="returncode -11"):
            peer.run_old_round(tmp_path, "cs_7", 1, is_idle=True)


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
