# SPDX-License-Identifier: MIT
"""Pictures of a loop tree and of the roofline, for a terminal and as SVG.

They are drawn without other libraries from observations - the text of the tree and the facts of
the roofline - so they need no session.
"""

from compiler_gym_loop_tool.pictures.roofline import roofline_svg, roofline_text
from compiler_gym_loop_tool.pictures.trees import tree_svg, tree_text

__all__ = ["roofline_svg", "roofline_text", "tree_svg", "tree_text"]
