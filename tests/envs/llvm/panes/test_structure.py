# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from typing import Any

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv, GraphPane
from compiler_gym.envs.llvm import make_benchmark_from_source

SOURCE = """
static int inner(int x) { return x * 3; }
int outer(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) s += inner(j) + inner(i);
  return s;
}
int main(void) { return outer(3); }
"""


@pytest.fixture(scope="module")
def env() -> Iterator[CompilerEnv]:
    with compiler_gym.make("llvm-v0") as made:
        made.reset(benchmark=make_benchmark_from_source(SOURCE, lang="c"))
        yield made


def drawn(env: CompilerEnv, kind: str, function: str = "") -> Any:
    pane: GraphPane = next(one for one in env.panes.graphs if one.kind == kind)
    return pane.read([env.observation[name] for name in pane.observations], function)


def test_calls_show_caller_callee_and_count(env: CompilerEnv) -> None:
    graph = drawn(env, "calls")
    edges = {(edge.source, edge.target): edge.label for edge in graph.edges}
    assert edges[("main", "outer")] == ""
    assert edges[("outer", "inner")] == "2 times"
    near = drawn(env, "calls", "main")
    assert {node.id for node in near.nodes} == {"main", "outer"}


def test_loops_are_trees_below_their_functions(env: CompilerEnv) -> None:
    graph = drawn(env, "loops")
    edges = [(edge.source, edge.target) for edge in graph.edges]
    assert edges == [("outer", "outer/0"), ("outer/0", "outer/1")]
    assert "depth 2" in graph.nodes[2].label
    assert drawn(env, "loops", "main").nodes == ()


def test_a_program_graph_is_cut_to_a_function(env: CompilerEnv) -> None:
    whole, part = drawn(env, "programl"), drawn(env, "programl", "main")
    assert 0 < len(part.nodes) < len(whole.nodes)
    ids = {node.id for node in part.nodes}
    assert all(edge.source in ids and edge.target in ids for edge in part.edges)
    assert {node.function for node in part.nodes} == {"main"}
    assert {"control", "data", "call"} <= {edge.kind for edge in whole.edges}
