# SPDX-License-Identifier: MIT
"""What stands for a compiler says why it cannot, and leaves clang's calls of itself alone."""

from pathlib import Path

import pytest

from compiler_gym_inline.llvm.serving.launcher import main


def test_without_a_server_it_fails_and_reports_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "socket"), "driver", "/usr/bin/clang", "-c", "x.c"]) == 1
    assert "clang: error: cannot reach the policy at" in capfd.readouterr().err


def test_a_call_of_clang_by_clang_becomes_the_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    became: list[list[str]] = []

    def become(path: str, words: list[str]) -> None:
        became.append(words)
        raise SystemExit(0)

    monkeypatch.setattr("os.execv", become)
    with pytest.raises(SystemExit, match="0"):
        main([str(tmp_path / "socket"), "driver", "/usr/bin/clang", "-cc1", "x.c"])
    assert became == [["/usr/bin/clang", "-cc1", "x.c"]]
