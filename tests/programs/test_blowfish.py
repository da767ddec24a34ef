# SPDX-License-Identifier: MIT
"""blowfish against PyCryptodome and OpenSSL, and its table against the digits of pi."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import PROGRAMS, Execute, cases

KEY, VECTOR = "00112233445566778899aabbccddeeff", "fedcba9876543210"


def _pi_words(count: int) -> list[int]:
    bits = 32 * count + 128

    def arctangent_of_inverse(x: int) -> int:
        total = term = (1 << bits) // x
        divisor, sign = 3, -1
        while term:
            term //= x * x
            total += sign * (term // divisor)
            divisor, sign = divisor + 2, -sign
        return total

    pi = 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239))
    fraction = (pi - (3 << bits)) >> 128
    return [fraction >> 32 * (count - 1 - i) & 0xFFFFFFFF for i in range(count)]


def test_the_table_is_the_fraction_of_pi() -> None:
    text = (PROGRAMS / "blowfish" / "pi.h").read_text()
    assert [int(word, 16) for word in re.findall(r"0x[0-9a-f]{8}", text)] == _pi_words(1042)


@pytest.mark.parametrize("mode", ["cbc", "ecb"])
@pytest.mark.parametrize("key_bytes", [5, 8, 16, 24, 55, 56])
def test_blocks_agree_with_pycryptodome_in_both_directions(
    execute: Execute, tmp_path: Path, mode: str, key_bytes: int
) -> None:
    blowfish = pytest.importorskip("Crypto.Cipher.Blowfish", reason="needs pycryptodome")
    rng = cases.Random(key_bytes)
    key, vector, content = rng.data(key_bytes), rng.data(8), rng.data(rng.below(2000))
    padding = 8 - len(content) % 8
    if mode == "cbc":
        cipher = blowfish.new(key, blowfish.MODE_CBC, vector)
    else:
        cipher = blowfish.new(key, blowfish.MODE_ECB)
    expected = cipher.encrypt(content + bytes([padding]) * padding)
    options = ("-m", mode, "-k", key.hex(), "-i", vector.hex())
    (tmp_path / "plain").write_bytes(content)
    execute("blowfish", *options, "plain", "sealed")
    assert (tmp_path / "sealed").read_bytes() == expected
    execute("blowfish", "-d", *options, "sealed", "opened")
    assert (tmp_path / "opened").read_bytes() == content


@pytest.mark.parametrize("mode", ["cfb", "cbc", "ecb"])
@pytest.mark.parametrize("length", [0, 1, 8, 9, 4097])
def test_files_are_exchanged_with_openssl(
    execute: Execute, tool: Callable[..., bytes], tmp_path: Path, mode: str, length: int
) -> None:
    content = cases.Random(length).data(length)
    (tmp_path / "plain").write_bytes(content)
    cipher = ["enc", "-provider", "legacy", "-provider", "default", f"-bf-{mode}", "-K", KEY]
    if mode != "ecb":
        cipher += ["-iv", VECTOR]
    sealed = tool("openssl", *cipher, "-in", "plain")
    options = ("-m", mode, "-k", KEY, "-i", VECTOR)
    execute("blowfish", *options, "plain", "sealed")
    assert (tmp_path / "sealed").read_bytes() == sealed
    execute("blowfish", "-d", *options, "sealed", "opened")
    assert (tmp_path / "opened").read_bytes() == content


def test_several_passes_are_undone_by_as_many(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"a message")
    options = ("-m", "cbc", "-n", "3", "-k", KEY)
    execute("blowfish", *options, "plain", "sealed")
    execute("blowfish", "-d", *options, "sealed", "opened")
    assert (tmp_path / "opened").read_bytes() == b"a message"


def test_a_wrong_key_is_noticed_by_the_padding(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"a message")
    execute("blowfish", "-m", "cbc", "-k", KEY, "plain", "sealed")
    execute("blowfish", "-d", "-m", "cbc", "-k", KEY[2:], "sealed", "opened", status=3)
    assert not (tmp_path / "opened").exists()
