# SPDX-License-Identifier: MIT
"""Graphs, tokens, functions, calls, loops and vectors, compared with LLVM's own tools."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compiler_gym import _llvm
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.observations import INST_COUNT_FEATURES
from compiler_gym.envs.llvm.observations.derived.structure import LexedToken
from compiler_gym.envs.llvm.observations.ir2vec import vocabulary_path
from compiler_gym.envs.llvm.observations.names import (
    FUNCTION_FEATURES,
    PROGRAML_TEXTS,
    TOKEN_CATEGORIES,
    TOKEN_KINDS,
)

MakeEnv = Callable[..., LlvmEnv]
Tool = Callable[..., bytes]
PROGRAMS = ("crc32", "qsort", "susan")
STATEMENT = re.compile(r"^  [^ \]]")


@pytest.fixture(params=PROGRAMS)
def at_reset(request: pytest.FixtureRequest, make_env: MakeEnv) -> LlvmEnv:
    env = make_env(benchmark=f"cbench-v1/{request.param}")
    env.reset()
    return env


def bodies(ir: str) -> dict[str, list[str]]:
    """Return the text of each function's body by its name, a line per item."""
    found = re.findall(
        r"^define [^\n]*?@(\"[^\"]+\"|[\w.$-]+)\([^\n]*\{\n(.*?)^\}", ir, re.S | re.M
    )
    return {name.strip('"'): body.splitlines() for name, body in found}


def statements(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines if STATEMENT.match(line)]


def test_the_tables_of_names_are_those_of_the_engine() -> None:
    assert list(PROGRAML_TEXTS) == _llvm.program_graph_texts()
    assert list(FUNCTION_FEATURES) == _llvm.function_feature_names()
    assert list(TOKEN_CATEGORIES) == _llvm.token_categories()
    assert sorted(TOKEN_KINDS.items()) == _llvm.token_kinds()


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


@pytest.mark.parametrize(
    ("name", "kind"), [("IR2Vec", "symbolic"), ("IR2VecFlowAware", "flow-aware")]
)
def test_vectors_are_those_of_llvms_own_tool(
    at_reset: LlvmEnv, tool: Tool, tmp_path: Path, name: str, kind: str
) -> None:
    path = at_reset.write_bitcode(tmp_path / "module.bc")
    flags = (f"--ir2vec-kind={kind}", f"--ir2vec-vocab-path={vocabulary_path()}", "--level=func")
    printed = tool("llvm-ir2vec-22", "embeddings", *flags, path).decode()
    found = at_reset.observation[f"{name}Functions"]
    rows = re.findall(r"^Function: (\S+)\n\s*\[([^\]]*)\]", printed, re.M)
    assert [row[0] for row in rows] == list(found["names"])
    for (_, numbers), vector in zip(rows, found["vectors"], strict=True):
        expected = np.array(numbers.split(), dtype=float)
        assert np.allclose(vector, expected, atol=0.006), "the tool prints two decimals"
    assert np.allclose(at_reset.observation[name], found["vectors"].sum(axis=0))


def test_a_record_says_what_the_last_action_did(make_env: MakeEnv) -> None:
    env = make_env(benchmark="cbench-v1/crc32", observation_space="InstCount")
    before, _ = env.reset()
    for action in ("sroa", "instcombine", "gvn", "simplifycfg"):
        after, _, _, _, _ = env.step(env.action_space[action])
        record = env.observation["PassStatistics"]
        assert (record["added"] - record["removed"])[:2].tolist() == (after - before)[:2].tolist()
        assert (record["added"] - record["removed"])[3:].tolist() == (after - before)[3:].tolist()
        assert record["changed"] == bool(record["changed_functions"])
        before = after


def test_remarks_are_those_that_opt_writes(make_env: MakeEnv, tool: Tool, tmp_path: Path) -> None:
    env = make_env(benchmark="cbench-v1/crc32")
    env.reset()
    env.step(env.action_space["sroa"])
    path = env.write_bitcode(tmp_path / "module.bc")
    env.step(env.action_space["gvn"])
    remarks = env.observation["PassStatistics"]["remarks"]
    written = tmp_path / "remarks.yaml"
    pipeline = env.action_space.to_string([env.action_space["gvn"]]).split("-passes=")[1].split()[0]
    tool("bash", "-c", f"opt-22 -passes={pipeline} -pass-remarks-output={written} "
         f"-pass-remarks-filter=. {path} -disable-output")  # fmt: skip
    kinds = Counter(re.findall(r"^--- !(\w+)", written.read_text(), re.M))
    assert kinds
    assert Counter(remark["kind"] for remark in remarks) == {
        kind.lower(): count for kind, count in kinds.items()
    }
    names = re.findall(r"^Name: +(\S+)", written.read_text(), re.M)
    assert [remark["name"] for remark in remarks] == names


def test_recording_changes_no_result(make_env: MakeEnv) -> None:
    hashes = []
    for observed in (None, "PassStatistics"):
        env = make_env(benchmark="cbench-v1/qsort", observation_space=observed)
        env.reset()
        actions = [env.action_space[n] for n in ("inline", "sroa", "loop-rotate", "licm", "gvn")]
        for action in actions:
            env.step(action)
        hashes.append(env.observation["IrHash"])
    assert hashes[0] == hashes[1]


def test_nothing_recorded_before_the_first_action_or_after_one_without_effect(
    make_env: MakeEnv,
) -> None:
    env = make_env(benchmark="cbench-v1/qsort")
    env.reset()
    assert not env.observation["PassStatistics"]["changed"]
    env.step(env.action_space["sroa"])
    assert env.observation["PassStatistics"]["changed"]
    env.step(env.action_space["sroa"])
    record = env.observation["PassStatistics"]
    assert (record["changed"], int(record["added"].sum())) == (False, 0)
