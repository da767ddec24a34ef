# SPDX-License-Identifier: MIT
"""``compiler-gym serve-policy`` as a shell sees it."""

import shutil
from pathlib import Path

import pytest

from tests.command_line import Run

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")

TWO = """
int used(int);
static int twice(int x) { int s = 0; for (int i = 0; i < x; i++) s += used(i * x); return s; }
int f(int a) { return twice(a) + twice(a + 1); }
"""


def test_a_command_compiles_with_the_policy_and_its_status_is_ours(
    cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.c").write_text(TWO)
    build = ["sh", "-c", 'clang -Oz -c two.c && "$CC" -Oz -c two.c -o again.o && exit 7']
    ran = cli("serve-policy", "default", "--", *build)
    assert ran.status == 7
    assert "4 decisions; 4 match LLVM's own" in ran.errors
    assert (tmp_path / "two.o").read_bytes() == (tmp_path / "again.o").read_bytes()


def test_a_policy_that_fails_fails_the_command(
    cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.c").write_text(TWO)
    (tmp_path / "bad.py").write_text("def decide(features):\n    return 'perhaps'\n")
    ran = cli("serve-policy", "bad.py", "--", "sh", "-c", "clang -Oz -c two.c || true")
    assert ran.status == 1
    assert "the policy failed 1 times" in ran.errors


def test_a_policy_that_there_is_not_is_refused(cli: Run) -> None:
    ran = cli("serve-policy", "nothing", "--", "true")
    assert ran.status == 2
    assert "use default, FILE.py, FILE.py:NAME, FILE.c or FILE.so" in ran.errors
