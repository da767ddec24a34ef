# SPDX-License-Identifier: MIT
"""The guide's table of searches is what is stored, and says on how many programs."""

import json

from benchmarks.loop_search import PAGE, RESULTS, load_agent, text_of


def test_a_column_says_how_many_programs_had_that_long() -> None:
    agent = load_agent()
    both = {name: {"0.5": 2.0, "60": 4.0} for name in agent.METHODS}
    short = {name: {"0.5": 8.0} for name in agent.METHODS}
    begun = {"learnt": {"0.5": 100.0, "60": 100.0}}
    results = {"speedups": {"one": both, "two": short, "three": begun}}
    text = text_of(agent, results).splitlines()
    assert text[0] == "| method | 0.5 s, 2 programs | 60 s, 1 program |"
    assert "| random | 4.0 (2.0 to 8.0) | 4.0 (4.0 to 4.0) |" in text
    assert len(text) == 2 + len(agent.METHODS)


def test_the_guide_shows_what_is_stored() -> None:
    agent = load_agent()
    text = text_of(agent, json.loads(RESULTS.read_text("utf-8")))
    assert text in PAGE.read_text("utf-8"), "run: python -m benchmarks.loop_search --table"
