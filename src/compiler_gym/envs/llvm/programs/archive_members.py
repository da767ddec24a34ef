# SPDX-License-Identifier: MIT
"""Finds the archive members that a program needs.

Like a linker it takes only members that define missing symbols: others may need symbols that
do not exist, or define some a second time.
"""

from collections.abc import Iterable, Sequence

from compiler_gym.envs.llvm.toolchain.engine import run_engine

__all__ = ["select_members"]


def select_members(
    modules: Sequence[bytes],
    archives: Sequence[Sequence[bytes]],
    *,
    wanted: Iterable[str] = ("main",),
    timeout: float = 300,
) -> list[bytes]:
    """Return the modules of `archives` that `modules` need, and those that these need.

    Of several that define a symbol, the first is taken. `wanted` is what is missing without
    any module saying so.
    """
    members = [member for archive in archives for member in archive]
    if not members:
        return []
    texts = run_engine("symbols", [*modules, *members], timeout=timeout)
    read = [[set(part.split("\n")) - {""} for part in text.decode().split("\0")] for text in texts]
    defined, missing = set[str](), set(wanted)
    for defines, needs in read[: len(modules)]:
        defined |= defines
        missing |= needs
    left = dict(enumerate(read[len(modules) :]))
    taken: set[int] = set()
    while True:
        found = next((n for n, (defines, _) in left.items() if defines & (missing - defined)), None)
        if found is None:
            return [members[number] for number in sorted(taken)]
        defines, needs = left.pop(found)
        defined |= defines
        missing |= needs
        taken.add(found)
