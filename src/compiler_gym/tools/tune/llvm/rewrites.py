# SPDX-License-Identifier: MIT
"""Count the rewrites of the size plug-in, and find the one that breaks a program."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from compiler_gym.errors import MinimizationError
from compiler_gym.files import scratch_directory
from compiler_gym.search import smallest_failing
from compiler_gym.tools.tune.llvm.plugin import SETTINGS
from compiler_gym.tools.tune.runs import run_check

_NO_LIMIT = 1 << 40
_MOST_REWRITES = 1 << 20


def read_counts(path: Path) -> dict[str, int]:
    """Return how often each rule changed code, from the file that `stats=` names."""
    rows = (line.split("\t") for line in path.read_text().splitlines())
    return {name: int(value) for name, value in rows if value.isdigit()}


def find_rewrite(is_broken: Callable[[int], bool], counts: Path) -> tuple[int, str]:
    """Return the number and the place of the first rewrite that breaks a program.

    `is_broken` links the program with ``limit=`` this number and ``stats=`` the file `counts`, and
    checks it; it is called once for each bit of the number of rewrites. The place is the rule and
    the function. It is empty if no rewrite breaks the program, or if the linker crashes before it
    writes `counts`.
    """
    counts.unlink(missing_ok=True)
    is_broken(_NO_LIMIT)
    # A linker that crashes leaves no counts.
    total = sum(read_counts(counts).values()) if counts.exists() else _MOST_REWRITES
    number = smallest_failing(total, is_broken)
    counts.unlink(missing_ok=True)
    if not is_broken(number) or not counts.exists():
        return number, ""
    return number, counts.read_text(errors="replace").rpartition("last\t")[2].strip()


def reduce_build(text: str, *, seconds: float, report: Callable[[int], None]) -> dict[str, Any]:
    """Find the first rewrite after which `text`, a command that links and tests a program, fails.

    Each run may take `seconds`; `report` gets the number of each. Returns a document. Raises
    `MinimizationError` if the command fails without rewrites too, or never fails.
    """
    said: list[str] = []
    with scratch_directory("rewrite") as folder:
        counts = Path(folder) / "counts"

        def is_broken(limit: int) -> bool:
            report(len(said) + 1)
            setting = {SETTINGS: f"stats={counts},limit={limit}"}
            outcome = run_check(text, Path.cwd(), seconds=seconds, variables=setting)
            said.append(outcome.tail)
            return outcome.status != 0

        if is_broken(0):
            raise MinimizationError(f"{text} fails without any rewrite too:\n{said[-1]}")
        number, place = find_rewrite(is_broken, counts)
    if not place:
        raise MinimizationError(
            f"no rewrite of the size plug-in makes this fail: {text}\nThe command must link the "
            "program again each time, after any other, with the plug-in (`--no-never-larger` keeps "
            "that link), and fail if the program is wrong"
        )
    rule = place.partition(" in ")[0]
    off = f"{SETTINGS}=rules=-{rule}"
    return {"rewrite": number, "place": place, "tests": len(said), "without_rule": off}
