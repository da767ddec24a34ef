# SPDX-License-Identifier: MIT
"""Graphs, tokens, functions, calls, loops and vectors, compared with LLVM's own tools."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.observations import INST_COUNT_FEATURES
from compiler_gym.envs.llvm.observations.names import (
    FUNCTION_FEATURES,
)

MakeEnv = Callable[..., LlvmEnv]
Tool = Callable[..., bytes]
STATEMENT = re.compile(r"^  [^ \]]")


def bodies(ir: str) -> dict[str, list[str]]:
    """Return the text of each function's body by its name, a line per item."""
    found = re.findall(
        r"^define [^\n]*?@(\"[^\"]+\"|[\w.$-]+)\([^\n]*\{\n(.*?)^\}", ir, re.S | re.M
    )
    return {name.strip('"'): body.splitlines() for name, body in found}


def statements(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines if STATEMENT.match(line)]


def test_a_graph_has_the_instructions_that_the_disassembler_prints(at_reset: LlvmEnv) -> None:
    graph = at_reset.observation["Programl"]
    printed = [s for lines in bodies(at_reset.ir).values() for s in statements(lines)]
    nodes = [data for _, data in graph.nodes(data=True) if data["type"] == 0]
    texts = [
        data["features"]["full_text"][0].split("\n")[0]
        for data in nodes
        if data["text"] not in ("[external]", "; undefined function")
    ]
    assert [re.sub(r"\s*;.*", "", text) for text in texts] == printed
    declared = len(re.findall(r"^declare ", at_reset.ir, re.M))
    assert sum(data["text"] == "; undefined function" for data in nodes) == declared


def test_data_edges_are_the_operands_of_the_printed_instructions(at_reset: LlvmEnv) -> None:
    graph = at_reset.observation["Programl"]
    for node, data in graph.nodes(data=True):
        text = data["features"]["full_text"][0]
        if data["text"] in ("load", "trunc", "sext", "zext"):
            (source,) = [u for u, _, d in graph.in_edges(node, data=True) if d["flow"] == 1]
            operand = graph.nodes[source]["features"]["full_text"][0].split()[-1]
            assert re.search(rf"{re.escape(operand)}(,| to|$)", text), text
        if " = " in text and graph.nodes[node]["type"] == 0:
            results = [v for _, v, d in graph.out_edges(node, data=True) if d["flow"] == 1]
            names = {graph.nodes[v]["features"]["full_text"][0].split()[-1] for v in results}
            assert names <= {text.split(" = ")[0]}


def test_control_edges_are_the_successors_of_the_printed_branches(at_reset: LlvmEnv) -> None:
    graph = at_reset.observation["Programl"]
    for node, data in graph.nodes(data=True):
        if data["text"] == "br":
            ends = sorted(
                (d["position"], graph.nodes[v]["block"])
                for _, v, d in graph.out_edges(node, data=True)
                if d["flow"] == 0
            )
            labels = re.findall(r"label %\d+", data["features"]["full_text"][0])
            assert [position for position, _ in ends] == list(range(len(labels)))


def test_call_edges_lead_to_the_callee_and_back(at_reset: LlvmEnv) -> None:
    graph = at_reset.observation["Programl"]
    names = graph.graph["function"]
    for node, data in graph.nodes(data=True):
        called = re.search(r"@([\w.]+)\(", data["features"]["full_text"][0])
        if data["text"] == "call" and called:
            (callee,) = {v for _, v, d in graph.out_edges(node, data=True) if d["flow"] == 2}
            assert names[graph.nodes[callee]["function"]] == called[1]
            back = {u for u, _, d in graph.in_edges(node, data=True) if d["flow"] == 2}
            assert {graph.nodes[u]["function"] for u in back} == {graph.nodes[callee]["function"]}


def test_every_value_has_its_type(at_reset: LlvmEnv) -> None:
    graph = at_reset.observation["Programl"]
    for node, data in graph.nodes(data=True):
        if data["type"] in (1, 2):
            (kind,) = [u for u, _, d in graph.in_edges(node, data=True) if d["flow"] == 3]
            text = data["features"]["full_text"][0]
            assert text.startswith(graph.nodes[kind]["text"].split(" = ")[0]), text


def test_tokens_cover_the_text_and_count_its_instructions(at_reset: LlvmEnv) -> None:
    tokens = at_reset.observation["LexedIrTuple"]
    text = at_reset.ir
    without_comments = "\n".join(re.sub(r'(?<!")\s;[^"]*$', "", line) for line in text.splitlines())
    squeezed = re.sub(r"^;.*$", "", without_comments, flags=re.M)
    assert "".join(t.str_value for t in tokens).replace(" ", "") == re.sub(r"\s", "", squeezed)
    counted = Counter(token.category for token in tokens)
    assert counted["instruction"] == at_reset.observation["IrInstructionCount"]
    lists = at_reset.observation["LexedIr"]
    assert [token.str_value for token in tokens] == lists["token_value"]


