# SPDX-License-Identifier: MIT
"""A copy belongs to the parent of its origin, whichever way it was made."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, json, os, signal, sys, threading
from compiler_gym.service.limits import adopt_orphans
from compiler_gym.service.sibling import fork_sibling

if "twice" in sys.argv:  # another thread rules the single step out
    threading.Thread(target=threading.Event().wait, daemon=True).start()

adopt_orphans()
parent = os.getpid()
told, tell = os.pipe()
origin_ended, end_origin = os.pipe()

def report(**facts):
    os.write(tell, (json.dumps(facts) + "\\n").encode())

if os.fork() == 0:  # the origin
    if "twice" in sys.argv:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    waiting, ready = os.pipe()
    kept = [1, 2, 3]
    child = fork_sibling(parent, ready)
    if child == 0:
        os.close(end_origin)
        os.read(origin_ended, 1)  # until the origin has gone
        death = ctypes.c_int()
        ctypes.CDLL(None).prctl(2, ctypes.byref(death), 0, 0, 0)
        report(who="copy", pid=os.getpid(), parent=os.getppid(), leads=os.getsid(0), kept=kept,
               death=death.value, thread=threading.get_ident() == threading.main_thread().ident)
        os._exit(7)
    kept.append(4)
    report(who="origin", child=child, byte=os.read(waiting, 1).hex(), kept=kept)
    os._exit(0)

os.close(end_origin)
statuses = {}
for _ in range(2):
    pid, status = os.wait()
    statuses[pid] = os.waitstatus_to_exitcode(status)
report(who="parent", pid=parent, statuses=statuses)
sys.stdout.write(os.read(told, 65536).decode())
"""


@pytest.mark.parametrize("way", ["once", "twice"])
def test_a_copy_is_a_child_of_its_origins_parent(way: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, way], capture_output=True, text=True, timeout=60, check=True
    )
    facts = {record.pop("who"): record for record in map(json.loads, done.stdout.splitlines())}
    copy, origin, parent = facts["copy"], facts["origin"], facts["parent"]
    assert origin["byte"] == "01"
    assert origin["child"] == copy["pid"] == copy["leads"]
    assert copy["parent"] == parent["pid"]
    assert copy["death"] == 9
    assert copy["thread"]
    assert (origin["kept"], copy["kept"]) == ([1, 2, 3, 4], [1, 2, 3])
    assert parent["statuses"][str(copy["pid"])] == 7
    assert len(parent["statuses"]) == 2


def test_a_kernel_that_refuses_is_heard() -> None:
    program = """
import os, resource
from compiler_gym.service import sibling
sibling._CLONE_NUMBERS = {key: 10**6 for key in sibling._CLONE_NUMBERS}
try:
    sibling.fork_sibling(os.getppid(), 1)
except OSError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert "Function not implemented" in done.stdout
