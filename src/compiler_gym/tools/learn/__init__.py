# SPDX-License-Identifier: MIT
"""Learning: recorded transitions, leaderboards and the libraries that train agents."""