def test_function_features_are_those_that_opt_prints(
    at_reset: LlvmEnv, tool: Tool, tmp_path: Path
) -> None:
    path = at_reset.write_bitcode(tmp_path / "module.bc")
    flags = ("-passes=print<func-properties>", "-enable-detailed-function-properties")
    command = f"opt-22 {' '.join(flags)} -disable-output {path} 2>&1".replace(
        "print<func-properties>", "'print<func-properties>'"
    )
    printed = tool("bash", "-c", command).decode()
    table = at_reset.observation["FunctionFeatures"]
    sections = dict(re.findall(r"for function '([^']+)':\n((?:\w+: -?\d+\n)+)", printed))
    assert list(sections) == list(table["names"])
    for name, row in zip(table["names"], table["features"].tolist(), strict=True):
        values = dict(zip(FUNCTION_FEATURES, row, strict=True))
        for key, value in re.findall(r"(\w+): (-?\d+)", sections[name]):
            assert values[f"Properties.{key}"] == int(value), (name, key)


def test_function_features_add_up_to_the_module(at_reset: LlvmEnv) -> None:
    table, counts = at_reset.observation["FunctionFeatures"], at_reset.observation["InstCount"]
    summed = table["features"].sum(axis=0)
    assert summed[: len(INST_COUNT_FEATURES) - 3].tolist() == counts[3:].tolist()
    printed = {name: len(statements(lines)) for name, lines in bodies(at_reset.ir).items()}
    column = FUNCTION_FEATURES.index("Instructions")
    assert dict(zip(table["names"], table["features"][:, column], strict=True)) == printed


def test_a_shape_ignores_names_and_constants(make_env: MakeEnv, tmp_path: Path) -> None:
    source = "int {0}(int *p, int n) {{ int s = {1}; while (n--) s += p[n] * {1}; return s; }}\n"
    text = "".join(source.format(*one) for one in (("first", 1), ("second", 7)))
    path = tmp_path / "program.c"
    path.write_text(f"{text}int other(void) {{ return 3; }}\n")
    env = make_env(benchmark=path.as_uri())
    env.reset()
    table = env.observation["FunctionShapes"]
    shapes = dict(zip(table["names"], table["shapes"].tolist(), strict=True))
    assert shapes["first"] == shapes["second"] != shapes["other"]
    assert table["instructions"].sum() == env.observation["IrInstructionCount"]
    assert not table["is_odr"].any()


def test_the_call_graph_is_that_of_the_printed_calls(at_reset: LlvmEnv) -> None:
    graph = at_reset.observation["CallGraph"]
    edges = {
        (graph["names"][a], graph["names"][b]): n
        for a, b, n in zip(*(graph[k].tolist() for k in ("caller", "callee", "calls")), strict=True)
    }
    printed = Counter(
        (name, called[1])
        for name, lines in bodies(at_reset.ir).items()
        for line in statements(lines)
        if (called := re.search(r"\bcall [^@]*@([\w.]+)\(", line)) and " asm " not in line
    )
    assert edges == printed


def test_loops_are_those_that_opt_prints(at_reset: LlvmEnv, tool: Tool, tmp_path: Path) -> None:
    at_reset.multistep([at_reset.action_space[name] for name in ("sroa", "loop-rotate")])
    path = at_reset.write_bitcode(tmp_path / "module.bc")
    printed = tool("bash", "-c", f"opt-22 -passes='print<loops>' -disable-output {path} 2>&1")
    depths = Counter(map(int, re.findall(rb"Loop at depth (\d+)", printed)))
    forest = at_reset.observation["LoopForest"]
    assert Counter(forest["depth"].tolist()) == depths
    for row, parent in enumerate(forest["parent"].tolist()):
        if parent >= 0:
            assert forest["depth"][row] == forest["depth"][parent] + 1
            assert forest["function"][row] == forest["function"][parent]


def test_trip_counts_are_those_that_opt_proves(
    make_env: MakeEnv, tool: Tool, tmp_path: Path
) -> None:
    env = make_env(benchmark="cbench-v1/sha")
    env.reset()
    env.multistep([env.action_space[name] for name in ("sroa", "loop-rotate", "indvars")])
    path = env.write_bitcode(tmp_path / "module.bc")
    printed = tool(
        "bash", "-c", f"opt-22 -passes='print<scalar-evolution>' -disable-output {path} 2>&1"
    ).decode()
    proven = Counter(
        int(count) + 1 for count in re.findall(r": backedge-taken count is i\d+ (\d+)", printed)
    )
    trips = env.observation["LoopForest"]["trip_count"].tolist()
    assert proven
    assert not Counter(trips) - proven - Counter([0] * len(trips))
