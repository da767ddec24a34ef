# SPDX-License-Identifier: MIT
"""A project is not written by what runs in a copy of it, or it is told."""

import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym.tools.tune.builds import Protection, protecting

needs_tool = pytest.mark.skipif(
    protecting._tool() is None,  # pyright: ignore[reportPrivateUsage]
    reason="needs bubblewrap that can make a folder unwritable",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "out").mkdir(parents=True)
    (folder / "a.c").write_text("a")
    return folder


@needs_tool
def test_a_folder_cannot_be_written_but_for_what_may(project: Path) -> None:
    (project.parent / "alias").symlink_to(project)
    protection = Protection.of(project.parent / "alias", [project / "out"])
    for text, status in (("echo b > a.c", 1), ("echo b > out/b", 0), ("echo b > ../b", 0)):
        words = protection.wrap(["sh", "-c", f"( {text} ) || exit 1"])
        assert subprocess.run(words, cwd=project, check=False).returncode == status, text
    assert (project / "a.c").read_text() == "a"
    assert protection.list_changed() == []


def test_changed_files_are_listed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protecting, "_tool", lambda: None)
    protection = Protection.of(project, [project / "out"])
    assert protection.wrap(["true"]) == ["true"]
    (project / "out" / "made").touch()
    assert protection.list_changed() == []
    (project / "a.c").write_text("b")
    (project / "made.o").write_bytes(b"\x7fELF")
    assert protection.list_changed() == ["a.c", "made.o"]
    code = "import sys; from pathlib import Path\n"
    code += "from compiler_gym.tools.tune.builds import Protection\n"
    code += (
        "p = Protection.of(Path('.'), []); print('x', flush=True); sys.exit(len(p.list_changed()))"
    )
    with (project / "log").open("w") as log:
        words = [sys.executable, "-c", code]
        assert subprocess.run(words, cwd=project, stdout=log, check=False).returncode == 0
