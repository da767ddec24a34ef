# SPDX-License-Identifier: MIT
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import compiler_gym
from compiler_gym_explorer.api import Api, Asked
from compiler_gym_explorer.records import NewSession
from compiler_gym_explorer.settings import Settings

from .conftest import LOOP, Client, Session, serving


def test_a_server_says_which_environments_searches_and_limits_there_are(client: Client) -> None:
    server = client.get("/api/server")
    ids = [one["id"] for one in server["environments"]]
    assert {"llvm-v0", "gcc-v0", "llvm-inline-v0"} <= set(ids)
    assert server["default_environment"] in ids
    assert "greedy" in [method["name"] for method in server["search_methods"]]


@pytest.mark.parametrize("id", ["llvm-v0", "gcc-v0", "llvm-inline-v0"])
def test_an_environment_is_described_with_what_can_be_looked_at(client: Client, id: str) -> None:
    found = client.get(f"/api/environments/{id}")
    seen = {one["name"] for one in found["observation_spaces"]}
    assert found["has_text"]
    assert {cost["name"] for cost in found["costs"]} <= seen
    assert {vector["name"] for vector in found["vectors"]} <= seen
    assert found["default_reward"] in [reward["name"] for reward in found["reward_spaces"]]
    running = {one["name"] for one in found["observation_spaces"] if one["runs_program"]}
    assert running
    assert not running & {"Ir", "asm", "IrInstructionCount", "obj_size"}


def test_programs_are_listed_and_searched_without_a_download(client: Client) -> None:
    found = client.get("/api/environments/llvm-v0/programs", search="CRC")
    assert found["benchmarks"][0] == "benchmark://cbench-v1/crc32"
    assert all("crc" in one.lower() for one in found["benchmarks"])
    few = client.get("/api/environments/llvm-v0/programs", dataset="cbench-v1", most=3)
    assert len(few["benchmarks"]) == 3
    assert few["more"]


def test_a_step_gives_what_the_environment_gives(crc: Session) -> None:
    nodes: list[dict[str, Any]] = crc.step("mem2reg", "instcombine", "mem2reg")
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCountOz") as env:
        env.reset(benchmark="cbench-v1/crc32")
        env.multistep([])
        for node in nodes:
            _, reward, *_, info = env.step(env.action_space[node["name"]])
            assert node["reward"] == pytest.approx(reward)
            assert node["changed"] is not info["action_had_no_effect"]
            assert node["costs"]["IrInstructionCount"] == env.observation["IrInstructionCount"]
    assert nodes[-1]["total"] == pytest.approx(sum(node["reward"] for node in nodes))
    assert [node["changed"] for node in nodes] == [True, True, False]
    assert nodes[2]["same_as"] == nodes[1]["id"]


def test_the_tree_forks_and_a_known_step_is_the_node_that_is_there(crc: Session) -> None:
    first, second = crc.step("mem2reg", "gvn")
    (other,) = crc.step("instcombine", parent=first["id"])
    assert other["parent"] == second["parent"] == first["id"]
    assert crc.step("mem2reg", "gvn") == [first, second]
    assert [node["id"] for node in crc.get("")["nodes"]] == [0, 1, 2, 3]


def test_more_states_than_are_kept_as_processes_are_reached_again(crc: Session) -> None:
    names = (
        "mem2reg gvn instcombine simplifycfg sroa dce licm indvars sink adce sccp ipsccp".split()
    )
    nodes = crc.step(*names, *names)
    for node in (nodes[2], nodes[20], nodes[0]):
        value = crc.get(f"/nodes/{node['id']}/observations/IrInstructionCount")["value"]
        assert value == node["costs"]["IrInstructionCount"]


def test_a_node_is_taken_out_with_all_that_follows(crc: Session) -> None:
    first, second = crc.step("mem2reg", "gvn")
    crc.client.delete(f"{crc.path}/nodes/{first['id']}")
    assert [node["id"] for node in crc.get("")["nodes"]] == [0]
    crc.get(f"/nodes/{second['id']}", 404)
    assert crc.client.delete(f"{crc.path}/nodes/0", 409)["type"] == "ExplorerError"


def test_mistakes_change_nothing_and_say_what_was_expected(crc: Session) -> None:
    crc.step("mem2reg")
    before = crc.get("")["nodes"]
    assert crc.step("mem2rge", status=400)["type"] == "InvalidActionError"
    assert "mem2reg" in crc.step("mem2rge", status=400)["message"]
    assert crc.step(10_000, status=400)["type"] == "InvalidActionError"
    assert crc.step({"a": 1}, status=400)["type"] == "InvalidActionError"
    assert crc.step("mem2reg", parent=77, status=404)
    crc.get("/nodes/x", 404)
    crc.get("/nodes/1/observations/Nonsense", 404)
    crc.get("/nodes/1/graphs/nonsense", 404)
    crc.get("/nodes/1/graphs/cfg", 400)
    crc.get("/nodes/1/ir", 404, function="nobody")
    crc.get("/difference", 400, a=0)
    crc.get("/difference", 400, a="x", b=1)
    assert crc.get("")["nodes"] == before


