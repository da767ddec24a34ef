# SPDX-License-Identifier: MIT
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym import CompilerEnvState
from compiler_gym.errors import CompilerGymError, StateFileError
from compiler_gym.runs import RunFolder
from compiler_gym.tools.tune import PLAN_FILE, BinaryPlan, BuildPlan, write_plan
from compiler_gym_explorer.porting import (
    import_episodes,
    read_fragment,
    recordings,
    write_fragment,
)
from compiler_gym_explorer.records import Episode, ImportRequest, Source

from .conftest import Client, Session

STATE = CompilerEnvState(
    "cbench-v1/crc32",
    "opt -discard-value-names -passes='function(mem2reg)' input.bc -o output.bc",
    1.0,
    0.5,
    action_space="Passes",
    environment="llvm-v0",
)


def test_a_fragment_holds_all_that_leads_to_a_state() -> None:
    source = Source(text='int main() { return "ä"[0]; }', language="C", name="a.c")
    episode = Episode(environment="llvm-v0", source=source, actions=["mem2reg", 3, [1, 2]])
    fragment = write_fragment(episode)
    assert set(fragment) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")
    assert read_fragment(f"#{fragment}") == episode


@pytest.mark.parametrize("text", ["s1.", "s1.AAAA", "s1.!!", "s1." + "A" * 100])
def test_a_damaged_fragment_is_refused(text: str) -> None:
    with pytest.raises(StateFileError, match="damaged"):
        read_fragment(text)


def test_a_fragment_that_unpacks_without_end_is_refused() -> None:
    import base64
    import zlib

    bomb = base64.urlsafe_b64encode(zlib.compress(b" " * (64 << 20), 9)).decode()
    with pytest.raises(StateFileError, match="too long"):
        read_fragment(f"s1.{bomb}")


def test_states_are_read_as_json_lines_lists_and_csv() -> None:
    line = STATE.json()
    csv = f"benchmark,reward,walltime,commandline\n{STATE.benchmark},0.5,1,opt input.bc -o x.bc\n"
    for text in (line, f"{line}\n{line}", f"[{line}, {line}]", csv):
        found = import_episodes(ImportRequest(text=text))
        assert found.kind == "state"
        assert found.episodes[0].benchmark == STATE.benchmark
        assert found.episodes[0].reward == 0.5


def test_runs_entries_and_plans_are_read_from_where_they_lie(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path / "run", "search", {}) as run:
        run.record("one", {"reward": 0.5}, STATE)
    found = import_episodes(ImportRequest(path=str(tmp_path / "run")))
    assert (found.kind, found.episodes[0].commandline) == ("run", STATE.commandline)

    plan = BuildPlan(
        "llvm 22", "size", "1", (BinaryPlan("bin/x", "program", passes="function(gvn)"),)
    )
    write_plan(tmp_path / PLAN_FILE, plan)
    (tmp_path / "report.json").write_text("{}")
    shutil.copy(tmp_path / PLAN_FILE, tmp_path / "kept.toml")
    for path in (tmp_path, *(tmp_path / name for name in (PLAN_FILE, "report.json", "kept.toml"))):
        found = import_episodes(ImportRequest(path=str(path)))
        assert found.kind == "tuning"
        assert found.episodes[0].commandline == "function(gvn)"
        assert found.episodes[0].environment == "llvm-v0"
    report = {"compiler": "LLVM 22", "binaries": [{"name": "x", "passes": "function(gvn)"}]}
    found = import_episodes(ImportRequest(text=json.dumps(report)))
    assert (found.kind, found.episodes[0].title) == ("tuning", "x")

    entries = sorted((Path(__file__).parents[4] / "leaderboard").glob("*/*/submission.toml"))
    found = import_episodes(ImportRequest(path=str(entries[0].parent)))
    assert found.kind == "leaderboard"
    assert found.episodes[0].commandline


