# SPDX-License-Identifier: MIT
"""Programs are read from directories and from archives."""

import bz2
import errno
import hashlib
import multiprocessing
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler_gym.datasets import DownloadOptions, FilesDataset, TarDataset, TarDatasetWithManifest
from compiler_gym.datasets.fetching.archive import ArchiveLimits
from compiler_gym.errors import (
    BenchmarkInitError,
    DatasetInitError,
    DownloadFailed,
    UnknownNameError,
)
from tests.datasets.conftest import make_tar
from tests.datasets.server import Server
from tests.stand_ins import always


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for name in ("b.bc", "a/z.bc", "a/a.bc", "a.bc", "c.txt", ".hidden.bc", ".git/x.bc"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    (tmp_path / "outside.bc").write_bytes(b"secret")
    return root


@pytest.mark.parametrize("memoize", [True, False])
def test_files_with_the_suffix_are_programs_in_a_fixed_order(root: Path, memoize: bool) -> None:
    dataset = FilesDataset(root, ".bc", memoize, name="files-v0")
    names = ["a", "b", "a/a", "a/z"]
    assert [uri.removeprefix("benchmark://files-v0/") for uri in dataset.benchmark_uris()] == names
    assert dataset.size == 4
    assert dataset[2].contents == b"a/a.bc"
    assert dataset["a/z"].contents == b"a/z.bc"
    assert [p.contents.decode().removesuffix(".bc") for p in dataset] == names


def test_without_a_suffix_every_file_is_a_program(root: Path) -> None:
    dataset = FilesDataset(root, name="files-v0")
    assert dataset.size == 5
    assert dataset["c.txt"].contents == b"c.txt"


@pytest.mark.parametrize(
    "path", ["../outside", "a/../../outside", "a//../../outside", "%2E%2E/outside", "."]
)
def test_an_address_never_leaves_the_directory(root: Path, path: str) -> None:
    dataset = FilesDataset(root, ".bc", name="files-v0")
    with pytest.raises(UnknownNameError, match="no program"):
        dataset.benchmark(f"files-v0/{path}")


def test_a_missing_program_suggests_close_names(root: Path) -> None:
    dataset = FilesDataset(root, ".bc", name="files-v0")
    assert dataset.size
    with pytest.raises(UnknownNameError, match=r"did you mean a/z\?"):
        dataset.benchmark("files-v0/a/zz")
    with pytest.raises(UnknownNameError, match=r"no program benchmark://files-v0$"):
        dataset.benchmark("files-v0")


def test_names_that_are_not_plain_round_trip(tmp_path: Path) -> None:
    names = [b"sp ace.c", b"qu?ery.c", b"ha#sh.c", b"per%20cent.c", b"caf\xe9.c", "été.c".encode()]
    for name in names:
        (tmp_path / os.fsdecode(name)).write_bytes(name)
    dataset = FilesDataset(tmp_path, name="files-v0")
    assert sorted(program.contents for program in dataset) == sorted(names)
    for uri in dataset.benchmark_uris():
        assert uri.isascii()


def test_a_missing_directory_is_a_typed_error(tmp_path: Path) -> None:
    dataset = FilesDataset(tmp_path / "nothing", name="files-v0")
    assert not dataset.installed
    with pytest.raises(DatasetInitError, match="needs the directory"):
        list(dataset.benchmark_uris())
    (tmp_path / "nothing").mkdir()
    with pytest.raises(UnknownNameError, match="is empty"):
        dataset.random_benchmark(np.random.default_rng(0))


def test_a_file_that_vanishes_is_a_typed_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = FilesDataset(root, ".bc", name="files-v0")
    monkeypatch.setattr(Path, "is_file", always(True))
    with pytest.raises(BenchmarkInitError, match="No such file"):
        dataset.benchmark("files-v0/gone")


def test_files_are_not_removed_with_the_dataset(root: Path) -> None:
    FilesDataset(root, name="files-v0").uninstall()
    assert (root / "a.bc").exists()


FILES = {f"top/{name}.bc": name.encode() * 1000 for name in ("a", "b", "c/d")}
ARCHIVE = make_tar(FILES | {"top/README": b"read me"})
NAMES = ["a", "b", "c/d"]
FAST = DownloadOptions(max_retries=0, stall_timeout=60.0, sleep=lambda seconds: None)


@pytest.fixture
def make(server: Server, tmp_path: Path) -> Callable[..., TarDataset]:
    """Make a dataset whose archive is served with the named behaviour."""

    def dataset(*behaviours: str, archive: bytes = ARCHIVE, **kwargs: Any) -> TarDataset:
        server.files["x.tar.bz2"] = archive
        arguments: dict[str, Any] = {
            "name": "tar-v0",
            "site_data_base": tmp_path / "site",
            "tar_urls": [server.url(f"{b}/x.tar.bz2") for b in behaviours or ("ok",)],
            "tar_sha256": hashlib.sha256(archive).hexdigest(),
            "strip_prefix": "top",
            "benchmark_file_suffix": ".bc",
            "download_options": FAST,
        }
        return TarDataset(**(arguments | kwargs))

    return dataset


def left(tmp_path: Path) -> list[str]:
    """Return what an install that failed has left, locks aside."""
    site = tmp_path / "site"
    names = (str(path.relative_to(site)) for path in site.rglob("*") if path.is_file())
    return sorted(name for name in names if not name.endswith(".lock"))


def test_an_archive_is_installed_on_first_use_and_removed(
    make: Callable[..., TarDataset], server: Server, tmp_path: Path
) -> None:
    dataset = make(known_size=3)
    assert (dataset.installed, dataset.size) == (False, 3)
    assert server.requests == []
    assert dataset["c/d"].contents == b"c/d" * 1000
    assert (dataset.installed, dataset.size) == (True, 3)
    assert [uri.removeprefix("benchmark://tar-v0/") for uri in dataset.benchmark_uris()] == NAMES
    assert dataset.site_data_size_in_bytes > 5000
    assert not list((tmp_path / "site").rglob("*.bz2"))
    dataset.install()
    assert len(server.requests) == 1
    dataset.uninstall()
    dataset.uninstall()
    assert not dataset.installed
    assert left(tmp_path) == []
    dataset.install()
    assert len(server.requests) == 2


def test_a_truncated_archive_installs_nothing_and_the_next_try_goes_on(
    make: Callable[..., TarDataset], server: Server, tmp_path: Path
) -> None:
    with pytest.raises(DownloadFailed, match="RemoteProtocolError"):
        make("truncated").install()
    assert not make().installed
    assert len(left(tmp_path)) == 1
    make().install()
    assert server.requests[-1] == ("/ok/x.tar.bz2", f"bytes={len(ARCHIVE) // 2}-")
    assert make().verify() == []


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [("html", "its sha256 is"), ("busy", "HTTP 429"), ("stall", "no data received"), ("no", "404")],
)
def test_a_failed_download_installs_nothing(
    make: Callable[..., TarDataset], server: Server, behaviour: str, message: str
) -> None:
    kwargs: dict[str, Any] = {}
    if behaviour == "no":
        kwargs["tar_urls"] = [server.url("ok/missing")]
    if behaviour == "stall":
        kwargs["download_options"] = replace(FAST, stall_timeout=1.0)
    dataset = make(behaviour, **kwargs)
    with pytest.raises(DownloadFailed, match=message):
        dataset.install()
    assert not dataset.site_data_path.exists()


