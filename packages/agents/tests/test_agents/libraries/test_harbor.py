# SPDX-License-Identifier: MIT
"""Folders are what Harbor reads, and their commands serve the tools and judge what was decided."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from compiler_gym_agents import Decisions, find_task, tasks
from compiler_gym_agents.libraries.harbor import export_tasks, main

TASK = "fewer-instructions/cbench-v1/crc32"
HARBOR = Path(__file__).parents[5] / ".venv-integrations" / "harbor" / "bin" / "python"
BETTER = (
    "opt -passes='default<O2>,function(simplifycfg<bonus-inst-threshold=1;forward-switch-cond;"
    "switch-range-to-icmp;switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts>)' "
    "input.bc -o output.bc"
)
"""What saves an instruction more than -Oz on this program."""


def test_a_task_becomes_a_folder_whose_verifier_sees_decisions_alone(tmp_path: Path) -> None:
    (place,) = export_tasks([find_task(TASK)], tmp_path, image="ours:1")
    found = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
    assert found == {"environment/Dockerfile", "instruction.md", "task.toml", "tests/test.sh"}
    assert find_task(TASK).prompt in (place / "instruction.md").read_text()
    config = tomllib.loads((place / "task.toml").read_text())
    assert config["artifacts"] == ["/logs/artifacts/decisions.json"]
    assert config["verifier"]["environment_mode"] == "separate"
    assert config["environment"]["docker_image"] == "ours:1"
    (server,) = config["environment"]["mcp_servers"]
    assert server["args"][-2:] == [TASK, "/logs/artifacts/decisions.json"]
    assert "judge" in (place / "tests/test.sh").read_text()


def test_a_split_is_exported_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["export", str(tmp_path), "--split", "validation", "--difficulty", "easy"])
    count = len(tasks("validation", difficulty="easy"))
    assert f"{count} tasks" in capsys.readouterr().out
    assert len(list(tmp_path.glob("*/task.toml"))) == count > 0


@pytest.mark.parametrize("text", ["", "nonsense", '{"task": 7}', '{"reward": 1.0}', None])
def test_a_file_that_holds_no_decisions_is_worth_nothing(tmp_path: Path, text: str | None) -> None:
    kept, reward = tmp_path / "decisions.json", tmp_path / "logs" / "reward.json"
    if text is not None:
        kept.write_text(text)
    main(["judge", TASK, str(kept), str(reward)])
    assert json.loads(reward.read_text()) == {"reward": 0.0}


@pytest.mark.slow
def test_decisions_in_the_file_are_judged(tmp_path: Path) -> None:
    kept, reward = tmp_path / "decisions.json", tmp_path / "reward.json"
    kept.write_text(Decisions(TASK, BETTER).json())
    main(["judge", TASK, str(kept), str(reward)])
    assert 0 < json.loads(reward.read_text())["reward"] < 0.1


@pytest.mark.slow
def test_a_served_tool_leaves_the_decisions_in_the_file(tmp_path: Path) -> None:
    kept = tmp_path / "deep" / "decisions.json"
    calls = [
        {"id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/call", "params": {
            "name": "apply", "arguments": {"actions": ["-O2"]}}},
    ]  # fmt: skip
    command = [
        sys.executable,
        "-m",
        "compiler_gym_agents.libraries.harbor",
        "serve",
        TASK,
        str(kept),
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for call in calls:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **call}) + "\n")
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
        assert server.wait(timeout=60) == 0
    assert "IrInstructionCount" in json.dumps(answers[1])
    assert "default<O2>" in Decisions.parse_raw(kept.read_text()).commandline


@pytest.mark.slow
@pytest.mark.skipif(not HARBOR.exists(), reason="harbor is missing: make integrations")
def test_harbor_reads_every_folder(tmp_path: Path) -> None:
    places = export_tasks(tasks("test"), tmp_path)
    reads = (
        "import sys; from pathlib import Path; from harbor.models.task.task import Task\n"
        "for place in Path(sys.argv[1]).iterdir():\n"
        "    assert Task.is_valid_dir(place), place\n"
        "    print(Task(place).name)"
    )
    done = subprocess.run(
        [HARBOR, "-c", reads, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(places)
