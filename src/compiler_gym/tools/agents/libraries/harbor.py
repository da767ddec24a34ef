# SPDX-License-Identifier: MIT
"""Tasks as folders in the format of Harbor, which several trainers read.

    python -m compiler_gym.integrations.harbor export FOLDER --split test --difficulty easy

In a task's container the agent gets the tools over the Model Context Protocol, and after every
call its decisions are a file. That file is all that reaches the container of the verifier, where
the judge replays it. Harbor itself is not needed here; the containers need the extra ``mcp``.
"""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tomli_w

from compiler_gym.cli.kit.library import report_errors
from compiler_gym.files import read_regular, write_whole
from compiler_gym.tools.agents import (
    AgentEpisode,
    AgentTask,
    Decisions,
    Verdict,
    find_task,
    judge,
    tasks,
)
from compiler_gym.tools.agents.libraries import mcp

__all__ = ["export_tasks"]

_IMAGE = "compiler-gym"
_DECISIONS = "/logs/artifacts/decisions.json"
_REWARD = "/logs/verifier/reward.json"
_MODULE = "compiler_gym.tools.agents.libraries.harbor"
_MOST_BYTES = 1 << 22
_NEXT = """
The tools of the server `compiler` are the only way to act on the program. Call `submit` when you
are done: what you applied is your answer, and it is compiled again elsewhere to be judged.
"""


def export_tasks(chosen: Iterable[AgentTask], folder: Path, *, image: str = _IMAGE) -> list[Path]:
    """Write a folder for each task; return them.

    Args:
        chosen: The tasks.
        folder: Where the folders are made; files of the same names are replaced.
        image: A container image in which ``python`` has this library.
    """
    made: list[Path] = []
    for task in chosen:
        place = folder / task.id.replace("/", "--").lower()
        files = {
            "task.toml": tomli_w.dumps(_task_config(task, image)),
            "instruction.md": f"{task.prompt}\n{_NEXT}",
            "environment/Dockerfile": f"FROM {image}\n",
            "tests/test.sh": "#!/bin/sh\nexec python -m "
            f"{_MODULE} judge {task.id} {_DECISIONS} {_REWARD}\n",
        }
        for name, text in files.items():
            write_whole(place / name, text.encode())
        (place / "tests/test.sh").chmod(0o755)
        made.append(place)
    return made


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


def _serve_tools(task: AgentTask, kept: Path) -> None:
    """Serve the tools on standard input and output; `kept` always holds the decisions."""
    with AgentEpisode(task) as episode:

        def answer(name: str, arguments: Any) -> tuple[str, bool]:
            answered = episode.answer(name, arguments)
            write_whole(kept, episode.decisions.json().encode())
            return answered

        mcp.serve(mcp.make_server(episode.tools, answer, episode.prompt))


def _verdict_on_file(task: AgentTask, kept: Path) -> Verdict:
    """Return what the decisions in a file are worth, whatever an agent wrote there."""
    try:
        decisions = Decisions.parse_raw(read_regular(kept, most=_MOST_BYTES))
    except (OSError, ValueError) as error:
        return Verdict.refuse(task.id, f"no decisions: {error}")
    return judge(task, decisions)


def main(arguments: list[str] | None = None) -> None:
    """Write the folders, or do what a folder asks for in its containers."""
    parser = argparse.ArgumentParser(prog=f"python -m {_MODULE}")
    verbs = parser.add_subparsers(dest="verb", required=True)
    export = verbs.add_parser("export", help="write a folder for each task")
    export.add_argument("folder", type=Path)
    for name in ("split", "family", "difficulty"):
        export.add_argument(f"--{name}")
    export.add_argument("--image", default=_IMAGE, help="an image that has this library")
    for verb, about in (("serve", "serve the tools"), ("judge", "judge decisions")):
        one = verbs.add_parser(verb, help=about)
        one.add_argument("task")
        one.add_argument("decisions", type=Path)
        if verb == "judge":
            one.add_argument("reward", type=Path)
    options = parser.parse_args(arguments)
    with report_errors(parser):
        _run_verb(options)


def _run_verb(options: argparse.Namespace) -> None:
    if options.verb == "export":
        chosen = tasks(options.split, options.family, options.difficulty)
        made = export_tasks(chosen, options.folder, image=options.image)
        print(f"{len(made)} tasks in {options.folder}")
    elif options.verb == "serve":
        _serve_tools(find_task(options.task), options.decisions)
    else:
        verdict = _verdict_on_file(find_task(options.task), options.decisions)
        write_whole(options.reward, json.dumps({"reward": verdict.reward}).encode())
        print(verdict.reason)


if __name__ == "__main__":
    main()
