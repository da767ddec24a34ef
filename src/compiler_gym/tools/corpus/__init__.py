# SPDX-License-Identifier: MIT
"""Making programs: building the packages of a distribution, importing and exporting datasets."""
