# SPDX-License-Identifier: MIT
"""The tools: each is built on the public interface of the rest, which knows none of them."""
