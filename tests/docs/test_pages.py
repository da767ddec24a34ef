# SPDX-License-Identifier: MIT
"""Every code block of the pages runs, and the runner sees one that does not."""

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest
from blocks import Block, blocks_of

from docs.shown import EVERY_PAGE, TERMINAL, stale
from docs.shown import PAGES as SHOWN_ALONE
from tests.warm import Warm

ROOT = Path(__file__).parents[2]
RUNNER = Path(__file__).with_name("blocks.py")


def run(warm: Warm, page: Path, folder: Path, *options: str) -> tuple[int, str]:
    """Run `page` as a newcomer would: in an empty folder, with this interpreter first."""
    variables = {
        **os.environ,
        **TERMINAL,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]),
    }
    done = warm.run(
        RUNNER,
        [str(page), *options],
        folder=folder,
        variables=variables,
        commands=folder.with_name(f"{folder.name}-commands"),
    )
    return done.returncode, (done.stdout + done.stderr).decode()


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


HEAVY = {
    page: {need for block in blocks_of(page.read_text(encoding="utf-8")) for need in block.needs}
    for page in EVERY_PAGE
}
"""The libraries of gigabytes that a page's code needs."""


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in EVERY_PAGE if HEAVY[p]], ids=name)
def test_blocks_that_need_gigabytes_run_too(warm: Warm, page: Path, tmp_path: Path) -> None:
    """Libraries that exclude each other may be on one page: what is installed is enough."""
    here = {need for need in HEAVY[page] if importlib.util.find_spec(need)}
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    if not any(block.needs and here.issuperset(block.needs) for block in blocks):
        pytest.skip(f"{', '.join(sorted(HEAVY[page] - here))} is missing")
    status, said = run(warm, page, tmp_path, "--heavy", *sorted(here))
    assert status == 0, said[-5000:]


@pytest.mark.docs
@pytest.mark.parametrize("page", EVERY_PAGE, ids=name)
def test_every_block_of_a_page_runs(warm: Warm, page: Path, tmp_path: Path) -> None:
    kept = tmp_path / "outputs" / "outputs.json"
    kept.parent.mkdir()
    folder = tmp_path / "page"
    folder.mkdir()
    status, said = run(warm, page, folder, "--outputs", str(kept))
    assert status == 0, said[-5000:]
    if page not in SHOWN_ALONE:
        outputs = {int(line): said for line, said in json.loads(kept.read_text()).items()}
        text = page.read_text(encoding="utf-8")
        assert stale(text, outputs) == [], f"run `python -m docs.shown {page}`"


def test_blocks_are_found_with_their_titles_and_lines() -> None:
    text = 'Text\n\n```python\nx = 1\n```\n\n```python title="a/b.py"\ny = 2\n```\n\n```\nz\n```\n'
    assert list(blocks_of(text)) == [
        Block("python", None, "x = 1\n", 4),
        Block("python", "a/b.py", "y = 2\n", 8),
    ]
    (heavy,) = blocks_of('```python needs="ray torch"\nz = 3\n```\n')
    assert heavy == Block("python", None, "z = 3\n", 2, ("ray", "torch"))


def test_a_block_of_a_heavy_library_runs_only_where_it_is_requested(
    warm: Warm, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text('```python needs="json"\nassert 1 == 2\n```\n')
    assert run(warm, page, tmp_path) == (0, "0 blocks ran\n")
    assert "AssertionError" in run(warm, page, tmp_path, "--heavy", "json")[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n```python\nassert 1 == 2\n```\n", 'page.md", line 3'),
        ("```console\nfalse | true\n```\n", "CalledProcessError"),
        ("```python\nx = 1\n```\n\n```python\nassert x == 2\n```\n", 'page.md", line 6'),
    ],
)
def test_a_block_that_fails_is_seen(warm: Warm, text: str, message: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    status, said = run(warm, page, tmp_path)
    assert status != 0
    assert message in said


def test_blocks_of_a_page_share_names_and_files(warm: Warm, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '```python title="given.py"\nvalue = 7\n```\n```python\nfrom given import value\n```\n'
        "```python\nassert value == 7\n```\n```console\ntest -f given.py\n```\n```text\n?\n```\n"
    )
    status, said = run(warm, page, tmp_path)
    assert status == 0
    assert said.endswith("4 blocks ran\n"), said
