# SPDX-License-Identifier: MIT
"""The state of an episode: ``program`` is the payload and the moves so far.

``operations`` parses the payload's structured operations, and ``pieces`` writes a move in the
transform dialect. Runs in a worker.
"""
