# SPDX-License-Identifier: MIT
"""Export tasks as folders in the Harbor format, which several trainers read.

    python -m compiler_gym_agents.libraries.harbor export FOLDER --split test --difficulty easy

In a task's container the agent uses the tools over the Model Context Protocol, and every call
updates a file of its decisions. Only that file reaches the verifier's container, where the judge
replays it. Harbor itself is not needed here; the containers need the extra ``mcp``.
"""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tomli_w

from compiler_gym.cli.kit.library import report_errors
from compiler_gym.files import read_regular, write_whole
from compiler_gym_agents import (
    AgentEpisode,
    AgentTask,
    Decisions,
    Verdict,
    find_task,
    judge,
    tasks,
)
from compiler_gym_agents.libraries import mcp

__all__ = ["export_tasks"]

_IMAGE = "compiler-gym"
_DECISIONS = "/logs/artifacts/decisions.json"
_REWARD = "/logs/verifier/reward.json"
_MODULE = "compiler_gym_agents.libraries.harbor"
_MOST_BYTES = 1 << 22
_NEXT = """
Only the tools of the server `compiler` can change the program. Call `submit` when you are done:
the actions you applied are your answer, and are replayed elsewhere to judge it.
"""


def export_tasks(chosen: Iterable[AgentTask], folder: Path, *, image: str = _IMAGE) -> list[Path]:
    """Write a folder for each task, and return the folders.

    Args:
        chosen: The tasks.
        folder: The parent of the folders; existing files are replaced.
        image: A container image in which ``python`` has this library.
    """
    folders: list[Path] = []
    for task in chosen:
        target = folder / task.id.replace("/", "--").lower()
        files = {
            "task.toml": tomli_w.dumps(_task_config(task, image)),
            "instruction.md": f"{task.prompt}\n{_NEXT}",
            "environment/Dockerfile": f"FROM {image}\n",
            "tests/test.sh": "#!/bin/sh\nexec python -m "
            f"{_MODULE} judge {task.id} {_DECISIONS} {_REWARD}\n",
        }
        for name, text in files.items():
            write_whole(target / name, text.encode())
        (target / "tests/test.sh").chmod(0o755)
        folders.append(target)
    return folders


def _task_config(task: AgentTask, image: str) -> dict[str, Any]:
    server = {
        "name": "compiler",
        "transport": "stdio",
        "command": "python",
        "args": ["-m", _MODULE, "serve", task.id, _DECISIONS],
    }
    box = {"docker_image": image, "cpus": 2, "memory_mb": 4096, "network_mode": "no-network"}
    name = task.id.replace("/", "-").lower()
    return {
        "schema_version": "1.4",
        "artifacts": [_DECISIONS],
        "task": {"name": f"compiler-gym/{name}", "description": task.prompt},
        "metadata": task.dict(include=("id", "split", "family", "difficulty", "baseline")),
        "agent": {"timeout_sec": 1800.0},
        "verifier": {"timeout_sec": 900.0, "environment_mode": "separate"},
        "environment": {**box, "mcp_servers": [server]},
    }


def _serve_tools(task: AgentTask, file: Path) -> None:
    """Serve the tools on standard input and output, and keep the decisions in a file."""
    with AgentEpisode(task) as episode:

        def answer(name: str, arguments: Any) -> tuple[str, bool]:
            result = episode.answer(name, arguments)
            write_whole(file, episode.decisions.json().encode())
            return result

        mcp.serve(mcp.make_server(episode.tools, answer, episode.prompt))


def _verdict_on_file(task: AgentTask, file: Path) -> Verdict:
    """Return the verdict on the decisions in a file, even if an agent corrupted it."""
    try:
        decisions = Decisions.parse_raw(read_regular(file, most=_MOST_BYTES))
    except (OSError, ValueError) as error:
        return Verdict.refuse(task.id, f"cannot read the decisions: {error}")
    return judge(task, decisions)


def main(arguments: list[str] | None = None) -> None:
    """Export tasks, or serve or judge one in a container."""
    parser = argparse.ArgumentParser(prog=f"python -m {_MODULE}")
    verbs = parser.add_subparsers(dest="verb", required=True)
    export = verbs.add_parser("export", help="write a folder for each task")
    export.add_argument("folder", type=Path)
    for name in ("split", "family", "difficulty"):
        export.add_argument(f"--{name}")
    export.add_argument("--image", default=_IMAGE, help="container image with this library")
    for verb, text in (("serve", "serve the tools"), ("judge", "judge decisions")):
        command = verbs.add_parser(verb, help=text)
        command.add_argument("task")
        command.add_argument("decisions", type=Path)
        if verb == "judge":
            command.add_argument("reward", type=Path)
    options = parser.parse_args(arguments)
    with report_errors(parser):
        _run_verb(options)


def _run_verb(options: argparse.Namespace) -> None:
    if options.verb == "export":
        selected = tasks(options.split, options.family, options.difficulty)
        folders = export_tasks(selected, options.folder, image=options.image)
        print(f"wrote {len(folders)} tasks to {options.folder}")
    elif options.verb == "serve":
        _serve_tools(find_task(options.task), options.decisions)
    else:
        verdict = _verdict_on_file(find_task(options.task), options.decisions)
        write_whole(options.reward, json.dumps({"reward": verdict.reward}).encode())
        print(verdict.reason)


if __name__ == "__main__":
    main()
