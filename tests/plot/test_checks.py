"""The plot of predictive checks."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot

from bursty import plot


@pytest.mark.parametrize(("observed", "scale"), [(2.0, "linear"), (40.0, "symlog")])
def test_the_axis_is_linear_unless_the_data_are_far_from_the_draws(observed, scale):
    draws = np.array([-1.0, 1.0])  # mean 0, standard deviation 1
    check = SimpleNamespace(observed={"a share": observed}, drawn={"a share": draws}, p_values={"a share": 0.5})
    ax = plot.predictive_check(check)
    assert ax.get_xscale() == scale
    data = next(line for line in ax.lines if line.get_label() == "data")
    assert data.get_xdata()[0] == observed
    pyplot.close(ax.figure)
