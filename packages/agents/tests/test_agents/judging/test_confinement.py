# SPDX-License-Identifier: MIT
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym_agents.judging import confinement
from compiler_gym_agents.judging.confinement import ENVIRONMENT, NAMESPACES, confine_judge

LOOK = """
import json, os, socket, sys
def tried(call):
    try:
        call()
    except OSError:
        return False
    return True
path, port, pid = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
print(json.dumps({
    "variables": sorted(os.environ),
    "writes": tried(lambda: open(path, "w").close()),
    "reaches": tried(lambda: socket.create_connection(("127.0.0.1", port), 1)),
    "sees": tried(lambda: os.kill(pid, 0)),
}))
"""
WRITTEN = Path(compiler_gym.__file__).parent / "reward"
"""A place that is not in memory, and that whoever runs the tests may write to."""


def test_the_judge_has_no_variables_no_network_and_no_files_of_its_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REWARD", "9")
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = (str(WRITTEN), str(server.getsockname()[1]), str(os.getpid()))
        command, box = confine_judge("-c", LOOK, *place)
        if box != NAMESPACES:
            pytest.skip("bubblewrap cannot make namespaces here")
        done = subprocess.run(command, env=dict(ENVIRONMENT), capture_output=True, check=True)
    seen = json.loads(done.stdout)
    assert set(seen.pop("variables")) - {"PWD"} == ENVIRONMENT.keys()
    assert seen == {"writes": False, "reaches": False, "sees": False}
    assert not WRITTEN.exists()


def test_without_namespaces_the_judge_is_a_process_and_reports_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("compiler_gym_agents.judging.confinement._bubblewrap", lambda: ())
    command, box = confine_judge()
    assert box == "process"
    assert command[1:3] == ["-I", "-m"]


@pytest.mark.parametrize("folder", ["/tmp", "/var/tmp", "/run", "/dev/shm"])
def test_the_judge_sees_python_and_the_library_wherever_they_are(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not os.access(folder, os.W_OK):
        pytest.skip(f"needs a {folder} that can be written")
    with tempfile.TemporaryDirectory(prefix="a place ", dir=folder) as place:
        real, link = Path(place, "real folder"), Path(place, "link")
        (real / "library").mkdir(parents=True)
        (real / "library" / "file").write_text("seen")
        link.symlink_to(real)
        hidden = Path(place, "hidden")
        hidden.write_text("agent's")
        (real / "programs").mkdir()
        (real / "programs" / "_cases.py").touch()
        monkeypatch.setattr(
            "compiler_gym_agents.judging.confinement.find_bundled_folder",
            lambda: link / "programs",
        )
        monkeypatch.setattr(sys, "path", [*sys.path, str(link / "library"), folder])
        confinement._bubblewrap.cache_clear()  # pyright: ignore[reportPrivateUsage]
        try:
            paths = [link / "library/file", real / "programs/_cases.py", hidden]
            look = "import os, sys; print(*map(os.path.exists, sys.argv[1:]))"
            command, box = confine_judge("-c", look, *map(str, paths))
        finally:
            confinement._bubblewrap.cache_clear()  # pyright: ignore[reportPrivateUsage]
        if box != NAMESPACES:
            pytest.skip("bubblewrap cannot make namespaces here")
        done = subprocess.run(command, env=dict(ENVIRONMENT), capture_output=True, check=True)
    assert done.stdout == b"True True False\n"
