# SPDX-License-Identifier: MIT
"""The commands of a sandbox, its files, and refusals of the kernel."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym.errors import SandboxError
from compiler_gym.sandbox import Sandbox
from compiler_gym.sandbox.box import BoxReport, RunLimits, bounds, try_way
from compiler_gym.sandbox.ways import (
    BUBBLEWRAP,
    DEVICES,
    OWN,
    SYSTEM,
    Way,
    explain_failure,
    find_helper,
    is_system,
    wrap_command,
)
from tests.stand_ins import always


@pytest.mark.parametrize("path", ["/usr", "/usr/bin/cc", "/gnu/store/x-gcc", "/nix/store/y/lib"])
def test_system_paths_are_not_shown_twice(path: str) -> None:
    assert is_system(path)


@pytest.mark.parametrize("path", ["/", "/usrlocal", "/home/usr/bin", "/etc/passwd", "/gnu"])
def test_user_paths_are_not_system_paths(path: str) -> None:
    assert not is_system(path)


def test_every_way_gets_the_same_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = bounds(RunLimits())
    assert [word.removeprefix("--system=") for word in ours if "--system" in word] == [*SYSTEM]
    assert [word.removeprefix("--device=") for word in ours if "--device" in word] == [*DEVICES]
    monkeypatch.setattr("shutil.which", always("/usr/bin/bwrap"))
    bubblewrap = wrap_command(["/helper"], shown=[], work=None, scratch_bytes=1)
    here = [path for path in (*SYSTEM, *DEVICES) if os.path.exists(path)]
    assert [path for path in here if path not in bubblewrap] == []


def test_the_helper_is_a_program_of_this_package() -> None:
    assert Path(find_helper()).name == "_box"
    assert subprocess.run([find_helper(), "nothing"]).returncode == 0
    done = subprocess.run([find_helper(), "--else"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "box: not understood: --else\n")


def test_the_helper_starts_nothing_for_a_parent_that_is_gone(tmp_path: Path) -> None:
    made = tmp_path / "made"
    words = [find_helper(), "--parent=1", "--report=1", "--tier=none", f"--folder={tmp_path}"]
    done = subprocess.run([*words, "--", "/bin/touch", str(made)])
    assert (done.returncode, made.exists()) == (1, False)


def test_a_package_without_its_helper_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    find_helper.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", always(None))
    with pytest.raises(SandboxError, match="the helper _box"):
        find_helper()
    assert "the helper _box" in try_way(OWN)


def test_a_way_that_does_not_work_gives_the_reason() -> None:
    assert try_way(OWN) == "" or "Operation not permitted" in try_way(OWN)


def test_a_machine_without_bubblewrap_names_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.which", always(None))
    with pytest.raises(SandboxError, match="apt install bubblewrap"):
        wrap_command(["helper"], shown=[], work=None, scratch_bytes=1)
    assert "apt install bubblewrap" in try_way(Way("bubblewrap", "bwrap"))


def test_bubblewrap_gets_sizes_and_no_home() -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap: apt install bubblewrap")
    words = wrap_command(
        ["/helper", "--x"], shown=["/home/me/program"], work=None, scratch_bytes=4096
    )
    assert words[-3:] == ["--", "/helper", "--x"]
    assert words.count("4096") == 3
    assert [word for word in words if word.startswith("/home")] == ["/home/me/program"] * 2
    assert BUBBLEWRAP.tool == "bwrap"


def test_a_machine_that_is_too_slow_to_tell_gets_no_weaker_tier(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = BoxReport(-9, 1.0, 0.0, 0, "time", Sandbox.NAMESPACES)
    monkeypatch.setattr("compiler_gym.sandbox.box.run_boxed", always(late))
    monkeypatch.setattr("compiler_gym.sandbox.box._PROBE_SECONDS", 0.0)
    with pytest.raises(SandboxError, match="because the machine is busy"):
        try_way(OWN)


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
