# SPDX-License-Identifier: MIT
"""The kept results of tutorials belong to the present text and API; the slow tests run them."""

import json
import sys
from pathlib import Path

import pytest

from docs.site import tutorial_pages
from docs.site.tutorial_pages import page, to_pages
from docs.tutorials import FOLDER, NAMES, OWN, belonging, install_line, results, text
from tests.stand_ins import always, stand_in

NEEDS = {"train_ppo": "stable_baselines3", "graph_network": "torch"}


def test_every_tutorial_is_listed() -> None:
    assert sorted(NAMES) == sorted(path.stem for path in FOLDER.glob("[!_]*.py"))
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert [f"(results/{name}.ipynb)" in index for name in NAMES] == [True] * len(NAMES)
    assert all(f"({name}.md)" in to_pages(index) for name in NAMES)


def test_the_first_cell_of_a_notebook_installs_what_it_needs() -> None:
    for name in NAMES:
        cell = json.loads(results(name).read_text(encoding="utf-8"))["cells"][0]
        assert cell["source"] == [install_line(name)]
        assert install_line(name) not in page(name)[0]


def test_a_link_to_colab_is_shown_where_the_repository_has_an_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "colab" not in page("first_steps")[0]
    monkeypatch.setattr(tutorial_pages, "repository", lambda: "https://github.com/us/it")
    assert (
        "https://colab.research.google.com/github/us/it/blob/main/docs/tutorials/results/"
        "first_steps.ipynb" in page("first_steps")[0]
    )


@pytest.mark.parametrize("name", NAMES)
def test_kept_results_belong_to_the_text_and_to_the_api(name: str) -> None:
    notebook = json.loads(results(name).read_text(encoding="utf-8"))
    again = f"run `python -m docs.tutorials {name}`"
    assert notebook["metadata"][OWN] == belonging(text(name)), again
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    errors = [out for cell in code for out in cell["outputs"] if out["output_type"] == "error"]
    assert errors == []
    said = [out for cell in code for out in cell["outputs"] if out.get("name") == "stderr"]
    assert said == []  # a warning is for who writes a tutorial, not for who reads it


@pytest.mark.parametrize("name", NAMES)
def test_a_tutorial_ends_with_a_picture(name: str) -> None:
    shown, pictures = page(name)
    assert shown.startswith("# ")
    assert shown.replace("../results/", "").count("results/") == len(pictures) + 1
    assert pictures
    assert all(content.startswith(b"\x89PNG") for content in pictures.values())
    assert f"results/{name}.ipynb" in shown
    assert "```python" not in shown.rpartition("![")[2].replace("```python\nenv.close()\n```", "")


def test_output_of_a_cell_in_pieces_is_shown_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = [
        {"output_type": "stream", "name": "stdout", "text": [one]} for one in ("25", " things\n")
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# T"]},
        {"cell_type": "code", "source": ["f()"], "outputs": pieces},
    ]
    (tmp_path / "t.ipynb").write_text(json.dumps({"cells": cells}))
    monkeypatch.setattr(
        "docs.site.tutorial_pages.results", stand_in(lambda name: tmp_path / f"{name}.ipynb")
    )
    assert page("t")[0].endswith("```text\n25 things\n```\n")


def test_results_of_another_text_or_another_signature_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)  # pyright: ignore[reportUnknownMemberType]  # pytest leaves its path untyped
    written = text("first_steps")
    known = belonging(written)
    assert belonging(written + "\n")["text"] != known["text"]
    assert belonging(written + "\n")["api"] == known["api"]
    import compiler_gym

    monkeypatch.setattr(compiler_gym, "make", always(None))
    assert belonging(written)["api"] != known["api"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_tutorial_runs_within_two_minutes(name: str, tmp_path: Path) -> None:
    pytest.importorskip("nbclient", reason="nbclient is missing")
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{NEEDS[name]} is missing", exc_type=ImportError)
    import resource
    import subprocess

    root = FOLDER.parents[1]
    command = [sys.executable, "-m", "docs.tutorials", name, "--folder", str(tmp_path)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr[-5000:]
    assert (tmp_path / f"{name}.ipynb").is_file()
    # Of processor time: another program on the machine is no fault of the text.
    assert after.ru_utime - before.ru_utime < 120