def test_costs_are_measured_on_request_and_remembered(crc: Session) -> None:
    (node,) = crc.step("mem2reg")
    names = ["ObjectTextSizeBytes", "McaCycles"]
    asked = {"nodes": [0, node["id"]], "names": names}
    before, after = crc.post("/costs", asked, 200)
    assert before["costs"]["ObjectTextSizeBytes"] > after["costs"]["ObjectTextSizeBytes"] > 0
    assert crc.get(f"/nodes/{node['id']}")["costs"].keys() >= set(names)
    assert crc.post("/costs", asked, 200) == [before, after]
    session = crc.client.server.api.registry.session(crc.record["id"])
    state = session._tree.state(node["id"])  # pyright: ignore[reportPrivateUsage]  # what is remembered
    state.costs["McaCycles"] = 1.5
    assert crc.post("/costs", asked, 200)[1]["costs"]["McaCycles"] == 1.5


def test_baselines_are_those_of_the_standard_levels(crc: Session) -> None:
    found = crc.get("/baselines", cost="IrInstructionCount")
    with compiler_gym.make("llvm-v0") as env:
        env.reset(benchmark="cbench-v1/crc32")
        assert found["-Oz"] == env.observation["IrInstructionCountOz"]
        assert found["-O0"] == env.observation["IrInstructionCountO0"]
    crc.get("/baselines", 404, cost="Autophase")


def test_texts_and_lines_of_a_pasted_program(loop: Session) -> None:
    (node,) = loop.step("mem2reg")
    where = f"/nodes/{node['id']}"
    assert loop.get("/source")["text"] == LOOP
    names = [one["name"] for one in loop.get(f"{where}/functions")["functions"]]
    assert names == ["twice", "sum", "main"]
    for text in (
        loop.get(f"{where}/ir", function="sum"),
        loop.get(f"{where}/assembly", function="sum"),
    ):
        lines = text["text"].split("\n")
        sources = dict(zip(text["line_map"]["lines"], text["line_map"]["sources"], strict=True))
        assert max(sources) <= len(lines)
        assert set(sources.values()) <= {2, 3, 4, 5, 6, 7}
        (called,) = (n for n, line in enumerate(lines, 1) if "call" in line and "twice" in line)
        assert sources[called] == 5
        assert "!dbg" not in text["text"]
        assert ".loc" not in text["text"]
    assert "!DILocation" not in loop.get(f"{where}/ir")["text"]


def test_functions_that_differ_come_first(loop: Session) -> None:
    (node,) = loop.step("mem2reg")
    found = loop.get("/difference", a=0, b=node["id"])["functions"]
    status = {one["name"]: one["status"] for one in found}
    assert status["sum"] == status["twice"] == "changed"
    assert status["main"] == "changed"  # its alloca went
    same = loop.get("/difference", a=0, b=0)["functions"]
    assert {one["status"] for one in same} == {"same"}


@pytest.mark.parametrize("kind", ["cfg", "calls", "loops", "programl"])
def test_graphs_mark_what_a_pass_changed(loop: Session, kind: str) -> None:
    (node,) = loop.step("mem2reg")
    found = loop.get(f"/nodes/{node['id']}/graphs/{kind}", function="sum", against=0)
    ids = {one["id"] for one in found["nodes"]}
    assert ids
    assert {edge["source"] for edge in found["edges"]} <= ids
    assert {edge["target"] for edge in found["edges"]} <= ids
    assert {one["status"] for one in found["nodes"]} & {"changed", "added", "same"}
    again = loop.get(f"/nodes/0/graphs/{kind}", function="sum", against=0)
    assert {one["status"] for one in again["nodes"]} == {"same"}
    assert again["removed_nodes"] == []


def test_vectors_are_seen_over_time(crc: Session) -> None:
    (node,) = crc.step("mem2reg")
    values = [crc.get(f"/nodes/{id}/observations/Autophase")["value"] for id in (0, node["id"])]
    assert len(values[0]) == len(values[1]) == 56
    assert values[0] != values[1]


def test_nothing_runs_a_program_unasked(crc: Session) -> None:
    refused = crc.get("/nodes/0/observations/Runtime", 403)
    assert "run=true" in refused["next"]
    assert crc.get("/nodes/0/observations/IsRunnable", run="true")["value"] is True
    crc.post("/costs", {"nodes": [0], "names": ["RuntimeInstructions"]}, 403)
    crc.post("/try-all", {"node": 0, "costs": ["RuntimeInstructions"]}, 403)
    asked = {"environment": "llvm-v0", "reward": "RuntimeSpeedup"}
    assert crc.client.post("/api/sessions", asked, 403)["type"] == "ExplorerError"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"text": "int f( {"}, "error"),
        ({"text": "   "}, "empty"),
        ({"text": "int x;", "language": "Fortran"}, "C++"),
        ({"text": "define i32 @f() { ret void }", "language": "IR"}, ""),
        ({"text": '#include "/etc/hostname"\n'}, "hostname"),
    ],
)
def test_bad_programs_are_refused_with_the_compilers_words(
    client: Client, source: dict[str, str], words: str
) -> None:
    refused = client.post("/api/sessions", {"environment": "llvm-v0", "source": source}, 400)
    assert refused["type"] == "BenchmarkInitError"
    assert words in refused["message"]


