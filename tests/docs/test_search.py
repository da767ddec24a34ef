# SPDX-License-Identifier: MIT
# lunr has no types:
# pyright: reportMissingTypeStubs=false
"""The search of the site finds the right page for queries as people type them."""

import re
import tomllib
from typing import Any

import pytest

pytest.importorskip("lunr")
pytest.importorskip("sphinx")

from lunr.index import Index
from lunr.token import Token

from docs.browser import CHROMIUM, start_browser
from docs.site.search import (
    DOCS,
    SearchPage,
    build_index,
    find_pages,
    read_pages,
    stem,
    write_query,
)

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
    "make binary smaller cmake": "guide/one-compile guide/tune-in-a-build",
    "cargo rust": "guide/rust",
    "render episode human mode": "guide/observations",
    "ModuleNotFoundError torch": "guide/troubleshooting",
    "firmware too big for flash": "guide/size-budget guide/machines",
    "rust binary size": "guide/rust",
    "meson build": "guide/one-compile guide/tune-in-a-build",
    "fail CI when binary grows": "guide/size-budget",
    "how much smaller than -Oz": "results/tune guide/tune",
    "what is a reward": "concepts",
    "use my own C file as benchmark": "guide/real-programs concepts start",
    "write a gym wrapper": "guide/wrappers",
    "pickle env multiprocessing": "guide/processes guide/vector",
    "worker process crashed": "guide/troubleshooting guide/processes",
    "pass hangs timeout": "guide/troubleshooting guide/processes",
    "No module named stable_baselines3": "guide/troubleshooting",
    "GLIBC version not found": "platforms guide/troubleshooting",
    "wandb logging": "guide/integrations/trackers",
    "hyperparameter tuning": "guide/integrations/ray-tune guide/integrations/optuna-nevergrad",
    "genetic algorithm": "guide/search",
    "offline rl dataset": "guide/integrations/minari guide/integrations/transitions guide/collect",
    "openai function calling": "guide/language-models",
    "make my program run faster": "guide/tune-speed",
    "which llvm version": "versions platforms faq",
    "supported python versions": "versions platforms",
    "submit to leaderboard": "guide/leaderboard",
    "best clang flags for small code": "guide/recipes reference/llvm-recipes guide/one-compile",
    "phase ordering": "concepts guide/search glossary-compilers",
    "where are datasets stored on disk": "guide/undo-and-clean-up guide/caching",
    "serve policy over http": "guide/serve-policy",
    "size of each function": "guide/size",
    "see what a pass changed diff": "guide/web guide/passes",
    "unshare permission denied container": "guide/sandbox guide/troubleshooting platforms",
    "env.step returns five values": "guide/porting concepts",
    "save results to csv": "guide/search guide/leaderboard guide/runs guide/collect",
    "stop after 10 minutes": "guide/tune guide/search guide/wrappers",
    "smaller docker image": "guide/one-compile guide/tune platforms guide/size",
    "embedding of a program": "guide/observations reference/llvm-observations",
    "gymnasium check_env": "guide/integrations/stable-baselines3 guide/wrappers",
    "env.close hangs": "guide/processes guide/troubleshooting",
    "minimal failing sequence": "guide/validation",
    "convert C to bitcode": "guide/observations guide/corpus concepts guide/troubleshooting",
    "loop unrolling factor": "guide/marks guide/passes",
    "trained weights for inliner": "guide/serve-policy guide/inlining guide/train-a-policy",
    "keep debug symbols": "guide/one-compile guide/tune guide/size guide/tune-in-a-build",
    "cost of one episode in seconds": "reference/speed guide/profile",
    "mutate pass sequence": "guide/search",
    "run tests after optimising": "guide/tune guide/validation",
    "go program": "guide/another-language guide/rust",
}
"""Queries, and the pages of which one must be among the first three."""


@pytest.fixture(scope="module")
def index() -> Index:
    return build_index(read_pages())


def test_the_first_three_pages_answer_the_query(index: Index) -> None:
    assert len(QUERIES) >= 100
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
    assert write_query("clang-22?") == "clang^8 clang* 22^8"
    assert write_query("how to use the clang") == write_query("use clang")
    assert write_query("how") == "how^8 how*"


def test_a_page_that_has_every_word_is_before_one_that_repeats_one_of_them() -> None:
    others = {f"other {number}": ("cargo",) for number in range(4)}  # a frequent word counts less
    headings = {"repeats": ("rust",) * 8, "both": ("rust", "cargo"), **others}
    index = build_index([SearchPage(name, "", "", words, "") for name, words in headings.items()])
    lunr: Any = index
    assert lunr.search(write_query("cargo rust"))[0]["ref"] == "repeats"
    assert find_pages(index, "cargo rust")[:2] == ["both", "repeats"]


def test_a_guide_is_before_a_page_that_lists_or_measures() -> None:
    index = build_index(
        [SearchPage(name, "Speed", "", (), "") for name in ("reference/speed", "guide/speed")]
    )
    assert find_pages(index, "speed") == ["guide/speed", "reference/speed"]


def test_tutorials_and_questions_in_bold_are_found(index: Index) -> None:
    pages = {page.name: page for page in read_pages()}
    assert "tutorials/train_ppo" in pages
    assert "An action does nothing." in pages["guide/troubleshooting"].headings


def test_every_guide_has_keywords_and_every_keyword_a_page() -> None:
    settings = tomllib.loads((DOCS / "site" / "search.toml").read_text(encoding="utf-8"))
    names = {page.name for page in read_pages()}
    guides = {name for name in names if name.startswith("guide/")} - {"guide/index"}
    assert guides - settings["keywords"].keys() == set()
    assert settings["keywords"].keys() - names == set()


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is missing")
def test_the_browser_ranks_pages_as_this_module_does(index: Index) -> None:
    pytest.importorskip("playwright")
    with start_browser() as browser:
        page = browser.new_page()
        for name in ("lunr.min.js", "search.js"):
            page.add_script_tag(path=DOCS / "_site" / name)
        ranked = page.evaluate(
            "([data, queries]) => { const index = lunr.Index.load(data); return queries.map("
            "query => findPages(index, query).slice(0, 3).map(result => result.ref)); }",
            [index.serialize(), [*QUERIES]],
        )
        words = sorted(
            {word for page in read_pages() for word in re.findall(r"\w+", page.text.lower())}
        )
        stems = page.evaluate(
            "words => words.map(word => lunr.stemmer(new lunr.Token(word)).toString())", words
        )
    assert dict(zip(QUERIES, ranked, strict=True)) == {
        query: find_pages(index, query)[:3] for query in QUERIES
    }
    assert dict(zip(words, stems, strict=True)) == {word: str(stem(Token(word))) for word in words}


def test_pages_for_contributors_are_not_among_the_results() -> None:
    names = {page.name for page in read_pages()}
    assert "start" in names
    assert "architecture" not in names
    assert not [name for name in names if name.startswith("decisions/")]


def test_synonyms_lead_to_a_page_that_lacks_the_word() -> None:
    settings: dict[str, Any] = {"keywords": {}, "synonyms": [["start", "commence"]]}
    index = build_index(read_pages(settings))
    assert "start" in find_pages(index, "commence")
