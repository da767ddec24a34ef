# SPDX-License-Identifier: MIT
"""Graphs and tokens in the forms that libraries accept, made from the engine's columns."""

from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.spaces import GraphInstance

from compiler_gym._columns import taken, texts
from compiler_gym.core import DerivedObservation
from compiler_gym.envs.llvm.observations.names import (
    EDGE_KINDS,
    NODE_KINDS,
    PROGRAML_TEXTS,
    TOKEN_CATEGORIES,
    TOKEN_KINDS,
)
from compiler_gym.lazy import pause_collection
from compiler_gym.spaces import (
    Box,
    Dict,
    NetworkxGraph,
    Scalar,
    Sequence,
    SpaceSequence,
    Tuple,
    networkx_graph,
)

__all__ = ["LexedToken", "structure_observations"]

_LARGEST = 2**31 - 1


class LexedToken(NamedTuple):
    """One token of the IR text.

    >>> LexedToken(541, "Type", "type", "i32").str_value
    'i32'
    """

    ID: int
    """The number of the token's kind in LLVM's lexer."""
    kind: str
    """The name of the kind; for a keyword, ``kw_`` and the keyword."""
    category: str
    """A coarser classification, such as ``type``."""
    str_value: str
    """The text."""


def structure_observations() -> tuple[DerivedObservation, ...]:
    """Return the derived observations of a program's structure."""
    return (
        DerivedObservation(
            "Programl",
            "ProgramlJson",
            _to_networkx,
            lambda: NetworkxGraph("Programl"),
            "The ProGraML graph as a networkx.MultiDiGraph.",
        ),
        DerivedObservation(
            "ProgramlGraph",
            "ProgramlArrays",
            _to_graph_instance,
            _graph_space,
            "The ProGraML graph as Gymnasium's GraphInstance: nodes int32[n, 4] (kind, text, "
            "function, block), edges int32[m, 2] (kind, position), edge_links int32[m, 2].",
        ),
        DerivedObservation(
            "LexedIr",
            "LexedIrWords",
            _to_lists,
            _lists_space,
            "The IR text as tokens: the lists token_id, token_kind, token_category, token_value.",
        ),
        DerivedObservation(
            "LexedIrTuple",
            "LexedIrWords",
            _to_tuple,
            lambda: SpaceSequence(
                "LexedIrTuple",
                Tuple([_id_space(), *map(_text_space, ("kind", "category", "value"))], "token"),
            ),
            "The IR text as tokens: a tuple of LexedToken (ID, kind, category, str_value).",
        ),
    )


def _to_networkx(graph: dict[str, Any]) -> Any:
    with pause_collection():
        return networkx_graph(graph, "Programl", "ProgramlArrays, ProgramlGraph or ProgramlJson")


def _to_graph_instance(columns: dict[str, Any]) -> GraphInstance:
    def table(*names: str) -> Any:
        return np.stack([columns[name] for name in names], axis=1)

    return GraphInstance(
        table("node_kind", "node_text", "node_function", "node_block"),
        table("edge_kind", "edge_position"),
        table("edge_source", "edge_target"),
    )


def _graph_space() -> gymnasium.Space[Any]:
    low = np.array([0, 0, -1, -1], dtype=np.int32)
    high = np.array([len(NODE_KINDS) - 1, len(PROGRAML_TEXTS) - 1, _LARGEST, _LARGEST])
    most = np.array([len(EDGE_KINDS) - 1, _LARGEST], dtype=np.int32)
    return gymnasium.spaces.Graph(
        Box(low, high.astype(np.int32), "node", dtype=np.int32),
        Box(np.zeros(2, dtype=np.int32), most, "edge", dtype=np.int32),
    )


def _distinct_tokens(columns: dict[str, Any]) -> tuple[list[Any], ...]:
    """Return the distinct tokens in the order of `word_id`: a list for each field."""
    kinds = columns["word_id"].tolist()
    values = texts(columns["text"].tobytes(), columns["word_end"])
    token_kinds = map(TOKEN_KINDS.get, kinds)
    names = [name or "kw_" + value for name, value in zip(token_kinds, values, strict=True)]
    categories = list(map(TOKEN_CATEGORIES.__getitem__, columns["word_category"].tolist()))
    return kinds, names, categories, values


def _to_lists(columns: dict[str, Any]) -> dict[str, list[Any]]:
    names = ("token_id", "token_kind", "token_category", "token_value")
    indices = columns["token_word"]
    return {
        name: taken(column, indices)
        for name, column in zip(names, _distinct_tokens(columns), strict=True)
    }


def _to_tuple(columns: dict[str, Any]) -> tuple[LexedToken, ...]:
    # A token is immutable, so equal tokens can share one object.
    words = [LexedToken(*fields) for fields in zip(*_distinct_tokens(columns), strict=True)]
    return tuple(taken(words, columns["token_word"]))


def _id_space() -> Scalar:
    return Scalar("id", 0, None, dtype=int)


def _text_space(name: str) -> Sequence:
    return Sequence(name, (0, None), str)


def _lists_space() -> Dict:
    texts = {
        name: SpaceSequence(name, _text_space(name))
        for name in ("token_kind", "token_category", "token_value")
    }
    return Dict({"token_id": Sequence("token_id", (0, None), int), **texts}, name="LexedIr")
