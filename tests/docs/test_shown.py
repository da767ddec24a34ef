# SPDX-License-Identifier: MIT
"""Pages show what their blocks print, and the one line that installs."""

import json
import re
from pathlib import Path
from statistics import mean

import pytest

from docs import install
from docs.install import install_lines, with_install
from docs.readme_training import SCORES, snippet
from docs.shown import PAGES, stale, with_output, with_outputs

ROOT = Path(__file__).parents[2]


def test_output_is_written_below_its_block_and_cut_where_the_page_says() -> None:
    page = (
        "```python\nfor n in range(4): print(n)\n```\n\n<!-- output: the first 2 lines -->\nold\n"
    )
    page += "<!-- end output -->\nrest\n```console\necho one\n```\n\n<!-- output -->\n"
    page += "<!-- end output -->\n"
    done = with_output(page)
    assert "```text\n0\n1\n...\n```\n<!-- end output -->\nrest" in done
    assert "```text\none\n```\n<!-- end output -->" in done
    assert "old" not in done
    assert with_output(done) == done


def test_output_of_guide_blocks_is_written_and_compared() -> None:
    page = "Text\n```python\nprint(x)\n```\n\n<!-- output{} -->\nold\n<!-- end output -->\n"
    exact, loose = page.format(""), page.format(", numbers differ")
    written = with_outputs(exact, {3: "took 3 s\n\n"})
    assert "<!-- output -->\n```text\ntook 3 s\n```\n<!-- end output -->" in written
    assert stale(written, {3: "took 3 s\n"}) == []
    assert stale(written, {3: "took 4 s\n"}) == ["```text\ntook 3 s\n```\n"]
    loosely = with_outputs(loose, {3: "took 3 s\n"})
    assert stale(loosely, {3: "took 44.5 s\n"}) == []
    assert stale(loosely, {3: "took 44.5 ms\n"}) != []


def test_a_block_that_fails_is_seen() -> None:
    page = "```console\nfalse\n```\n\n<!-- output -->\n<!-- end output -->\n"
    with pytest.raises(RuntimeError, match="failed"):
        with_output(page)


def test_the_install_line_is_never_that_of_the_old_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- install -->\nold\n<!-- end install -->\nb\n")
    for name in ("compiler_gym", "Compiler.Gym"):
        monkeypatch.setattr(install, "project", lambda name=name: {"name": name})
        assert "pip install dist/*.whl" in install_lines()
    monkeypatch.setattr(install, "project", lambda: {"name": "another-name"})
    text = with_install(page)
    assert text.index("make wheel") < text.index("pip install another-name\n")


def test_the_readme_is_short_and_its_numbers_are_generated() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 155
    assert len(re.findall(r"(?<!\[)!\[", text)) == 2  # what tuning saves, and the explorer
    assert ROOT / "README.md" in PAGES
    assert text.count("<!-- output") == text.count("<!-- end output -->") == 1
    generated = r"<!-- (output|install|projects).*?<!-- end \1 -->"
    by_hand = re.sub(generated, "", text, flags=re.S)
    by_hand = re.sub(r"```.*?```|`[^`]*`|\([^)]*\)", "", by_hand, flags=re.S)
    numbers = set(re.findall(r"\d[\d.,]*\d|\d", by_hand))
    versions = {"22", "10", "3.11", "12", "64", "86"}  # LLVM, Python, Debian, x86-64
    rust = {"1.95", "1.96", "328,520", "261,144", "21"}  # test_rust.py builds that program
    trained, untrained = json.loads(SCORES.read_text(encoding="utf-8")).values()
    means = (mean(trained), min(trained), max(trained), mean(untrained))
    training = {f"{score:.2f}" for score in means}
    assert training <= numbers
    assert numbers <= {*versions, *rust, *training, "0.2.5", "2020", "2022"}  # CompilerGym


def test_the_seeds_change_only_the_training_of_the_snippet() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "seed=3)" in snippet(3)
    assert snippet(3).replace(", seed=3", "") in text
    assert "learn(" not in snippet(3, trains=False)
