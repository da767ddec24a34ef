# SPDX-License-Identifier: MIT
"""The judge's process: ``python -I -m compiler_gym_agents.judging.process``.

It reports that it is ready, then answers requests, one JSON object per line. Before importing
anything else, it moves its streams away from standard input and output, so that a compiler or
program can neither read requests nor print answers.
"""

import os
import sys
from typing import Any

__all__ = ["main", "move_streams"]


def main() -> None:
    """Answer requests until there are no more."""
    requests, answers = move_streams()
    import json

    from compiler_gym.datasets import find_bundled_folder
    from compiler_gym.errors import CompilerGymError
    from compiler_gym.sandbox import find_helper
    from compiler_gym_agents.judging.measuring import measure
    from compiler_gym_agents.task import AgentTask, Decisions

    # Fail before reporting that it is ready if these are missing: no task could start.
    find_helper()
    find_bundled_folder()

    def send(**fields: Any) -> None:
        answers.write(json.dumps(fields) + "\n")
        answers.flush()

    send(ready=True)
    os.dup2(0, 2)  # the parent stops reading errors here
    for line in requests:
        request: dict[str, Any] = json.loads(line)
        try:
            verdict = measure(AgentTask(**request["task"]), Decisions(**request["decisions"]))
        except CompilerGymError as error:
            send(nonce=request["nonce"], trouble=f"{type(error).__name__}: {error}")
        else:
            send(nonce=request["nonce"], verdict=verdict.dict())


def move_streams() -> tuple[Any, Any]:
    """Return the streams of requests and answers, and redirect their descriptors to /dev/null."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(null, stream)
    os.close(null)
    return requests, answers


if __name__ == "__main__":
    sys.exit(main())
