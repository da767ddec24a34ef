# SPDX-License-Identifier: MIT
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from compiler_gym.datasets.fetching import zstd
from compiler_gym.datasets.fetching.archive import (
    ArchiveLimits,
    open_compressed,
    read_archive,
    unpack,
)
from compiler_gym.errors import DatasetInitError
from tests.datasets.conftest import make_tar


def entry(
    name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, size
    return info


def written(directory: Path) -> dict[str, bytes]:
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "root/out").mkdir(parents=True)
    return tmp_path / "root/out"


@pytest.mark.parametrize("compression", ["", "bz2", "gz", "xz", "zst"])
def test_every_compression_unpacks_to_the_same_files(
    tmp_path: Path, out: Path, compression: str
) -> None:
    files = {"a/b.bc": b"1" * 5000, "a/c.bc": b"", "d.bc": b"2"}
    data = make_tar(files, "" if compression == "zst" else compression)
    if compression == "zst":
        data = zstd.compress(data)
    path = tmp_path / f"x.tar.{compression}".rstrip(".")
    path.write_bytes(data)
    assert unpack(path, out) == 3
    assert written(out) == files


def test_a_prefix_is_stripped_and_what_lies_next_to_it_left_out(tmp_path: Path, out: Path) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(make_tar({"./top/in/a": b"1", "top/in/b/c": b"2", "top/other": b"3"}, ""))
    assert unpack(path, out, strip_prefix="top/in") == 2
    assert written(out) == {"a": b"1", "b/c": b"2"}


