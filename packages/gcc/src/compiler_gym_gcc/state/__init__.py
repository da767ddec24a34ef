# SPDX-License-Identifier: MIT
"""The state of an episode: ``settings`` holds the choice for each option, and ``program`` the
compiled program with its known facts. Runs in a worker.
"""
