# SPDX-License-Identifier: MIT
"""A cache, in memory and on disk, of facts about programs that were compiled before.

There is one file for each program and compiler; all processes append to it. Each line holds the
facts of one command line; incomplete lines are skipped. If the cache cannot be read or written,
facts are computed again.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from compiler_gym.files import append

__all__ = ["Facts", "Memo", "open_memo"]

Facts = dict[str, Any]
"""Names of observations and their plain values, for one command line."""

MOST_BYTES = 64 << 20
"""The size at which a file is truncated and started again."""

MOST_KNOWN = 50_000
"""The most command lines of a program in memory; further ones are read from disk again."""

_MOST_PROGRAMS = 256
_KEY_LENGTH = 32
_programs: dict[Path, "Memo"] = {}


class Memo:
    """The facts of one program under one compiler, by command line.

    >>> import tempfile
    >>> memo = Memo(Path(tempfile.mkdtemp()) / "facts")
    >>> memo.add("-O2", {"obj_size": 1200})
    >>> Memo(memo.path).facts("-O2")
    {'obj_size': 1200}
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, Facts] = {}
        self._stored: dict[bytes, list[bytes]] = {}
        self._read_to = 0

    def facts(self, command: str) -> Facts:
        """Return the known facts about `command`, possibly none."""
        facts = self._known.get(command)
        if facts is None:
            if len(self._known) >= MOST_KNOWN:
                self._forget()
            facts = self._known[command] = self._load(command)
        return facts

    def add(self, command: str, facts: Facts) -> None:
        """Add facts about `command`."""
        self.facts(command).update(facts)
        line = _command_key(command) + b" " + json.dumps(facts).encode() + b"\n"
        try:
            self._append(line)
        except OSError:
            # The next process computes them again.
            pass

    def _forget(self) -> None:
        self._known, self._stored, self._read_to = {}, {}, 0

    def _load(self, command: str) -> Facts:
        key = _command_key(command)
        self._read_more()
        facts: Facts = {}
        for line in self._stored.pop(key, ()):
            try:
                facts.update(json.loads(line))
            except ValueError:
                continue
        return facts

    def _read_more(self) -> None:
        """Read the lines that any process has appended since the last call."""
        try:
            size = os.stat(self.path).st_size
            if size < self._read_to:
                self._read_to = 0
            if size == self._read_to:
                return
            with open(self.path, "rb") as file:
                file.seek(self._read_to)
                data = file.read()
        except OSError:
            return
        end = data.rfind(b"\n") + 1
        self._read_to += end
        for line in data[:end].splitlines():
            self._stored.setdefault(line[:_KEY_LENGTH], []).append(line[_KEY_LENGTH + 1 :])

    def _append(self, line: bytes) -> None:
        if self.path.is_file() and self.path.stat().st_size > MOST_BYTES:
            os.truncate(self.path, 0)
        append(self.path, line)


def open_memo(path: Path) -> Memo:
    """Return the memo at `path`; all sessions of this process share it."""
    memo = _programs.pop(path, None) or Memo(path)
    while len(_programs) >= _MOST_PROGRAMS:
        del _programs[next(iter(_programs))]
    _programs[path] = memo
    return memo


def _command_key(command: str) -> bytes:
    return hashlib.blake2b(command.encode(), digest_size=_KEY_LENGTH // 2).hexdigest().encode()
