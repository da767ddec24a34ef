# SPDX-License-Identifier: MIT
"""Select the archive members that a program needs.

Like a linker, it selects only members that define missing symbols: others can need symbols that
do not exist, or define symbols twice.
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
    """Return the modules of `archives` that `modules` need, directly or indirectly.

    If several define a symbol, the first is selected. `wanted` lists further symbols that are
    needed, although no module refers to them.
    """
    members = [member for archive in archives for member in archive]
    if not members:
        return []
    texts = run_engine("symbols", [*modules, *members], timeout=timeout)
    symbols = [
        [set(part.split("\n")) - {""} for part in text.decode().split("\0")] for text in texts
    ]
    defined, missing = set[str](), set(wanted)
    for defines, needs in symbols[: len(modules)]:
        defined |= defines
        missing |= needs
    remaining = dict(enumerate(symbols[len(modules) :]))
    selected: set[int] = set()
    while True:
        undefined = missing - defined
        member = next((n for n, (defines, _) in remaining.items() if defines & undefined), None)
        if member is None:
            return [members[number] for number in sorted(selected)]
        defines, needs = remaining.pop(member)
        defined |= defines
        missing |= needs
        selected.add(member)
