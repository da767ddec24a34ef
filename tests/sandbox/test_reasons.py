# SPDX-License-Identifier: MIT
"""What the kernel says when it makes no namespaces is told in words that lead somewhere."""

import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym.sandbox.reasons import explain_failure

CONTAINER = "Name:\tpython\nSeccomp:\t2\n"
HOST = "Name:\tpython\nSeccomp:\t0\n"


def settings(folder: Path, **values: str) -> Path:
    """Return a folder like /proc/sys with these settings; ``__`` stands for a slash."""
    for name, value in values.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{value}\n")
    return folder


@pytest.mark.parametrize(
    ("said", "values", "status", "expected"),
    [
        (
            "make namespaces: No space left on device", {"user__max_user_namespaces": "0"}, HOST,
            "allows none .*sysctl user.max_user_namespaces=10000",
        ),
        (
            "make namespaces: No space left on device",
            {"user__max_user_namespaces": "9", "user__max_net_namespaces": "0"}, HOST,
            "allows none .*sysctl user.max_net_namespaces=10000",
        ),
        (
            "make namespaces: No space left on device", {"user__max_user_namespaces": "9"}, HOST,
            r"are in use, here or further out \(9\)",
        ),
        (
            "make namespaces: Operation not permitted",
            {"kernel__unprivileged_userns_clone": "0"}, HOST,
            "disabled for ordinary users .*sysctl kernel.unprivileged_userns_clone=1",
        ),
        (
            "make mounts private: Permission denied",
            {"kernel__apparmor_restrict_unprivileged_userns": "1"}, HOST,
            "AppArmor .*kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("make namespaces: Operation not permitted", {}, CONTAINER, "seccomp=unconfined"),
        ("make namespaces: Function not implemented", {}, CONTAINER, "seccomp=unconfined"),
        ("make namespaces: Invalid argument", {}, HOST, "CONFIG_USER_NS"),
        ("make namespaces: Too many users", {}, HOST, "nested too deeply"),
        ("mount /proc: Operation not permitted", {}, CONTAINER, "systempaths=unconfined"),
        ("open_tree: Function not implemented", {}, HOST, "older than Linux 5.12"),
        ("become nobody: Operation not permitted", {}, HOST, "SETUID, SETGID and CHOWN"),
    ],
)  # fmt: skip
def test_a_reason_says_what_it_means(
    said: str, values: dict[str, str], status: str, expected: str, tmp_path: Path
) -> None:
    import re

    text = explain_failure(said, settings=settings(tmp_path, **values), status=status)
    assert re.search(expected, text)
    assert "No space left" not in text


def test_an_unknown_reason_is_passed_on(tmp_path: Path) -> None:
    for said in ("pivot_root: Device or resource busy", "sentence", ""):
        assert explain_failure(said, settings=tmp_path, status=HOST) == said


def test_a_machine_that_allows_no_namespaces_reports_it() -> None:
    script = "from compiler_gym.sandbox import *; print(why_not(Sandbox.NAMESPACES))"
    inner = f"echo 0 > /proc/sys/user/max_user_namespaces && exec '{sys.executable}' -c '{script}'"
    words = ["unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c", inner]
    try:
        done = subprocess.run(words, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("needs unshare")
    if done.returncode:
        pytest.skip(f"needs a namespace of users to switch others off in: {done.stderr[:200]}")
    assert "No space left" not in done.stdout
    assert "user.max_user_namespaces" in done.stdout or "become nobody" in done.stdout
