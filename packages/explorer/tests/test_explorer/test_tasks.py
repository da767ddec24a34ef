# SPDX-License-Identifier: MIT
import time

import compiler_gym

from .conftest import Client, Session


def test_every_action_is_tried_and_nothing_changes(crc: Session) -> None:
    (node,) = crc.step("mem2reg")
    events = crc.task("/try-all", {"node": node["id"], "costs": ["IrInstructionCount"]})
    tried = [one for event in events if event["kind"] == "tried" for one in event["tried"]]
    with compiler_gym.make("llvm-v0") as env:
        names = list(env.action_space.names)  # type: ignore[attr-defined]
    assert [one["name"] for one in tried] == names
    assert events[0]["task"]["total"] == len(names)
    assert events[-1]["task"]["status"] == "done"
    by_name = {one["name"]: one for one in tried}
    (after,) = crc.step("instcombine", parent=node["id"])
    assert by_name["instcombine"]["reward"] == after["reward"]
    assert by_name["instcombine"]["costs"] == after["costs"]
    assert not by_name["mem2reg"]["changed"]
    assert len(crc.get("")["nodes"]) == 3


def test_a_task_is_cancelled_and_told_so(crc: Session) -> None:
    task = crc.post("/try-all", {"node": 0})
    path = f"{crc.path}/tasks/{task['id']}"
    ended = crc.client.delete(path, 200)
    assert ended["status"] == "cancelled"
    assert ended["done"] < ended["total"]
    assert crc.client.events(f"{path}/events")[-1]["task"]["status"] == "cancelled"
    crc.get("/tasks/nonsense", 404)


def test_a_search_tells_how_far_it_is_and_its_best_becomes_a_branch(crc: Session) -> None:
    (node,) = crc.step("mem2reg")
    events = crc.task("/search", {"node": node["id"], "method": "greedy", "seconds": 2})
    kinds = [event["kind"] for event in events]
    assert kinds[0] == kinds[-1] == "task"
    assert "improved" in kinds
    final = [event for event in events if event["kind"] == "improved"][-1]
    assert final["reward"] >= node["reward"]
    assert [one["name"] for one in final["nodes"]] == final["actions"]
    best = crc.get(f"/nodes/{final['node']}")
    assert abs(best["total"] - final["reward"]) < 1e-6


def test_a_search_is_cancelled_soon_and_leaves_what_it_found(crc: Session) -> None:
    task = crc.post("/search", {"node": 0, "seconds": 600})
    time.sleep(1.0)
    path = f"{crc.path}/tasks/{task['id']}"
    crc.client.delete(path, 200)
    last = crc.client.events(f"{path}/events")[-1]  # the stream ends with the task
    assert last["task"]["status"] == "cancelled"


def test_requests_that_make_no_task_are_refused(client: Client, crc: Session) -> None:
    assert "portfolio" in crc.post("/search", {"method": "magic"}, 400)["message"]
    crc.post("/search", {"seconds": -1}, 400)
    crc.post("/search", {"seconds": 1e9}, 400)
    crc.post("/search", {"node": 99}, 404)
    crc.post("/try-all", {"node": 99}, 404)
    crc.post("/try-all", {"actions": ["nonsense"]}, 400)
    crc.post("/try-all", {"costs": ["nonsense"]}, 404)
    with client.open(action_space="Codegen", benchmark="cbench-v1/crc32") as session:
        assert "give those to try" in session.post("/try-all", {}, 400)["next"]
        action = [0] * 70
        events = session.task("/try-all", {"actions": [action]})
        assert events[1]["tried"][0]["changed"] is False


def test_concurrent_tasks_are_bounded(crc: Session) -> None:
    tasks = [crc.post("/search", {"seconds": 60}) for _ in range(4)]
    assert crc.post("/search", {"seconds": 60}, 429)["next"] == "cancel one of them"
    for task in tasks:
        crc.client.delete(f"{crc.path}/tasks/{task['id']}", 200)


def test_tasks_that_are_over_are_forgotten_in_time(crc: Session) -> None:
    ids: list[str] = []
    for _ in range(20):
        task = crc.post("/try-all", {"actions": ["dce"]})
        crc.client.events(f"{crc.path}/tasks/{task['id']}/events")
        ids.append(task["id"])
    crc.get(f"/tasks/{ids[0]}", 404)
    assert crc.get(f"/tasks/{ids[-1]}")["task"]["status"] == "done"
