# SPDX-License-Identifier: MIT
"""The state of an episode: ``settings`` is the choice made for each option, and ``program`` the
program that is compiled with it, with its known facts. Runs in a worker.
"""
