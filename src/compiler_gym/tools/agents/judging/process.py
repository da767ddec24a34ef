# SPDX-License-Identifier: MIT
"""The judge's process: ``python -I -m compiler_gym.tools.agents.judging.process``.

It says that it is ready, and answers requests, one JSON object a line. Before anything else is
imported it moves its two streams away, so that what a compiler or a program prints, or reads, is
no answer and no request.
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
    from compiler_gym.tools.agents.judging.measuring import measure
    from compiler_gym.tools.agents.task import AgentTask, Decisions

    # A judge that cannot see these starts no task: it ends before it says that it is ready.
    find_helper()
    find_bundled_folder()

    def say(**fields: Any) -> None:
        answers.write(json.dumps(fields) + "\n")
        answers.flush()

    say(ready=True)
    os.dup2(0, 2)  # whoever started this reads errors until now
    for line in requests:
        asked: dict[str, Any] = json.loads(line)
        try:
            verdict = measure(AgentTask(**asked["task"]), Decisions(**asked["decisions"]))
        except CompilerGymError as error:
            say(nonce=asked["nonce"], trouble=f"{type(error).__name__}: {error}")
        else:
            say(nonce=asked["nonce"], verdict=verdict.dict())


def move_streams() -> tuple[Any, Any]:
    """Return the streams of requests and answers; what their descriptors were is nothing now."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)
    os.close(nothing)
    return requests, answers


if __name__ == "__main__":
    sys.exit(main())
