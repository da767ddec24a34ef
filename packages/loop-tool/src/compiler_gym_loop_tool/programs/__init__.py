# SPDX-License-Identifier: MIT
"""Sources of programs: ``layers`` of known networks and ``drawn``, random ones."""
