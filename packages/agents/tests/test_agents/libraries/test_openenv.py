# SPDX-License-Identifier: MIT
"""OpenEnv's own client plays against our server, and its own validation passes."""

import importlib
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compiler_gym_agents import tasks

PACKAGE = Path(__file__).parents[5] / "examples" / "openenv"
TASK = "fewer-instructions/cbench-v1/crc32"
BETTER = [
    "-O2",
    "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;switch-to-lookup;"
    "no-keep-loops;hoist-common-insts;sink-common-insts>",
]
"""What saves an instruction more than -Oz on this program."""


def library(name: str) -> Any:
    pytest.importorskip("openenv", reason="openenv is missing: make integrations")
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    library("openenv")
    server = subprocess.Popen(
        [sys.executable, "-m", "compiler_gym_agents.libraries.openenv", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    said = ""
    while (found := re.search(r"http://127\.0\.0\.1:\d+", said)) is None:
        line = server.stderr.readline()
        assert line, said
        said += line
    yield found[0]
    server.terminate()
    server.communicate(timeout=30)


def connected(address: str) -> Any:
    return library("openenv.core.mcp_client").MCPToolClient(base_url=address).sync()


def called(client: Any, name: str, **arguments: Any) -> Any:
    action = library("openenv.core.env_server").CallToolAction(tool_name=name, arguments=arguments)
    return client.step(action)


@pytest.mark.slow
def test_a_client_plays_a_task_and_is_paid_by_the_judge(address: str) -> None:
    with connected(address) as client:
        begun = client.reset(task=TASK)
        assert begun.observation.task == TASK
        assert "IrInstructionCount" in begun.observation.prompt
        names = [tool.name for tool in client.list_tools()]
        assert "apply" in names
        assert "reset" not in names
        applied = called(client, "apply", actions=BETTER)
        assert (applied.reward, applied.done) == (0.0, False)
        assert "IrInstructionCount" in applied.observation.result
        ended = called(client, "submit")
        assert ended.done
        assert 0 < ended.reward < 0.1
        assert called(client, "apply", actions=["-Oz"]).reward == 0  # paid once
        assert client.state().step_count == 4


@pytest.mark.slow
def test_sessions_do_not_see_each_other_and_nonsense_is_answered(address: str) -> None:
    with connected(address) as one, connected(address) as other:
        assert "reset" in called(one, "apply", actions=["-Oz"]).observation.result
        one.reset(task=TASK)
        other.reset(split="test", index=0)
        called(one, "apply", actions=["-Oz"])
        assert '"applied": []' in called(other, "describe").observation.result
        assert called(other, "rm -rf", path="/").observation.result.startswith("error")
        with pytest.raises(Exception, match="no task"):
            one.reset(task="no such task")


@pytest.mark.slow
def test_tasks_are_listed_by_split(address: str) -> None:
    kind = importlib.import_module("compiler_gym_agents.libraries.openenv").make_environment_class()
    provider = kind()
    assert provider.list_splits() == ["train", "validation", "test"]
    assert provider.num_tasks("test") == len(tasks("test"))
    first = provider.get_task("test", 0)
    assert [first] == provider.get_task_range("test", 0, 1)
    assert first["id"] == tasks("test")[0].id
    with pytest.raises(IndexError, match="no task"):
        provider.get_task("test", 1 << 20)
    with urllib.request.urlopen(f"{address}/compiler_gym/splits") as answer:
        assert b"validation" in answer.read()


@pytest.mark.slow
@pytest.mark.parametrize("given", ["--url", "static"])
def test_its_command_passes_the_server_and_the_package(address: str, given: str) -> None:
    where = ["--url", address] if given == "--url" else [str(PACKAGE), "--level", "static"]
    command = [str(Path(sys.executable).with_name("openenv")), "validate", *where]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Verdict: PASS" in done.stdout


@pytest.mark.slow
def test_every_check_of_a_running_package_that_the_library_has_passes(address: str) -> None:
    """Docker is the library's only way to start a package: here a server that runs is given."""
    validation = library("openenv.validation")
    kinds = library("openenv.validation.types")

    class Running:
        base_url = address

        def inspect(self) -> dict[str, Any]:
            return {}

        def stop(self) -> None:
            pass

    class Provider:
        name = "a server that runs"
        capabilities = frozenset({kinds.ProviderCapability.IMAGE_BUILD})
        supported_network_modes = frozenset({"no-network"})

        def build(self, root: Path, execution: Any) -> str:
            assert (root / execution.dockerfile).is_file()
            return "sha256:" + "0" * 64

        def start(self, spec: Any) -> Running:
            return Running()

    report = validation.run_validation(PACKAGE, provider=Provider())
    found = {result.check_id: result.status.value for result in report.results}
    passed = {name for name, status in found.items() if status == "pass"}
    assert passed == {
        "static.manifest",
        "runtime.startup",
        "runtime.reward_well_formed",
        "runtime.observation_schema",
        "runtime.state_contract",
    }
    others = [r for r in report.results if r.check_id not in passed]
    assert {r.status.value for r in others} == {"skip"}, report.results
    reasons = {line for result in others for line in result.evidence}
    assert all("not implemented in this build" in r or "provider" in r for r in reasons), reasons


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        b'{"task": "nope"}',
        b'{"task": 3}',
        b'{"task": []}',
        b'{"index": "a"}',
        b'{"index": 99999999}',
        b'{"index": -1}',
        b'{"split": "nope"}',
        b'{"split": {}}',
        b'{"unknown": 1}',
        b'{"seed": NaN}',
        b'{"task": "\\ud800"}',
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_an_odd_request_to_begin_is_refused_with_a_reason(address: str, data: bytes) -> None:
    head = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/reset", data, head)
    with pytest.raises(urllib.error.HTTPError, match="HTTP Error 4") as refused:
        urllib.request.urlopen(request)
    assert b"detail" in refused.value.read()


@pytest.mark.slow
@pytest.mark.parametrize("head", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_a_page_of_another_site_is_refused(address: str, head: dict[str, str]) -> None:
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(urllib.request.Request(f"{address}/health", headers=head))
