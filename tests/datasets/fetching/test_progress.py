# SPDX-License-Identifier: MIT
import io

import pytest

from compiler_gym.datasets.fetching.progress import transfer_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with transfer_bar("Downloading x") as report:
        report(512, 1024)
        report(1024, 1024)
    assert "Downloading x" in terminal.getvalue()


def test_a_file_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    with transfer_bar("Downloading x") as report:
        report(512, None)
    assert log.getvalue() == ""
