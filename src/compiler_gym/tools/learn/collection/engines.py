# SPDX-License-Identifier: MIT
"""Engines that write the shards of a collection: in this process, in several, or on Ray.

An engine yields the number of each shard once its file exists. Each shard has a single writer.
Run as a program, this module is one of several processes: it reads its options and then the numbers
of shards from standard input, one per line, and answers with lines of JSON.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Self, TextIO, cast

import msgspec

from compiler_gym.errors import (
    CompilerGymError,
    RecordingError,
    WorkerCrashedError,
    error_from_name,
)
from compiler_gym.files import remove_left, scratch_directory, write_whole, writing
from compiler_gym.lazy import load_named
from compiler_gym.options import CollectOptions
from compiler_gym.search import available_jobs
from compiler_gym.service import bind_to_parent
from compiler_gym.tools.learn.collection.playing import Player

_MODULE = "compiler_gym.tools.learn.collection.engines"
_SECONDS = 0.5
"""The time between two progress messages of a process."""
Tick = Callable[[int, int], None]
"""Called with the number of a shard and its steps so far."""
Engine = Callable[[CollectOptions, Sequence[int], Path, Tick], Generator[int]]


def name_shard_file(folder: Path, shard: int) -> Path:
    """Return the path of a shard's file."""
    return folder / f"{shard:06}.parquet"


def decode_options(text: str | bytes) -> CollectOptions:
    """Return the options in JSON text."""
    return msgspec.json.decode(text, type=CollectOptions)


def engine_for(options: CollectOptions, count: int) -> Engine:
    """Return the engine for `options` and a number of missing shards."""
    jobs = min(options.jobs or available_jobs(), count)
    if options.ray:
        return _on_ray
    return _in_this_process if jobs <= 1 else partial(_in_processes, jobs=jobs)


def _in_this_process(
    options: CollectOptions, shards: Sequence[int], folder: Path, tick: Tick
) -> Generator[int]:
    with Player(options) as player:
        for shard in shards:
            player.write(shard, name_shard_file(folder, shard), partial(tick, shard))
            yield shard


def _in_processes(
    options: CollectOptions, shards: Sequence[int], folder: Path, tick: Tick, *, jobs: int
) -> Generator[int]:
    waiting = iter(shards)
    answers: queue.Queue[tuple[_Job, str]] = queue.Queue()
    try:
        with ExitStack() as stack:
            working = {stack.enter_context(_Job(options, folder, answers)) for _ in range(jobs)}
            for job in list(working):
                job.give(next(waiting, None))
            while working:
                job, line = answers.get()
                if not line:
                    if job.shard is not None:
                        job.complain()
                    working.discard(job)
                    continue
                answer: dict[str, Any] = json.loads(line)
                if "error" in answer:
                    raise error_from_name(answer["error"], answer["message"])
                shard = job.shard
                assert shard is not None
                if "steps" in answer:
                    tick(shard, answer["steps"])
                else:
                    job.give(next(waiting, None))
                    yield shard
    finally:
        remove_left(folder, ".*.partial")


class _Job:
    """A process that writes one shard after another; it is killed at the end of the block."""

    def __init__(
        self, options: CollectOptions, folder: Path, answers: "queue.Queue[tuple[_Job, str]]"
    ) -> None:
        self.shard: int | None = None
        """The number of the shard being written."""
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "compiler_gym.tools.learn.collection.engines",
                str(os.getpid()),
                str(folder.absolute()),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answers = answers
        self._say(msgspec.json.encode(options).decode())
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def give(self, shard: int | None) -> None:
        """Send the number of the next shard; None closes the process's input."""
        self.shard = shard
        if shard is not None:
            self._say(str(shard))
            return
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()

    def complain(self) -> NoReturn:
        """Raise `WorkerCrashedError` for a process that ended in the middle of a shard."""
        status = self._process.wait()
        raise WorkerCrashedError(
            f"the process that collects shard {self.shard} exited with status {status}; complete "
            "shards are kept: resume, with fewer --jobs if memory was short",
            exit_status=status,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._process.kill()
        self._process.wait()
        self._listener.join()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # its last answer reports that it has exited
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._answers.put((self, line))
        self._answers.put((self, ""))


def _on_ray(
    options: CollectOptions, shards: Sequence[int], folder: Path, tick: Tick
) -> Generator[int]:
    spread_tasks = load_named("compiler_gym.tools.learn.integrations.ray:spread_tasks")
    for shard, result in spread_tasks(shards, partial(_write_shard, msgspec.json.encode(options))):
        if isinstance(result, tuple):
            raise error_from_name(*cast("tuple[str, str]", result))
        if isinstance(result, Exception):  # Ray gave up on it
            raise WorkerCrashedError(
                f"shard {shard} was lost ({str(result).splitlines()[0]}); complete shards are "
                "kept: resume the collection"
            ) from result
        with writing(name_shard_file(folder, shard), RecordingError):
            write_whole(name_shard_file(folder, shard), result, sync=True)
        yield shard


def _write_shard(options: bytes, shard: int) -> bytes | tuple[str, str]:
    """Write a shard on some node; return its bytes, or the name and message of an error."""
    try:
        with scratch_directory("shard") as scratch, Player(decode_options(options)) as player:
            path = name_shard_file(Path(scratch), shard)
            player.write(shard, path)
            return path.read_bytes()
    except CompilerGymError as error:  # its constructor may need more than a message
        return type(error).__name__, str(error)


def main() -> None:
    """Write the shards whose numbers arrive on standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    bind_to_parent(int(sys.argv[1]))
    # Keep a policy's own prints out of the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    try:
        with Player(decode_options(sys.stdin.readline())) as player:
            for line in sys.stdin:
                _answer_for(player, int(line), Path(sys.argv[2]), answers)
    except CompilerGymError as error:
        print(json.dumps({"error": type(error).__name__, "message": str(error)}), file=answers)


def _answer_for(player: Player, shard: int, folder: Path, answers: TextIO) -> None:
    reported = time.monotonic()

    def tick(steps: int) -> None:
        nonlocal reported
        if time.monotonic() - reported > _SECONDS:
            reported = time.monotonic()
            print(json.dumps({"steps": steps}), file=answers)

    player.write(shard, name_shard_file(folder, shard), tick)
    print(json.dumps({"written": shard}), file=answers)


if __name__ == "__main__":
    main()
