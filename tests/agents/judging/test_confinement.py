# SPDX-License-Identifier: MIT
import json
import subprocess
from pathlib import Path

import pytest

from compiler_gym.agents.judging.confinement import ENVIRONMENT, NAMESPACES, confined

LOOK = """
import json, os, socket
def tried(call):
    try:
        call()
    except OSError:
        return False
    return True
print(json.dumps({
    "variables": dict(os.environ),
    "writes": tried(lambda: open({path!r}, "w").close()),
    "reaches": tried(lambda: socket.create_connection(("1.1.1.1", 53), 0.2)),
    "sees": tried(lambda: os.kill({pid}, 0)),
}))
"""


def test_the_judge_has_no_variables_no_network_and_no_files_of_its_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD_X", "cheat")
    with subprocess.Popen(["sleep", "60"]) as other:
        script = LOOK.replace("{path!r}", repr(str(tmp_path / "reward"))).replace(
            "{pid}", str(other.pid)
        )
        command, box = confined("-c", script)
        if box != NAMESPACES:
            pytest.skip("bubblewrap cannot make namespaces here")
        done = subprocess.run(command, env=dict(ENVIRONMENT), capture_output=True, check=True)
        other.kill()
    seen = json.loads(done.stdout)
    assert seen["variables"].keys() - {"PWD"} == ENVIRONMENT.keys()
    assert not seen["writes"]
    assert not seen["reaches"]
    assert not seen["sees"]
    assert not (tmp_path / "reward").exists()


def test_without_namespaces_the_judge_is_a_process_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("compiler_gym.agents.judging.confinement._bubblewrap", lambda: ())
    command, box = confined()
    assert box == "process"
    assert command[1:3] == ["-I", "-m"]
