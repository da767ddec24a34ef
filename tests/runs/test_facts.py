# SPDX-License-Identifier: MIT
"""What a run depends on is written down."""

import json
import subprocess
from pathlib import Path

import pytest

from compiler_gym.runs import RunFolder
from compiler_gym.runs.facts import facts

CONFIG = {"task": "demo", "limit": 3}


def test_a_run_says_what_it_depends_on(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path / "run", "training", CONFIG, seeds={"env": 7}) as run:
        assert not run.is_done
    document = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (document["kind"], document["config"], document["seeds"]) == (
        "training", CONFIG, {"env": 7},
    )  # fmt: skip
    assert {"compiler_gym", "python", "numpy"} <= document["versions"].keys()
    assert document["host"]["processors"] >= 1
    assert set(document) >= {"started", "command", "git"}
    assert RunFolder.open(tmp_path / "run", "training", CONFIG, seeds={"env": 7}).is_done


def test_a_revision_is_that_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert facts()["git"] is None
    name = ("-c", "user.name=n", "-c", "user.email=e")
    for command in (("init", "-q"), (*name, "commit", "-q", "--allow-empty", "-m", "m")):
        subprocess.run(["git", *command], check=True)
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], text=True).strip()
    assert facts()["git"] == {"revision": head, "changed": False}
    (tmp_path / "a").touch()
    assert facts()["git"]["changed"] is False, "what git does not follow does not count"
    subprocess.run(["git", "add", "a"], check=True)
    assert facts()["git"]["changed"] is True


def test_without_git_there_is_no_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = facts()
    assert found["git"] is None
    assert found["host"]["processor"]
    json.dumps(found)
