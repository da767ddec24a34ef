# SPDX-License-Identifier: MIT
"""A process that writes shards; it reads their numbers from standard input, one per line.

It answers with lines of JSON: the number of steps so far, a note that the shard is written, or
the error. It exits when its parent does.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from compiler_gym.errors import CompilerGymError
from compiler_gym.options import CollectOptions
from compiler_gym.service import bind_to_parent
from compiler_gym.tools.learn.collection.playing import Player

__all__ = ["main", "options_from", "options_to"]

_SECONDS = 0.5
"""The time between two progress messages."""


def options_to(options: CollectOptions) -> dict[str, Any]:
    """Return `options` as a JSON object."""
    return json.loads(msgspec.json.encode(options))


def options_from(plain: dict[str, Any]) -> CollectOptions:
    """Return the options that `options_to` turned into `plain`."""
    return msgspec.convert(plain, CollectOptions)


def main() -> None:
    """Write the shards whose numbers arrive on standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    bind_to_parent(int(sys.argv[1]))
    # Keep a policy's own prints out of the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    request = json.loads(sys.stdin.readline())
    folder = Path(request["folder"])
    try:
        with Player(options_from(request["options"])) as player:
            for line in sys.stdin:
                _answer_for(player, int(line), folder, answers)
    except CompilerGymError as error:
        print(json.dumps({"error": type(error).__name__, "message": str(error)}), file=answers)


def _answer_for(player: Player, shard: int, folder: Path, answers: Any) -> None:
    reported = time.monotonic()

    def tick(steps: int) -> None:
        nonlocal reported
        if time.monotonic() - reported > _SECONDS:
            reported = time.monotonic()
            print(json.dumps({"steps": steps}), file=answers)

    player.write(shard, folder / f"{shard:06}.parquet", tick)
    print(json.dumps({"written": shard}), file=answers)


if __name__ == "__main__":
    main()