def test_pasted_ir_and_cxx_are_recognised(client: Client) -> None:
    cxx = "template <class T> T id(T x) { return x; }\nint main() { return id(0); }\n"
    with client.open(source={"text": cxx, "language": "C++"}) as session:
        assert "_Z2idIiET_S0_" in str(session.get("/nodes/0/functions"))
    ir = "define i32 @answer() {\n  ret i32 42\n}\n"
    with client.open(source={"text": ir}) as session:
        assert session.get("/nodes/0/functions")["functions"][0]["name"] == "answer"
        assert session.get("/source")["text"] == ir


def test_other_compilers_have_trees_too(client: Client) -> None:
    body = {"environment": "gcc-v0", "reward": "obj_size", "source": {"text": LOOP}}
    with client.open(**body) as session:
        (node,) = session.step("-O2")
        assert node["changed"]
        assert session.get("/difference", a=0, b=node["id"])["functions"][0]["status"] == "changed"
        costs = session.post("/costs", {"nodes": [0, node["id"]], "names": ["text_size"]}, 200)
        assert costs[0]["costs"]["text_size"] > costs[1]["costs"]["text_size"]
        session.get(f"/nodes/{node['id']}/assembly", 404)
    asked = {"environment": "llvm-inline-v0", "benchmark": "cbench-v1/crc32"}
    with client.open(**asked) as session:
        (node,) = session.step("inline")
        assert session.get(f"/nodes/{node['id']}/actions")["name"] == "Inlining"


def test_actions_of_several_numbers_are_lists(client: Client) -> None:
    with client.open(action_space="Codegen", benchmark="cbench-v1/crc32") as session:
        action = [0] * 70
        action[0] = 1
        (node,) = session.step(action)
        assert node["action"] == action
        (again,) = session.step([0] * 70, parent=node["id"])
        assert again["costs"] == node["costs"]


def test_sessions_are_bounded_and_idle_ones_make_room() -> None:
    with serving(most_sessions=2, idle_seconds=600.0) as client:
        first = client.open(benchmark="cbench-v1/crc32")
        client.open(benchmark="cbench-v1/crc32")
        refused = client.post("/api/sessions", {"environment": "llvm-v0"}, 429)
        assert "close one" in refused["next"]
        client.server.api.registry.session(first.record["id"])._used -= 700.0  # pyright: ignore[reportPrivateUsage]  # as if it had waited
        client.open(benchmark="cbench-v1/crc32")
        first.get("", 404)


def test_a_session_that_closes_while_sessions_are_listed_is_not_listed() -> None:
    with serving() as client, client.open(benchmark="cbench-v1/crc32") as kept:
        closing = client.open(benchmark="cbench-v1/crc32")
        client.server.api.registry.session(closing.record["id"]).close()  # still in the registry
        listed = client.get("/api/sessions")["sessions"]
        assert [one["id"] for one in listed] == [kept.record["id"]]


def test_several_sessions_do_not_disturb_each_other(client: Client) -> None:
    def explore(action: str) -> list[float]:
        with client.open(benchmark="cbench-v1/crc32") as session:
            nodes = session.step(action, "instcombine", "gvn")
            return [node["costs"]["IrInstructionCount"] for node in nodes]

    actions = ["mem2reg", "sroa", "simplifycfg", "mem2reg"]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(explore, actions))
    assert together == [explore(action) for action in actions]
    assert together[0] == together[3]


def test_an_episode_is_taken_up_where_it_ended(client: Client) -> None:
    with client.open(benchmark="cbench-v1/crc32") as session:
        nodes = session.step("mem2reg", "gvn")
        export = session.get(f"/nodes/{nodes[1]['id']}/export")
    (episode,) = client.post("/api/import", {"text": export["fragment"]}, 200)["episodes"]
    with client.open(episode=episode) as session:
        at = session.record["at"]
        assert session.record["nodes"][at]["costs"] == nodes[1]["costs"]


def test_an_api_is_also_used_without_http() -> None:
    api = Api(Settings())
    try:
        session = api.open_session(Asked(body=NewSession(benchmark="cbench-v1/crc32")))
        path: dict[str, Any] = {"session": session.id}
        assert api.session(Asked(path=path)).nodes[0].costs["IrInstructionCount"] > 0
    finally:
        api.close()
    with pytest.raises(compiler_gym.errors.ExplorerError, match="there is no session"):
        api.session(Asked(path=path))
