# SPDX-License-Identifier: MIT
"""Inputs of blowfish: every mode in both directions, awkward lengths, and damaged data."""

from _cases import Case, Random, prose

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 24, "small": 6, "ref": 2}

LENGTHS = (0, 1, 7, 8, 9, 15, 16, 17, 500, 4096, 10_000)
PASSES = {"small": "18", "ref": "210"}
VECTOR = "fedcba9876543210"
SEALED = (
    (
        "cbc",
        "00112233445566778899aabbccddeeff",
        "607b38e067add875",
    ),
    (
        "ecb",
        "0123456789abcdeffedcba98",
        "b13fea349106a44171d71119f3db9dfb",
    ),
    (
        "cbc",
        "deadbeef",
        "d231e251d687a366fb38569fd2f7c4215230202a2772643ab223a72de933fa02359e4108a26556825141"
        "3514bd62e41f",
    ),
    (
        "ecb",
        "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a",
        "a85c6894cb34f2e734bb32124e78c639212c558d245330649f37c56faa567371caa035cf486eb677ee28"
        "fcb55867e51ba1a00855ce59f88fdd344915f7ff666d7f2c28cfcd3ab858efc2473b59bc02e4",
    ),
)
"""Mode, key and ciphertext of four padded messages, enciphered by PyCryptodome."""


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of blowfish."""
    mode = ("cfb", "cbc", "ecb")[index % 3]
    direction = ("-d",) if index // 3 % 2 else ()
    if size != "test":
        length = 128 * 1024
        content = rng.data(length) if direction else prose(rng, length)
        # Random data seldom ends in padding, so only CFB, which has none, deciphers them.
        chosen = "cfb" if direction else mode
        return _case(content, (*direction, "-m", chosen, "-n", PASSES[size]), rng)
    if index >= 20:
        return _refused(index % 4, rng)
    content = prose(rng, rng.choice(LENGTHS))
    if direction and mode != "cfb":
        return _sealed(index, rng)
    return _case(content, (*direction, "-m", mode, "-n", str(rng.between(1, 3))), rng)


def _case(content: bytes, options: tuple[str, ...], rng: Random) -> Case:
    key = rng.data(rng.between(4, 56)).hex()
    arguments = (*options, "-k", key, "-i", rng.data(8).hex(), "input", "output")
    return Case({"input": content}, arguments, outputs=("output",))


def _sealed(index: int, rng: Random) -> Case:
    mode, key, ciphertext = SEALED[index % len(SEALED)]
    content = bytearray.fromhex(ciphertext)
    if index >= 15:
        content[rng.below(len(content))] ^= 1 << rng.below(8)
    options = ("-d", "-m", mode, "-k", key, "-i", VECTOR)
    return Case({"input": bytes(content)}, (*options, "input", "output"), outputs=("output",))


def _refused(kind: int, rng: Random) -> Case:
    key = ("00", "zz" * 8, "12345", "ab" * 57)[kind]
    return Case({"input": rng.data(64)}, ("-k", key, "input", "output"), outputs=("output",))
