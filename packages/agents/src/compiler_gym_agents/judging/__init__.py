# SPDX-License-Identifier: MIT
"""Score an agent's decisions, out of the agent's reach.

``judge`` sends requests to a separate process, which ``process`` runs and ``confinement`` isolates:
it has no network, none of the caller's variables, and no files that another process can write.
``measuring`` runs there: it looks up the task, replays the decisions from the original program,
measures the cost, and runs the program on inputs that the agent has never seen. ``scoring``
aggregates verdicts.
"""

__all__: list[str] = []