def test_the_next_mirror_serves(make: Callable[..., TarDataset]) -> None:
    dataset = make("html", "truncated", "ok")
    dataset.install()
    assert dataset.size == 3


@pytest.mark.parametrize(
    ("info", "message"),
    [
        (tarfile.TarInfo("top/../../../../evil"), "points outside its directory"),
        (tarfile.TarInfo("top/a.bc"), "two files are named 'top/a.bc'"),
    ],
)
def test_a_hostile_archive_leaves_nothing(
    make: Callable[..., TarDataset], tmp_path: Path, info: tarfile.TarInfo, message: str
) -> None:
    dataset = make(archive=make_tar(FILES, "bz2", (info,)))
    with pytest.raises(DatasetInitError, match=message):
        dataset.install()
    assert not dataset.installed
    assert not dataset.site_data_path.exists()
    assert not list(tmp_path.rglob("*.partial"))
    assert not list(tmp_path.rglob("evil"))


def test_a_bomb_leaves_nothing(make: Callable[..., TarDataset]) -> None:
    bomb = make_tar({"top/a.bc": b"\0" * 10_000_000})
    dataset = make(archive=bomb, archive_limits=ArchiveLimits(small=10_000, max_ratio=2))
    with pytest.raises(DatasetInitError, match="was rejected"):
        dataset.install()
    assert not dataset.site_data_path.exists()


def test_an_archive_without_the_folder_is_refused(make: Callable[..., TarDataset]) -> None:
    with pytest.raises(DatasetInitError, match="no files below 'elsewhere'"):
        make(strip_prefix="elsewhere").install()


def _install(dataset: TarDataset, gate: Any, results: Any) -> None:
    gate.wait(60)
    try:
        dataset.install()
        results.put(dataset["a"].contents == b"a" * 1000)
    except Exception as error:
        results.put(repr(error))


def test_processes_that_install_at_once_fetch_once_and_agree(
    make: Callable[..., TarDataset], server: Server
) -> None:
    context = multiprocessing.get_context("fork")
    gate, results = context.Barrier(4), context.Queue()
    children = [context.Process(target=_install, args=(make(), gate, results)) for _ in range(4)]
    for child in children:
        child.start()
    assert [results.get(timeout=120) for _ in children] == [True] * 4
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    assert len(server.requests) == 1


