# SPDX-License-Identifier: MIT
"""Graphs and tokens in the forms that libraries take hold what the engine's columns do."""

from collections.abc import Callable

from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.observations.derived.structure import LexedToken
from compiler_gym.envs.llvm.observations.names import (
    PROGRAML_TEXTS,
    TOKEN_CATEGORIES,
)

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
    categories = [TOKEN_CATEGORIES[i] for i in arrays["token_category"].tolist()]
    assert lists["token_category"] == categories
    rows = zip(*lists.values(), strict=True)
    assert at_reset.observation["LexedIrTuple"] == tuple(LexedToken(*row) for row in rows)
    words = at_reset.observation["LexedIrWords"]
    different = dict.fromkeys(zip(lists["token_id"], lists["token_value"], strict=True))
    assert len(words["word_id"]) == len(different)
    assert [kind for kind, _ in different] == words["word_id"].tolist()
    assert b"".join(value.encode() for _, value in different) == words["text"].tobytes()
