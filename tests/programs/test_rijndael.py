# SPDX-License-Identifier: MIT
"""rijndael against OpenSSL (AES) and py3rijndael (wider blocks)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Execute, cases


def _pad(content: bytes, block: int) -> bytes:
    padding = block - len(content) % block
    return content + bytes([padding]) * padding


def _round_trip(execute: Execute, folder: Path, content: bytes, *options: str) -> bytes:
    (folder / "plain").write_bytes(content)
    execute("rijndael", *options, "plain", "sealed")
    execute("rijndael", "-d", *options, "sealed", "opened")
    assert (folder / "opened").read_bytes() == content
    return (folder / "sealed").read_bytes()


@pytest.mark.parametrize("mode", ["cbc", "ecb", "cfb", "ctr"])
@pytest.mark.parametrize("bits", [128, 192, 256])
@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 4099])
def test_files_are_exchanged_with_openssl(
    execute: Execute,
    tool: Callable[..., bytes],
    tmp_path: Path,
    mode: str,
    bits: int,
    length: int,
) -> None:
    rng = cases.Random(bits + length)
    key, vector, content = rng.data(bits // 8).hex(), rng.data(16).hex(), rng.data(length)
    options = ("-m", mode, "-k", key, "-i", vector)
    sealed = _round_trip(execute, tmp_path, content, *options)
    cipher = ["enc", f"-aes-{bits}-{mode}", "-K", key]
    if mode != "ecb":
        cipher += ["-iv", vector]
    assert sealed == tool("openssl", *cipher, "-in", "plain")


def test_a_counter_carries_over_all_its_bytes(
    execute: Execute, tool: Callable[..., bytes], tmp_path: Path
) -> None:
    key, vector = "00" * 16, "ff" * 15 + "fe"
    sealed = _round_trip(execute, tmp_path, bytes(100), "-m", "ctr", "-k", key, "-i", vector)
    assert sealed == tool(
        "openssl", "enc", "-aes-128-ctr", "-K", key, "-iv", vector, "-in", "plain"
    )


@pytest.mark.parametrize("block", [16, 24, 32])
@pytest.mark.parametrize("key_bytes", [16, 24, 32])
def test_wide_blocks_are_those_of_the_proposal(
    execute: Execute, tmp_path: Path, block: int, key_bytes: int
) -> None:
    py3rijndael = pytest.importorskip("py3rijndael", reason="needs py3rijndael")
    rng = cases.Random(block * key_bytes)
    key, content = rng.data(key_bytes), rng.data(5 * block + 3)
    cipher = py3rijndael.Rijndael(key, block_size=block)
    padded = _pad(content, block)
    expected = [cipher.encrypt(padded[at : at + block]) for at in range(0, len(padded), block)]
    options = ("-m", "ecb", "-b", str(8 * block), "-k", key.hex())
    assert _round_trip(execute, tmp_path, content, *options) == b"".join(expected)


@pytest.mark.parametrize("mode", ["cbc", "cfb", "ctr"])
def test_chained_wide_blocks_open_again(execute: Execute, tmp_path: Path, mode: str) -> None:
    rng = cases.Random(1)
    content, options = rng.data(1001), ("-m", mode, "-b", "192", "-n", "3")
    _round_trip(execute, tmp_path, content, *options, "-k", "11" * 32, "-i", "22" * 24)


def test_a_wrong_key_is_noticed_by_the_padding(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"a message")
    execute("rijndael", "-k", "00" * 16, "plain", "sealed")
    execute("rijndael", "-d", "-k", "01" * 16, "sealed", "opened", status=3)
    assert not (tmp_path / "opened").exists()