def test_a_disk_that_is_full_while_unpacking_leaves_the_old_state(
    make: Callable[..., TarDataset], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written = 0
    copy = shutil.copyfileobj

    def copy_until_full(source: Any, target: Any, *args: Any) -> None:
        nonlocal written
        written += 1
        if written == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        copy(source, target, *args)

    monkeypatch.setattr(shutil, "copyfileobj", copy_until_full)
    dataset = make()
    with pytest.raises(DatasetInitError, match="No space left on device; free some space"):
        dataset.install()
    assert not dataset.site_data_path.exists()
    assert not list(tmp_path.rglob("*.partial"))
    monkeypatch.undo()
    dataset.install()
    assert dataset.verify() == []


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="needs a read-only /sys")
def test_a_site_directory_that_cannot_be_made_is_a_typed_error(
    make: Callable[..., TarDataset],
) -> None:
    with pytest.raises(DatasetInitError, match=r"cannot (write to|install)"):
        make(site_data_base="/sys/kernel/site").install()


def test_a_read_only_site_directory_is_a_typed_error(make: Callable[..., TarDataset]) -> None:
    # The superuser may write anywhere, so a child does this as somebody else.
    with tempfile.TemporaryDirectory() as directory:
        site = Path(directory)
        site.chmod(0o555)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                if os.getuid() == 0:
                    os.setgid(65534)
                    os.setuid(65534)
                make(site_data_base=site).install()
                os.write(write, b"installed")
            except BaseException as error:
                os.write(write, f"{type(error).__name__}: {error}".encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            message = pipe.read().decode()
        os.waitpid(child, 0)
        assert message.startswith("DatasetInitError: cannot write to")
        assert "set COMPILER_GYM_SITE_DATA to a writable directory" in message
        assert list(site.iterdir()) == []
        site.chmod(0o755)


def test_files_that_are_lost_after_the_install_are_noticed(make: Callable[..., TarDataset]) -> None:
    dataset = make()
    dataset.install()
    (dataset.dataset_root / "a.bc").unlink()
    assert dataset.verify() == ["3 files instead of 4", "4007 bytes instead of 5007"]
    assert dataset.installed


MANIFEST = bz2.compress(b"a\nb\n\nc/d\nmissing\n")


@pytest.fixture
def listed(
    make: Callable[..., TarDataset], server: Server
) -> Callable[..., TarDatasetWithManifest]:
    def dataset(manifest: bytes = MANIFEST, **kwargs: Any) -> TarDatasetWithManifest:
        server.files["m.bz2"] = manifest
        base = make()
        arguments: dict[str, Any] = {
            "name": "tar-v0",
            "site_data_base": base.site_data_path.parents[1],
            "tar_urls": base.tar_urls,
            "tar_sha256": base.tar_sha256,
            "strip_prefix": "top",
            "benchmark_file_suffix": ".bc",
            "download_options": FAST,
            "manifest_urls": server.url("ok/m.bz2"),
            "manifest_sha256": hashlib.sha256(manifest).hexdigest(),
            "known_size": 4,
        }
        return TarDatasetWithManifest(**(arguments | kwargs))

    return dataset


def test_programs_are_listed_without_the_archive(
    listed: Callable[..., TarDatasetWithManifest], server: Server
) -> None:
    dataset = listed()
    assert dataset.size == 4
    assert server.requests == []
    uris = [f"benchmark://tar-v0/{name}" for name in (*NAMES, "missing")]
    assert list(dataset.benchmark_uris()) == uris
    assert [path for path, _ in server.requests] == ["/ok/m.bz2"]
    assert not dataset.installed
    assert dataset["a"].contents == b"a" * 1000
    assert list(listed().benchmark_uris()) == uris
    assert (listed().size, len(server.requests)) == (4, 2)


def test_a_program_that_is_listed_and_absent_is_unknown_and_noticed(
    listed: Callable[..., TarDatasetWithManifest],
) -> None:
    dataset = listed()
    with pytest.raises(UnknownNameError, match="no program benchmark://tar-v0/missing"):
        dataset.benchmark("tar-v0/missing")
    assert dataset.verify() == ["missing is listed but missing"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"a\na\n", "'a' is listed twice"),
        (b"../x\n", "outside the dataset"),
        (b"/etc/passwd\n", "outside the dataset"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused(
    listed: Callable[..., TarDatasetWithManifest], lines: bytes, message: str
) -> None:
    dataset = listed(bz2.compress(lines))
    with pytest.raises(DatasetInitError, match=message):
        list(dataset.benchmark_uris())
    with pytest.raises(DatasetInitError, match=message):
        dataset.install()
    assert not dataset.installed


def test_a_damaged_manifest_is_a_typed_error(
    listed: Callable[..., TarDatasetWithManifest],
) -> None:
    with pytest.raises(DatasetInitError, match="damaged or truncated"):
        list(listed(MANIFEST[:-10]).benchmark_uris())


def test_a_manifest_and_its_archive_survive_names_that_are_not_utf8(
    listed: Callable[..., TarDatasetWithManifest],
) -> None:
    dataset = listed(bz2.compress(b"caf\xe9\n"))
    assert list(dataset.benchmark_uris()) == ["benchmark://tar-v0/caf%E9"]
