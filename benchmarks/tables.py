# SPDX-License-Identifier: MIT
"""Write a table between its marks on a page of the guide."""

import re
from pathlib import Path

import compiler_gym

__all__ = ["PAGE", "programs_of", "write_table"]

PAGE = Path(__file__).parents[1] / "docs" / "results" / "validation.md"


def programs_of(names: list[str]) -> list[str]:
    """Return `names`, or every bundled program."""
    with compiler_gym.make("llvm-v0") as env:
        uris = env.datasets["benchmark://cbench-v1"].benchmark_uris()
        return list(names) or [uri.rpartition("/")[2] for uri in uris]


def write_table(name: str, table: str, page: Path = PAGE) -> None:
    """Put `table` between the marks of `name` on the page."""
    text = page.read_text(encoding="utf-8")
    pattern = re.compile(rf"(<!-- {name}:.*?-->\n).*?(<!-- end {name} -->)", re.DOTALL)
    changed, found = pattern.subn(lambda m: f"{m[1]}\n{table}\n\n{m[2]}", text)
    if not found:
        raise SystemExit(f"{page} has no marks for {name}")
    page.write_text(changed, encoding="utf-8")