HOSTILE = {
    "traversal": (entry("../evil"), "'../evil' points outside its directory"),
    "traversal inside": (entry("a/../../evil"), "points outside its directory"),
    "absolute": (entry("/evil"), "points outside its directory"),
    "symlink out": (entry("a", tarfile.SYMTYPE, "/etc/passwd"), "a link to '/etc/passwd', outside"),
    "symlink up": (entry("a/b", tarfile.SYMTYPE, "../../x"), "outside the archive"),
    "hardlink out": (entry("a", tarfile.LNKTYPE, "../x"), "outside the archive"),
    "device": (entry("a", tarfile.CHRTYPE), "'a' is not a regular file"),
    "fifo": (entry("a", tarfile.FIFOTYPE), "'a' is not a regular file"),
    "duplicate": (entry("x/y"), "two files are named 'x/y'"),
    "same by another spelling": (entry("./x//y"), "two files are named 'x/y'"),
    "file below a file": (entry("x/y/z"), "File exists"),
    "file over a folder": (entry("x"), "File exists"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_entries_are_refused_and_write_nothing_outside(
    tmp_path: Path, out: Path, case: str
) -> None:
    info, message = HOSTILE[case]
    path = tmp_path / "x.tar.gz"
    path.write_bytes(make_tar({"x/y": b"1"}, "gz", (info,)))
    with pytest.raises(DatasetInitError, match=message):
        unpack(path, out)
    outside = [p for p in tmp_path.rglob("*") if p.is_file() and not p.is_relative_to(out)]
    assert outside == [path]


def test_an_archive_cut_between_its_files_is_a_typed_error(tmp_path: Path, out: Path) -> None:
    data = make_tar({"a": b"1" * 600, "b": b"2" * 600}, "")
    path = tmp_path / "x.tar"
    for end, message in ((1536, "end mark"), (1800, "truncated header"), (3072, "end mark")):
        path.write_bytes(data[:end])
        with pytest.raises(DatasetInitError, match=message):
            list(read_archive(path))


def test_a_damaged_header_is_not_the_end_of_the_archive(tmp_path: Path, out: Path) -> None:
    data = bytearray(make_tar({"a": b"1" * 600, "b": b"2" * 600, "c": b"3"}, ""))
    data[1536 + 3] ^= 0x55
    path = tmp_path / "x.tar"
    path.write_bytes(data)
    with pytest.raises(DatasetInitError, match="bad checksum"):
        unpack(path, out)


@pytest.mark.parametrize("frames", [1, 3])
def test_zstandard_cut_short_at_any_place_is_a_typed_error(tmp_path: Path, frames: int) -> None:
    lines = [b"%d %d\n" % (i, i * i * 7919 % 10007) for i in range(3000)]
    parts = [b"".join(lines[i::frames]) for i in range(frames)]
    data = [zstd.compress(part) for part in parts]
    path = tmp_path / "x.zst"
    path.write_bytes(b"".join(data))
    with open_compressed(path, "zst") as file:
        assert file.read() == b"".join(parts)
    for cut in (1, 4, len(data[-1]) // 2, len(data[-1]) - 1):
        path.write_bytes(b"".join(data)[:-cut])
        with (
            pytest.raises(DatasetInitError, match=r"truncated: .*before the end"),
            open_compressed(path, "zst") as file,
        ):
            file.read()


def test_damaged_zstandard_is_a_typed_error(tmp_path: Path) -> None:
    checked = {int(zstd.CompressionParameter.checksum_flag): 1}
    frame = zstd.compress(b"define\n" * 999, options=checked)
    path = tmp_path / "x.zst"
    for data in (frame[:-1] + bytes([frame[-1] ^ 1]), frame + b"more", b""):
        path.write_bytes(data)
        with (
            pytest.raises(DatasetInitError, match="damaged or truncated"),
            open_compressed(path, "zst") as file,
        ):
            file.read()


def test_zstandard_that_asks_for_a_huge_window_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zst"
    # A frame header that announces a window of 2 GiB, as small as that is on disk.
    path.write_bytes(b"\x28\xb5\x2f\xfd" + bytes([0, (31 - 10) << 3]) + b"\x01\x00\x00")
    with (
        pytest.raises(DatasetInitError, match=r"too much memory"),
        open_compressed(path, "zst") as file,
    ):
        file.read()


def test_a_link_inside_the_archive_becomes_a_copy(tmp_path: Path, out: Path) -> None:
    links = (
        entry("p/b", tarfile.SYMTYPE, "../p/a"),
        entry("p/q/c", tarfile.LNKTYPE, "p/a"),
        entry("p/dangling", tarfile.SYMTYPE, "nothing"),
    )
    path = tmp_path / "x.tar"
    path.write_bytes(make_tar({"p/a": b"1"}, "", links))
    assert unpack(path, out, strip_prefix="p") == 3
    assert written(out) == {"a": b"1", "b": b"1", "q/c": b"1"}
    assert not any(p.is_symlink() for p in out.rglob("*"))


@pytest.mark.parametrize("compression", ["", "bz2", "gz", "xz", "zst"])
@pytest.mark.parametrize("keep", [0.2, 0.6])
def test_a_truncated_archive_is_a_typed_error(
    tmp_path: Path, out: Path, compression: str, keep: float
) -> None:
    noise = b"".join(bytes([i * i % 251, i % 7]) for i in range(40_000))
    files = {f"f{i}": noise[i:] for i in range(3)}
    data = make_tar(files, "" if compression == "zst" else compression)
    data = zstd.compress(data) if compression == "zst" else data
    path = tmp_path / f"x.tar.{compression}".rstrip(".")
    path.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(DatasetInitError, match="damaged or truncated"):
        unpack(path, out)


@pytest.mark.parametrize(
    "name", ["x.tar.bz2", "x.tar.gz", "x.tar.xz", "x.tar.zst", "x.zip", "x.tar"]
)
def test_a_file_that_is_not_an_archive_is_a_typed_error(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"<html>not an archive, and long enough to look at</html>" * 20)
    with pytest.raises(DatasetInitError, match="damaged or truncated"):
        list(read_archive(path))


@pytest.mark.parametrize("compression", ["gz", "bz2", "xz"])
def test_a_bomb_is_stopped_before_it_fills_the_disk(
    tmp_path: Path, out: Path, compression: str
) -> None:
    path = tmp_path / f"x.tar.{compression}"
    path.write_bytes(make_tar({"zeros": b"\0" * 20_000_000}, compression))
    limits = ArchiveLimits(small=1_000_000, max_ratio=10)
    with pytest.raises(DatasetInitError, match=r"unpacks to more than|too large"):
        unpack(path, out, limits=limits)
    assert sum(p.stat().st_size for p in out.rglob("*")) < 2_000_000


def test_too_many_files_are_refused(tmp_path: Path, out: Path) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(make_tar({f"{i}": b"" for i in range(20)}, ""))
    with pytest.raises(DatasetInitError, match="more than 10 entries"):
        unpack(path, out, limits=ArchiveLimits(max_files=10))


def test_a_name_that_is_not_utf8_keeps_its_bytes(tmp_path: Path, out: Path) -> None:
    name = b"caf\xe9.bc".decode("utf-8", "surrogateescape")
    path = tmp_path / "x.tar"
    buffer = io.BytesIO()
    with tarfile.open(
        fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape"
    ) as tar:
        tar.addfile(entry(name))
    path.write_bytes(buffer.getvalue())
    unpack(path, out)
    assert [p.name for p in out.iterdir()] == [name]


def test_permissions_are_not_taken_over(tmp_path: Path, out: Path) -> None:
    info = entry("setuid")
    info.mode = 0o4777
    path = tmp_path / "x.tar"
    path.write_bytes(make_tar({}, "", (info,)))
    unpack(path, out)
    assert (out / "setuid").stat().st_mode & 0o7111 == 0


def test_a_zip_is_read_with_the_same_care(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("good/a.c", b"int x;")
        archive.writestr("../evil.c", b"")
        archive.writestr(link, b"/etc/passwd")
    problems = {member.name: member.problem for member in read_archive(path)}
    assert problems["good/a.c"] is None
    assert "points outside its directory" in (problems["../evil.c"] or "")
    assert "not a regular file" in (problems["link"] or "")
    members = read_archive(path)
    member = next(members)
    target = io.BytesIO()
    member.copy_to(target)
    assert target.getvalue() == b"int x;"


def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", b"\0" * 20_000_000)
    with pytest.raises(DatasetInitError, match="too many bytes"):
        list(read_archive(path, limits=ArchiveLimits(small=1000, max_ratio=10)))
