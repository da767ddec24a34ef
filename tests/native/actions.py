# SPDX-License-Identifier: MIT
"""The tables of passes as the tests read them, independently of the package's reader."""

import csv
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "src/compiler_gym/envs/llvm"


def table(name: str, folder: Path = FOLDER) -> list[dict[str, str]]:
    """Return the rows of a table of the LLVM environment."""
    with (folder / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


PASSES = table("passes.tsv")
EXCLUDED = table("excluded_passes.tsv", Path(__file__).parent)
LEGACY = table("legacy_actions.tsv")
SAFE_PIPELINES = [row["pipeline"] for row in PASSES if not row["tier"].startswith("risky")]
