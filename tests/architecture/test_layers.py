# SPDX-License-Identifier: MIT
"""The contract that imports point one way can fail; `make check` holds the package to it."""

import subprocess
import sys
from pathlib import Path

LINT = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]


def test_an_import_that_points_upwards_is_found(tmp_path: Path) -> None:
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "errors.py").write_text("import house.core\n")
    (package / "core.py").write_text("")
    (tmp_path / ".importlinter").write_text(
        "[importlinter]\nroot_package = house\n\n[importlinter:contract:1]\n"
        "name = layers\ntype = layers\ncontainers = house\nlayers =\n    core\n    errors\n"
    )
    done = subprocess.run(
        [*LINT, "--config", ".importlinter"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    assert "house.errors is not allowed to import house.core" in done.stdout
