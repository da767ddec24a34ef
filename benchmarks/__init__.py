# SPDX-License-Identifier: MIT
"""Speed, measured: ``python -m benchmarks SECTION`` prints figures, ``--help`` the sections."""
