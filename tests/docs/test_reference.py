# SPDX-License-Identifier: MIT
"""The generated pages are those of the code."""

import shutil
import subprocess
import sys
from pathlib import Path

from test_pages import run

ROOT = Path(__file__).parents[2]
CHECK = [sys.executable, "-m", "docs.generate", "--check"]


def test_the_reference_pages_are_up_to_date() -> None:
    done = subprocess.run(CHECK, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_stale_page_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "reference"
    shutil.copytree(ROOT / "docs" / "reference", folder)
    (folder / "environments.md").write_text("old")
    (folder / "left-over.md").write_text("old")
    command = [*CHECK, "--folder", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "environments.md, left-over.md" in done.stderr


def test_the_blocks_of_the_readme_run(tmp_path: Path) -> None:
    done = run(ROOT / "README.md", tmp_path)
    assert done.returncode == 0, done.stdout
    assert "2 blocks ran" in done.stdout  # the snippet, and the command below it