def test_recordings_are_found_a_few_folders_down_and_none_within_another(tmp_path: Path) -> None:
    def made(folder: str, name: str) -> None:
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / name).write_text("")

    made("runs/one", "states.jsonl")
    made("a/b/entry", "submission.toml")
    made("tuned", PLAN_FILE)
    made("tuned/front", PLAN_FILE)
    made("a/b/c/d", PLAN_FILE)
    made(".hidden", PLAN_FILE)
    found = {(one.kind, Path(one.path).name) for one in recordings(tmp_path)}
    assert found == {("run", "one"), ("leaderboard", "entry"), ("tuning", "tuned")}
    assert recordings(tmp_path / "nowhere") == []


@pytest.mark.parametrize(
    "asked",
    [
        ImportRequest(),
        ImportRequest(text="x", path="y"),
        ImportRequest(text=" "),
        ImportRequest(text="{"),
        ImportRequest(text="[1, 2]"),
        ImportRequest(text='{"binaries": 3}'),
        ImportRequest(path="/nowhere/at/all"),
        ImportRequest(path="/etc"),
        ImportRequest(path="/dev/zero"),
        ImportRequest(path="/dev/stdin"),
        ImportRequest(path="/proc/kmsg"),
        ImportRequest(path="a\0b"),
        ImportRequest(path="~nobody-of-this-name/x"),
        ImportRequest(path="x" * 5000),
    ],
)
def test_a_text_without_a_state_is_refused(asked: ImportRequest) -> None:
    with pytest.raises(CompilerGymError):
        import_episodes(asked)


def test_a_file_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "long.jsonl").open("wb") as file:
        file.truncate(65 << 20)
    with pytest.raises(StateFileError, match="exceed the limit"):
        import_episodes(ImportRequest(path=str(tmp_path / "long.jsonl")))


def test_every_form_that_leaves_leads_back(client: Client, crc: Session, tmp_path: Path) -> None:
    nodes = crc.step("mem2reg", "gvn")
    export = crc.get(f"/nodes/{nodes[1]['id']}/export")
    for text in (export["fragment"], json.dumps(export["state"])):
        (episode,) = client.post("/api/import", {"text": text}, 200)["episodes"]
        with client.open(episode=episode) as again:
            at = again.record["nodes"][again.record["at"]]
            assert at["costs"] == nodes[1]["costs"]
            assert at["total"] == pytest.approx(nodes[1]["total"])
    assert export["state"]["reward"] == pytest.approx(nodes[1]["total"])
    assert nodes[1]["total"] > 0
    assert "mem2reg" in export["commandline"]
    ran = subprocess.run(
        [sys.executable, "-c", export["python"]],
        capture_output=True, text=True, timeout=100, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert export["state"]["state_hash"] in ran.stdout


def test_a_pasted_program_leaves_with_its_text(
    client: Client, loop: Session, tmp_path: Path
) -> None:
    (node,) = loop.step("mem2reg")
    export = loop.get(f"/nodes/{node['id']}/export")
    (episode,) = client.post("/api/import", {"text": export["fragment"]}, 200)["episodes"]
    with client.open(episode=episode) as again:
        assert again.get("")["nodes"][1]["costs"] == node["costs"]
    ran = subprocess.run(
        [sys.executable, "-c", export["python"]],
        capture_output=True, text=True, timeout=100, check=True,
    )  # fmt: skip
    assert export["state"]["state_hash"] in ran.stdout
    for text in (json.dumps(export["state"]), json.dumps(export["state"], indent=1)):
        (path := tmp_path / "state.json").write_text(text)
        for asked in ({"text": text}, {"path": str(path)}):
            (episode,) = client.post("/api/import", asked, 200)["episodes"]
            with client.open(episode=episode) as again:
                assert again.get("")["nodes"][1]["costs"] == node["costs"]


def test_a_damaged_source_of_a_state_is_refused() -> None:
    line = json.loads(STATE.json()) | {"source": {"text": 3}}
    with pytest.raises(StateFileError, match="source"):
        import_episodes(ImportRequest(text=json.dumps(line)))


def test_additions_of_a_page_to_a_fragment_are_ignored() -> None:
    episode = Episode(environment="llvm-v0", actions=["mem2reg"])
    assert read_fragment(f"#{write_fragment(episode)}&step=1&view=graph") == episode
