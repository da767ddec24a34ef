# SPDX-License-Identifier: MIT
"""The tasks in the libraries that train, evaluate and serve language models."""
