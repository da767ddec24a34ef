# SPDX-License-Identifier: MIT
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from compiler_gym.service.limits import adopt_orphans, list_children
from compiler_gym.testing import descendants
from tests.command_line import Run


@contextmanager
def web(*arguments: str, stdin: bytes = b"") -> Generator[tuple["subprocess.Popen[bytes]", str]]:
    """Start the command and yield it with the address that it prints."""
    command = [sys.executable, "-m", "compiler_gym.cli", "web", "--no-browser", *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(stdin)
            process.stdin.close()
            yield process, process.stdout.readline().decode().strip()
        finally:
            process.kill()


@pytest.fixture
def orphans_are_ours() -> Iterator[None]:
    """Make this process the parent of whatever a command leaves, running or not reaped."""
    adopt_orphans()
    yield
    adopt_orphans(on=False)


def api(address: str, path: str) -> str:
    base, _, query = address.partition("/?")
    return f"{base}{path}?{query}"


@pytest.mark.usefixtures("orphans_are_ours")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_where_it_is_and_a_signal_ends_it_and_all_its_processes(number: int) -> None:
    with web("cbench-v1/crc32") as (process, address):
        assert address.startswith("http://127.0.0.1:")
        assert httpx.get(api(address, "/api/server")).json()["program"] == "cbench-v1/crc32"
        opened = httpx.post(api(address, "/api/sessions"), json={}, timeout=60)
        assert opened.status_code == 201
        below = descendants(process.pid)
        assert below
        process.send_signal(number)
        assert process.wait(60) in (0, 130, 143, -number)
    assert not below & set(list_children(os.getpid())), "the server leaves a process to others"


def test_a_path_is_known_from_everywhere_and_a_text_is_handed_on(tmp_path: Path) -> None:
    file = tmp_path / "answer.c"
    file.write_text("int answer(void) { return 42; }\n")
    relative = os.path.relpath(file)
    with web(relative) as (_, address):
        program = httpx.get(api(address, "/api/server")).json()["program"]
        assert program == str(file)
        opened = httpx.post(api(address, "/api/sessions"), json={"benchmark": program}, timeout=60)
        assert opened.status_code == 201
    with web("-", stdin=file.read_bytes()) as (_, address):
        server = httpx.get(api(address, "/api/server")).json()
        assert server["program"] is None
        assert server["source"]["text"] == file.read_text()


def test_a_report_is_opened_with_the_token_and_may_run_nothing(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("<h1>Found</h1>")
    for name in (tmp_path, tmp_path / "report.html"):
        with web(str(name)) as (_, address):
            assert "/report?token=" in address
            shown = httpx.get(address)
            assert shown.text == "<h1>Found</h1>"
            assert "default-src 'none'" in shown.headers["content-security-policy"]
            assert httpx.get(address.partition("?")[0]).status_code == 401
            assert httpx.get(address.replace("/report", "/")).status_code == 200


def test_a_port_that_is_taken_is_reported_in_one_line(cli: Run) -> None:
    with web() as (_, address):
        port = address.partition("/?")[0].rpartition(":")[2]
        ran = cli("web", "--no-browser", "--port", port)
    assert ran.status != 0
    assert "cannot listen" in ran.errors
    assert "--port" in ran.errors


def test_an_empty_text_is_refused(cli: Run) -> None:
    ran = cli("web", "-", "--no-browser", stdin=b"  ")
    assert ran.status != 0
    assert "empty" in ran.errors


def test_a_program_that_is_not_there_and_a_port_out_of_range_are_refused_at_once(cli: Run) -> None:
    ran = cli("web", "cbench-v1/nothing", "--no-browser")
    assert ran.status == 2
    assert "no program 'nothing'" in ran.errors
    ran = cli("web", "--port", "99999", "--no-browser")
    assert ran.status == 2
    assert "65535" in ran.errors
