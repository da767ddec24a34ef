# SPDX-License-Identifier: MIT
"""A program that greets as it should, and answers what it is told to afterwards.

Its arguments are the file of its replies by the tags of requests, as JSON: a list is a message,
``{"hex": ...}`` bytes of the stream as they are, and ``drip`` or ``flood`` goes on for ever.
"""

import json
import os
import socket
import sys
import time
from typing import Any

import msgspec

SPACE = {"name": "A", "space": {"type": "discrete", "n": 4}}
SEEN = {"name": "V", "space": {"type": "scalar", "dtype": "int"}}
GREETING = [17, 1, "rogue 1", [SPACE], [SEEN], ["fork"]]


def main() -> None:
    """Answer until the client leaves."""
    replies = json.loads(sys.argv[1])
    sock = socket.socket(fileno=int(os.environ["COMPILER_GYM_SESSION"].removeprefix("fd:")))
    while header := sock.recv(8, socket.MSG_WAITALL):
        tag = msgspec.msgpack.decode(
            sock.recv(int.from_bytes(header, "little"), socket.MSG_WAITALL)
        )[0]
        usual: dict[int, Any] = {
            7: GREETING,
            1: [18, None, []],
            2: [19, False, None, True, [], 1],
            5: [22],
        }
        answer: Any = replies.get(str(tag), usual.get(tag, [23, "SessionError", "none", 0, True]))
        if hasattr(answer, "get"):
            sock.sendall(bytes.fromhex(answer["hex"]))
            while answer.get("then") == "flood":
                sock.sendall(b"\0" * 65536)
            while answer.get("then") == "drip":
                sock.sendall(b"\0")
                time.sleep(0.02)
            continue
        data = msgspec.msgpack.encode(answer)
        frame = len(data).to_bytes(8, "little") + data
        if tag == 3 and answer[0] == 20:
            socket.send_fds(sock, [frame], [os.open(os.devnull, os.O_RDWR)])
        else:
            sock.sendall(frame)


if __name__ == "__main__":
    main()
