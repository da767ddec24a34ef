# SPDX-License-Identifier: MIT
"""Downloads are resumed, checked, and reported in one line when they fail."""

import errno
import hashlib
import io
import os
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from compiler_gym.datasets import DownloadOptions, TarDataset, download
from compiler_gym.datasets.fetching.download import (
    as_dataset_errors,
    download_file,
    hold,
    transfer_bar,
    unreachable,
)
from compiler_gym.errors import DatasetInitError, DownloadFailed, TooManyRequests
from tests.datasets.server import Server


def test_a_lock_and_its_folder_go_where_nothing_was_written(tmp_path: Path) -> None:
    with pytest.raises(KeyError), hold(tmp_path / "a" / "b"):
        raise KeyError("stop")
    assert list(tmp_path.iterdir()) == []
    with hold(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b").touch()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(DatasetInitError, match=rf"cannot write to {tmp_path}/a"):  # noqa: SIM117
        with hold(tmp_path / "a" / "b"):
            pass


def test_a_full_disk_is_distinguished_from_our_own_errors() -> None:
    with (
        pytest.raises(
            DatasetInitError, match="cannot x: No space left on device; free some space, or"
        ),
        as_dataset_errors("cannot x"),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(DownloadFailed, match="not there"), as_dataset_errors("cannot x"):
        raise DownloadFailed("not there")


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


@pytest.fixture
def address() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/file"


@pytest.fixture
def closed() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}/file"


def test_one_that_answers_is_enough(address: str, closed: str) -> None:
    assert unreachable([closed, address]) == []


def test_each_that_refuses_is_named_at_once(closed: str) -> None:
    began = time.monotonic()
    (line,) = unreachable([closed], seconds=300.0)
    assert line.startswith(f"{closed}: cannot connect to 127.0.0.1")
    assert line.endswith("is this machine offline?")
    assert time.monotonic() - began < 120


def test_an_address_that_names_no_host_is_for_the_transfer(closed: str) -> None:
    assert unreachable([closed, "file:///nowhere"]) == []


DATA = bytes(range(256)) * 4000
SHA = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def options(waits: list[float]) -> DownloadOptions:
    return DownloadOptions(max_retries=2, stall_timeout=60.0, sleep=waits.append)


@pytest.fixture(autouse=True)
def served(server: Server) -> None:
    server.files["f.bin"] = DATA


def test_a_file_is_fetched_and_checked(server: Server, tmp_path: Path) -> None:
    assert download(server.url("ok/f.bin"), SHA) == DATA
    seen: list[tuple[int, int | None]] = []
    path = download_file(
        server.url("moved/f.bin"),
        tmp_path / "a/f.bin",
        sha256=SHA,
        report=lambda done, total: seen.append((done, total)),
    )
    assert path.read_bytes() == DATA
    assert seen[-1] == (len(DATA), len(DATA))


def test_a_file_that_is_there_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    for _ in range(2):
        download_file(server.url("ok/f.bin"), tmp_path / "f.bin", sha256=SHA)
    assert len(server.requests) == 1


def test_mirrors_are_tried_in_order(
    server: Server, tmp_path: Path, options: DownloadOptions
) -> None:
    urls = [server.url(p) for p in ("ok/missing", "html/f.bin", "ok/f.bin", "norange/f.bin")]
    path = download_file(urls, tmp_path / "f.bin", sha256=SHA, options=options)
    assert path.read_bytes() == DATA
    assert [path for path, _ in server.requests] == ["/ok/missing", "/html/f.bin", "/ok/f.bin"]


def test_a_wrong_hash_and_a_missing_file_are_reported_for_each_address(
    server: Server, tmp_path: Path, options: DownloadOptions
) -> None:
    urls = [server.url("html/f.bin"), server.url("ok/missing")]
    with pytest.raises(DownloadFailed, match=r"(?s)its sha256 is .*, not .*HTTP 404"):
        download_file(urls, tmp_path / "f.bin", sha256=SHA, options=options)
    assert list(tmp_path.iterdir()) == []


def test_a_broken_transfer_goes_on_where_it_ended(
    server: Server, tmp_path: Path, options: DownloadOptions, waits: list[float]
) -> None:
    path = download_file(
        server.url("breaks/f.bin"), tmp_path / "f.bin", sha256=SHA, options=options
    )
    assert path.read_bytes() == DATA
    half = len(DATA) // 2
    assert server.requests == [("/breaks/f.bin", None), ("/breaks/f.bin", f"bytes={half}-")]
    assert waits == [0.5]


def test_the_next_call_and_another_mirror_continue_an_interrupted_download(
    server: Server, tmp_path: Path, options: DownloadOptions
) -> None:
    with pytest.raises(DownloadFailed, match="RemoteProtocolError"):
        download_file(
            server.url("truncated/f.bin"), tmp_path / "f.bin", sha256=SHA, options=options
        )
    server.requests.clear()
    seen: list[tuple[int, int | None]] = []
    path = download_file(
        server.url("ok/f.bin"),
        tmp_path / "f.bin",
        sha256=SHA,
        options=options,
        report=lambda done, total: seen.append((done, total)),
    )
    assert path.read_bytes() == DATA
    assert seen[-1] == (len(DATA), len(DATA))
    assert server.requests == [("/ok/f.bin", f"bytes={len(DATA) // 2}-")]


@pytest.mark.parametrize("kept", [b"another file", DATA + b"more", DATA])
def test_a_kept_part_of_another_file_is_thrown_away(
    server: Server, tmp_path: Path, options: DownloadOptions, kept: bytes
) -> None:
    (tmp_path / "f.bin.part").write_bytes(kept)
    path = download_file(server.url("ok/f.bin"), tmp_path / "f.bin", sha256=SHA, options=options)
    assert path.read_bytes() == DATA


def test_without_a_hash_no_old_part_is_trusted(server: Server, tmp_path: Path) -> None:
    (tmp_path / "f.bin.part").write_bytes(DATA[:100])
    download_file(server.url("ok/f.bin"), tmp_path / "f.bin")
    assert server.requests == [("/ok/f.bin", None)]


@pytest.mark.parametrize("behaviour", ["norange", "wrongpart"])
def test_servers_that_cannot_resume_do_not_damage_the_file(
    server: Server, tmp_path: Path, options: DownloadOptions, behaviour: str
) -> None:
    (tmp_path / "f.bin.part").write_bytes(DATA[:1000])
    urls = [server.url(f"{behaviour}/f.bin"), server.url("ok/f.bin")]
    path = download_file(urls, tmp_path / "f.bin", sha256=SHA, options=options)
    assert path.read_bytes() == DATA


def test_a_stall_ends_at_its_deadline_and_the_next_mirror_serves(
    server: Server, tmp_path: Path, options: DownloadOptions
) -> None:
    urls = [server.url("stall/f.bin"), server.url("ok/f.bin")]
    patient = replace(options, stall_timeout=1.0)
    path = download_file(urls, tmp_path / "f.bin", sha256=SHA, options=patient)
    assert path.read_bytes() == DATA
    quick = replace(options, stall_timeout=0.3)
    with pytest.raises(DownloadFailed, match=r"no data received for 0\.3 seconds"):
        download_file(server.url("stall/f.bin"), tmp_path / "g.bin", options=quick)


def test_a_server_that_is_busy_is_obeyed_and_named(
    server: Server, tmp_path: Path, options: DownloadOptions, waits: list[float]
) -> None:
    with pytest.raises(TooManyRequests, match="HTTP 429"):
        download_file(server.url("busy/f.bin"), tmp_path / "f.bin", options=options)
    assert waits == [7.0, 7.0]


def test_a_passing_failure_is_tried_again(
    server: Server, tmp_path: Path, options: DownloadOptions, waits: list[float]
) -> None:
    download_file(server.url("once503/f.bin"), tmp_path / "f.bin", sha256=SHA, options=options)
    assert waits == [0.5]


def test_a_refused_connection_and_a_missing_address_are_typed_errors(
    tmp_path: Path, options: DownloadOptions, waits: list[float]
) -> None:
    with pytest.raises(DownloadFailed, match=r"cannot connect to 127\.0\.0\.1: Connection refused"):
        download_file("http://127.0.0.1:9/f.bin", tmp_path / "f.bin", options=options)
    assert waits == []
    with pytest.raises(DownloadFailed, match="no URL to download from"):
        download_file([], tmp_path / "f.bin", options=options)
    with pytest.raises(DownloadFailed, match="UnsupportedProtocol"):
        download_file("gopher://127.0.0.1/f.bin", tmp_path / "f.bin", options=options)


def test_a_host_that_never_answers_is_given_up_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()

    def never(*args: Any, **kwargs: Any) -> NoReturn:
        ended.wait(300)
        raise OSError(errno.ETIMEDOUT, "much later")

    monkeypatch.setattr(socket, "getaddrinfo", never)
    dataset = TarDataset(
        ["http://a.example/f.tar.bz2", "https://b.example/f.tar.bz2"],
        name="far-v0",
        site_data_base=tmp_path,
    )
    with pytest.raises(DownloadFailed, match=r"(?s)cannot install benchmark://far-v0: .*no answer"):
        dataset.install()
    ended.set()


def test_one_address_that_answers_is_enough(server: Server, tmp_path: Path) -> None:
    urls = ["http://127.0.0.1:9/f.bin", server.url("ok/f.bin")]
    options = DownloadOptions(max_retries=0)
    assert download_file(urls, tmp_path / "f.bin", options=options).is_file()


def test_a_file_larger_than_accepted_is_refused(server: Server, tmp_path: Path) -> None:
    options = DownloadOptions(max_bytes=1000)
    with pytest.raises(DownloadFailed, match="the limit of 1000"):
        download_file(server.url("ok/f.bin"), tmp_path / "f.bin", options=options)


def test_a_full_disk_is_a_typed_error_and_gives_its_room_back(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full:
        def __init__(self, file: Any) -> None:
            self.file = file

        def __enter__(self) -> "Full":
            return self

        def __exit__(self, *args: object) -> None:
            self.file.close()

        def write(self, data: bytes) -> int:
            self.file.write(data[:100])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    opened = Path.open

    def open_full(self: Path, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        file = opened(self, mode, *args, **kwargs)
        return Full(file) if mode == "wb" else file

    monkeypatch.setattr(Path, "open", open_full)
    with pytest.raises(DatasetInitError, match="No space left on device; free some space"):
        download_file(server.url("ok/f.bin"), tmp_path / "f.bin", sha256=SHA)
    assert not list(tmp_path.glob("f.bin*"))
