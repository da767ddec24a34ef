# SPDX-License-Identifier: MIT
# lunr has no types:
# pyright: reportMissingTypeStubs=false
"""The search of the site finds the right page for queries as people type them."""

from typing import Any

import pytest

pytest.importorskip("lunr")
pytest.importorskip("sphinx")

from lunr.index import Index

from docs.site.search import build_index, find_pages, read_pages, write_query

QUERIES = {
    "reduce binary size": "guide/tune guide/one-compile",
    "make executable smaller": "guide/tune guide/one-compile",
    "macos": "platforms",
    "windows": "platforms",
    "docker": "platforms guide/sandbox guide/gcc",
    "gpu": "platforms",
    "seed determinism": "guide/replay",
    "reproducible results": "guide/replay",
    "clang-22 not found": "guide/troubleshooting",
    "command not found": "guide/troubleshooting",
    "tab completion": "guide/completion",
    "undo": "guide/undo-and-clean-up",
    "uninstall": "guide/undo-and-clean-up",
    "delete cache": "guide/undo-and-clean-up",
    "save model": "guide/integrations/stable-baselines3",
    "load trained model": "guide/integrations/stable-baselines3",
    "install": "start",
    "quickstart": "start",
    "getting started": "start",
    "custom reward": "guide/observations",
    "custom observation": "guide/observations guide/add-an-observation",
    "vectorized environment": "guide/vector",
    "parallel environments": "guide/vector",
    "fork": "guide/processes",
    "PPO": "guide/integrations/stable-baselines3 results/learning",
    "MaskablePPO": "guide/integrations/stable-baselines3 guide/wrappers",
    "ray rllib": "guide/integrations/ray",
    "optuna": "guide/integrations/optuna guide/integrations",
    "time limit": "guide/wrappers",
    "max episode steps": "concepts guide/wrappers",
    "action mask": "guide/wrappers",
    "list of passes": "reference/llvm-actions",
    "autophase": "reference/llvm-observations guide/observations",
    "programl graph": "guide/observations reference/llvm-observations",
    "csmith": "reference/llvm-datasets reference/datasets/csmith-v0",
    "TimeLimit": "api/compiler_gym.wrappers guide/wrappers",
    "LLM agent": "guide/language-models",
    "MCP server": "guide/language-models guide/integrations/agents",
    "missed optimization": "guide/hunt",
    "miscompile": "guide/validation",
    "cmake": "guide/tune-in-a-build guide/one-compile",
    "ccache": "guide/tune-in-a-build",
    "steps per second": "reference/speed",
    "inlining": "guide/inlining reference/environments/llvm-inline-v0",
    "port from gym 0.2.5": "guide/porting",
    "profile slow": "guide/profile",
    "cross compile arm": "guide/machines",
    "research ideas": "guide/open-problems",
    "cite": "citing",
    "license": "faq",
    "sandbox untrusted code": "guide/sandbox",
    "resume interrupted run": "guide/runs",
}
"""Queries, and the pages of which one must be among the first three."""


@pytest.fixture(scope="module")
def index() -> Index:
    return build_index(read_pages())


def test_the_first_three_pages_answer_the_query(index: Index) -> None:
    assert len(QUERIES) >= 50
    missed = {
        query: find_pages(index, query)[:3]
        for query, wanted in QUERIES.items()
        if not {*wanted.split()} & {*find_pages(index, query)[:3]}
    }
    assert missed == {}


def test_any_word_is_enough_and_punctuation_is_harmless(index: Index) -> None:
    assert find_pages(index, "miscompile xyzzyq")[0] == find_pages(index, "miscompile")[0]
    assert find_pages(index, 'what: is "-Oz"? +(~^*)')
    assert find_pages(index, " ?! ") == []
    assert write_query("clang-22?") == "clang^8 clang* 22^8 22*"


def test_pages_for_contributors_are_not_among_the_results() -> None:
    names = {page.name for page in read_pages()}
    assert "start" in names
    assert "architecture" not in names
    assert not [name for name in names if name.startswith("decisions/")]


def test_synonyms_lead_to_a_page_that_lacks_the_word() -> None:
    settings: dict[str, Any] = {"keywords": {}, "synonyms": [["start", "commence"]]}
    index = build_index(read_pages(settings))
    assert "start" in find_pages(index, "commence")
