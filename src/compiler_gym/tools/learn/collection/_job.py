# SPDX-License-Identifier: MIT
"""A process that writes shards: it is told numbers on standard input, one a line.

It answers with lines of JSON: how many steps it has made, then that the shard is written, or
the error. It ends with its parent.
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
"""Between two messages about the steps."""


def options_to(options: CollectOptions) -> dict[str, Any]:
    """Return `options` as JSON holds them."""
    return json.loads(msgspec.json.encode(options))


def options_from(plain: dict[str, Any]) -> CollectOptions:
    """Return the options that `options_to` made `plain` from."""
    return msgspec.convert(plain, CollectOptions)


def main() -> None:
    """Write the shards whose numbers come in."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this says when to stop
    bind_to_parent(int(sys.argv[1]))
    # What a policy prints is no answer.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    given = json.loads(sys.stdin.readline())
    folder = Path(given["folder"])
    try:
        with Player(options_from(given["options"])) as player:
            for line in sys.stdin:
                _answer_for(player, int(line), folder, answers)
    except CompilerGymError as error:
        print(json.dumps({"error": type(error).__name__, "message": str(error)}), file=answers)


def _answer_for(player: Player, shard: int, folder: Path, answers: Any) -> None:
    told = time.monotonic()

    def tick(steps: int) -> None:
        nonlocal told
        if time.monotonic() - told > _SECONDS:
            told = time.monotonic()
            print(json.dumps({"steps": steps}), file=answers)

    player.write(shard, folder / f"{shard:06}.parquet", tick)
    print(json.dumps({"written": shard}), file=answers)


if __name__ == "__main__":
    main()
