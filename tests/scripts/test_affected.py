# SPDX-License-Identifier: MIT
"""Which tests a change affects is read from imports."""

from pathlib import Path

import pytest

from scripts.affected import ROOT, affected_tests


def names(*paths: str) -> set[str]:
    return set(affected_tests(ROOT / path for path in paths))


def test_a_leaf_affects_its_own_tests() -> None:
    found = names("packages/inline/src/compiler_gym_inline/llvm/heuristics.py")
    assert "packages/inline/tests/test_inline/llvm/test_heuristics.py" in found
    assert len(found) < 5


def test_a_file_with_many_users_affects_many_tests() -> None:
    found = names("src/compiler_gym/core/plan.py")
    assert {"tests/core/test_plan.py", "tests/tools/learn/collection/test_playing.py"} <= found


def test_a_folder_stands_for_its_files_and_tests_for_themselves() -> None:
    found = names("packages/hunt/src/compiler_gym_hunt", "packages/hunt/tests/test_hunt")
    assert "packages/hunt/tests/test_hunt/commands/test_hunt.py" in found
    assert not any(name.startswith("tests/core/") for name in found)


def test_a_page_affects_its_blocks_the_test_of_links_and_the_tests_that_name_it() -> None:
    assert names("docs/guide/tune-in-a-build.md") - {"tests/scripts/test_affected.py"} == {
        "tests/docs/test_pages.py::test_every_block_of_a_page_runs[docs/guide/tune-in-a-build.md]",
        "tests/docs/test_links.py",
        "tests/docs/test_tune_in_a_build.py",
    }


def test_a_tool_affects_the_pages_that_run_its_commands() -> None:
    found = {name for name in names("packages/hunt/src/compiler_gym_hunt") if name.endswith(".md]")}
    blocks = "tests/docs/test_pages.py::test_every_block_of_a_page_runs"
    assert f"{blocks}[packages/hunt/docs/hunt.md]" in found
    assert f"{blocks}[docs/guide/wrappers.md]" not in found


def test_a_path_that_is_missing_is_refused() -> None:
    with pytest.raises(SystemExit, match="expected a file or a folder"):
        affected_tests([Path("nothing/there.py")])
