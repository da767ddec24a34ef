# SPDX-License-Identifier: MIT
"""The state of an episode: ``settings`` is the choice made for each option, and ``program`` the
program that is compiled with it, with what is known of it already. Runs in a worker.
"""
