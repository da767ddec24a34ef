# SPDX-License-Identifier: MIT
"""Inputs of sha: files of awkward lengths, several files, lists to check, and bad arguments."""

import hashlib

from _cases import Case, Random, prose

__all__ = ["COUNTS", "case"]

COUNTS = {"test": 22, "small": 4, "ref": 2}

LENGTHS = (0, 1, 3, 55, 56, 57, 63, 64, 65, 119, 120, 128, 4096, 16384, 16385, 20000)


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of sha."""
    if size != "test":
        block = 200_000 + rng.below(1000)
        content = rng.data(block) if index % 2 else prose(rng, block)
        return Case({"input": content}, ("-n", {"small": "35", "ref": "400"}[size], "input"))
    if index < len(LENGTHS):
        content = rng.data(LENGTHS[index]) if index % 2 else prose(rng, LENGTHS[index])
        return Case({"input": content}, ("input",))
    return _unusual(index % 6, rng)


def _unusual(kind: int, rng: Random) -> Case:
    files = {f"part{i}": rng.data(rng.below(3000)) for i in range(3)}
    if kind == 0:
        return Case(files, ("-n", str(rng.between(2, 9)), *files))
    if kind == 1:
        return Case({}, ("-",), stdin=prose(rng, 1000 + rng.below(9000)))
    if kind == 2:
        return Case({**files, "list": _list(files, "absent")}, ("-c", "list"))
    if kind == 3:
        return Case({**files, "list": _list(files)}, ("-c", "list"))
    if kind == 4:
        wrong = _list(files).replace(b"1", b"2") + b"no entry\n"
        return Case({**files, "list": wrong}, ("-c", "list"))
    return Case({}, ("-n", str(-rng.below(10)), "input"))


def _list(files: dict[str, bytes], *absent: str) -> bytes:
    entries = {name: hashlib.sha1(content) for name, content in files.items()}
    entries.update({name: hashlib.sha1(b"") for name in absent})
    return "".join(f"{sha.hexdigest()}  {name}\n" for name, sha in entries.items()).encode()
