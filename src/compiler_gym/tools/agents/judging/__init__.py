# SPDX-License-Identifier: MIT
"""Says what an agent's decisions are worth, where the agent cannot reach.

``judge`` asks a process of its own, which ``process`` is and ``confinement`` shuts in: it has no
network, no variables and no files that anybody else can write. ``measuring`` is what happens there:
the task is looked up again, the decisions are replayed from the original program, the cost is
measured, and the program is run on inputs that nobody has seen. ``scoring`` adds verdicts up.
"""

__all__: list[str] = []
