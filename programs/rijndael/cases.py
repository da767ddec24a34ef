# SPDX-License-Identifier: MIT
"""Inputs of rijndael: every mode, block and key size in both directions, and damaged data."""

from _cases import Case, Random, prose

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 30, "small": 6, "ref": 2}

LENGTHS = (0, 1, 15, 16, 17, 31, 32, 33, 47, 500, 4096, 10_000)
PASSES = {"small": 10, "ref": 100}
VECTOR = bytes(range(0x10, 0x30))
SEALED = (
    (
        "cbc",
        128,
        "000102030405060708090a0b0c0d0e0f",
        "0a940bb5416ef045f1c39458c653ea5a",
    ),
    (
        "ecb",
        128,
        "32333435363738393a3b3c3d3e3f40414243444546474849",
        "6a9a2346ee3af551f81fa1b03cd38729ca662f31054706d32583afae7a3a7d35",
    ),
    (
        "cbc",
        128,
        "c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7",
        "8fc994c447d3da073607b4b28e7811ce503c8e3ccf7ee8e32ea350c1c86e0130c20738d74e2952360cd3"
        "622527faf09a",
    ),
    (
        "ecb",
        192,
        "5a5b5c5d5e5f606162636465666768696a6b6c6d6e6f7071",
        "413672199f720c941bf79155fe7ea74c97f413c00f93d5d9a92819d8e86a45eafabf8c04307be6730827"
        "a959f97a553c",
    ),
    (
        "cbc",
        256,
        "0708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223242526",
        "75b9f6e46bfe97a2aaa92773615d7482f63d8db3616293a0ceee3839ffb74d6679e72ccee0887b4cfa58"
        "9c516c7bf877840c29a081cc992b6ccd7e90f7ab6185",
    ),
)
"""Mode, block, key and ciphertext of messages enciphered by PyCryptodome and py3rijndael."""


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of rijndael."""
    mode = ("cbc", "ecb", "cfb", "ctr")[index % 4]
    if size != "test":
        block = ("128", "192", "256")[index % 3]
        # The common block has a faster path of its own.
        passes = PASSES[size] * (3 if block == "128" else 1)
        direction = ("-d",) if mode == "cfb" else ()
        options = (*direction, "-m", mode, "-b", block, "-n", str(passes))
        return _case(prose(rng, 128 * 1024), options, rng)
    if index >= 26:
        return _refused(index % 4, rng)
    if index >= 16:
        return _sealed(index - 16, rng)
    block = rng.choice(("128", "128", "192", "256"))
    direction = ("-d",) if index % 4 >= 2 and index % 8 >= 4 else ()
    options = (*direction, "-m", mode, "-b", block, "-n", str(rng.between(1, 3)))
    return _case(prose(rng, rng.choice(LENGTHS)), options, rng)


def _case(content: bytes, options: tuple[str, ...], rng: Random) -> Case:
    key = rng.data(rng.choice((16, 24, 32))).hex()
    block = int(options[options.index("-b") + 1]) // 8
    arguments = (*options, "-k", key, "-i", rng.data(block).hex(), "input", "output")
    return Case({"input": content}, arguments, outputs=("output",))


def _sealed(index: int, rng: Random) -> Case:
    mode, block, key, ciphertext = SEALED[index % len(SEALED)]
    content = bytearray.fromhex(ciphertext)
    if index >= len(SEALED):
        content[rng.below(len(content))] ^= 1 << rng.below(8)
    vector = VECTOR[: block // 8].hex()
    options = ("-d", "-m", mode, "-b", str(block), "-k", key, "-i", vector)
    return Case({"input": bytes(content)}, (*options, "input", "output"), outputs=("output",))


def _refused(kind: int, rng: Random) -> Case:
    key = ("00" * 15, "zz" * 16, "00" * 16, "ab" * 33)[kind]
    vector = ("-i", "00" * 24) if kind == 2 else ()
    arguments = ("-k", key, *vector, "input", "output")
    return Case({"input": rng.data(64)}, arguments, outputs=("output",))
