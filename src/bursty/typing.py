"""Types that signatures share.

This module imports nothing of the package.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: An array of any shape and type; docstrings and names say which.
Array = np.ndarray[Any, Any]
