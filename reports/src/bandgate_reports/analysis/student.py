# SPDX-License-Identifier: Apache-2.0
"""Student's t. SciPy is slow to load and is loaded by the first call: most commands do without."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def quantile(share: float, df: ArrayLike) -> NDArray[np.float64]:
    """The t below which `share` of all are; NaN where `df` is not known."""
    return np.asarray(_special().stdtrit(df, share), dtype=np.float64)


def below(t: ArrayLike, df: ArrayLike) -> NDArray[np.float64]:
    """The share below `t`."""
    return np.asarray(_special().stdtr(df, t), dtype=np.float64)


def _special() -> Any:
    from scipy import special  # noqa: PLC0415 - as said above

    return special
