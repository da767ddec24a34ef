# SPDX-License-Identifier: MIT
"""Graphs and tokens in the forms that libraries take hold what the engine's columns do."""

import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.observations.derived.structure import (
    LexedToken,
    structure_observations,
)
from compiler_gym.envs.llvm.observations.names import (
    PROGRAML_TEXTS,
    TOKEN_CATEGORIES,
    TOKEN_KINDS,
)
from compiler_gym.errors import ObservationError

MakeEnv = Callable[..., LlvmEnv]


def test_the_forms_of_a_graph_agree(at_reset: LlvmEnv) -> None:
    json, arrays = at_reset.observation["ProgramlJson"], at_reset.observation["ProgramlArrays"]
    instance, graph = at_reset.observation["ProgramlGraph"], at_reset.observation["Programl"]
    assert graph.number_of_nodes() == len(json["nodes"]) == len(arrays["node_kind"])
    assert graph.number_of_edges() == len(json["links"]) == len(arrays["edge_kind"])
    assert [n["type"] for n in json["nodes"]] == arrays["node_kind"].tolist()
    assert [e["flow"] for e in json["links"]] == arrays["edge_kind"].tolist()
    assert [(e["source"], e["target"]) for e in json["links"]] == [
        tuple(link) for link in instance.edge_links.tolist()
    ]
    assert instance.nodes[:, 0].tolist() == arrays["node_kind"].tolist()
    for node, text in zip(json["nodes"], arrays["node_text"].tolist(), strict=True):
        assert node["type"] == 3 or node["text"] == PROGRAML_TEXTS[text]


def test_the_forms_of_the_tokens_agree(at_reset: LlvmEnv) -> None:
    arrays, lists = at_reset.observation["LexedIrArrays"], at_reset.observation["LexedIr"]
    text = arrays["text"].tobytes()
    spans = zip(arrays["token_start"].tolist(), arrays["token_end"].tolist(), strict=True)
    assert lists["token_value"] == [text[start:end].decode() for start, end in spans]
    assert lists["token_id"] == arrays["token_id"].tolist()
    categories = [TOKEN_CATEGORIES[int(i)] for i in arrays["token_category"].tolist()]
    assert lists["token_category"] == categories
    rows = zip(*lists.values(), strict=True)
    assert at_reset.observation["LexedIrTuple"] == tuple(LexedToken(*row) for row in rows)
    words = at_reset.observation["LexedIrWords"]
    different = dict.fromkeys(zip(lists["token_id"], lists["token_value"], strict=True))
    assert len(words["word_id"]) == len(different)
    assert [kind for kind, _ in different] == words["word_id"].tolist()
    assert b"".join(value.encode() for _, value in different) == words["text"].tobytes()


WORDS: dict[str, Any] = {
    "text": np.frombuffer(b"i32@fnoalias", dtype=np.uint8),
    "word_end": np.array([3, 5, 12]),
    "word_id": np.array([541, 520, 60]),
    "word_category": np.array([3, 8, 4]),
    "token_word": np.array([2, 0, 1, 0]),
}
DERIVED = {one.id: one for one in structure_observations()}


def space_of(name: str) -> gymnasium.Space[Any]:
    make = DERIVED[name].make_space
    assert make is not None
    return make()


def test_a_token_that_comes_again_is_the_same_in_every_place() -> None:
    tokens = DERIVED["LexedIrTuple"].translate(WORDS)
    assert [token.str_value for token in tokens] == ["noalias", "i32", "@f", "i32"]
    assert tokens[1] is tokens[3]
    assert tokens[0].kind == "kw_noalias"
    assert tokens[1].kind == TOKEN_KINDS[541]
    assert tokens[1].category == TOKEN_CATEGORIES[3]
    assert tokens in space_of("LexedIrTuple")


def test_lists_and_tuples_of_tokens_hold_the_same() -> None:
    lists = DERIVED["LexedIr"].translate(WORDS)
    tokens = DERIVED["LexedIrTuple"].translate(WORDS)
    rows = zip(*(lists[name] for name in lists), strict=True)
    assert [tuple(token) for token in tokens] == list(rows)
    assert lists in space_of("LexedIr")


def test_without_networkx_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ObservationError, match="pip install networkx"):
        DERIVED["Programl"].translate({"nodes": [], "links": []})
