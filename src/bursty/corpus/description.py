"""Summary statistics of a corpus."""

from __future__ import annotations

import dataclasses

import numpy as np
import scipy.sparse as sp


@dataclasses.dataclass(frozen=True)
class Description:
    """Summary statistics of a corpus, as returned by `Corpus.describe`.

    See Also
    --------
    Corpus.describe

    Examples
    --------
    >>> from bursty import Corpus
    >>> about = Corpus([[2, 0, 1], [0, 3, 0]], labels=["wet", "dry"]).describe()
    >>> about.tokens, about.burstiness, about.classes
    (6, 2.0, 2)
    """

    documents: int
    words: int
    tokens: int
    mean_length: float
    sparsity: float
    burstiness: float
    empty_documents: int
    classes: int

    def as_dict(self) -> dict[str, int | float]:
        """The statistics as a plain dictionary."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        return (
            f"documents        {self.documents:,}\n"
            f"words            {self.words:,}\n"
            f"tokens           {self.tokens:,}\n"
            f"mean length      {self.mean_length:,.1f}\n"
            f"sparsity         {self.sparsity:.4%} of the cells are zero\n"
            f"burstiness       {self.burstiness:.2f} tokens per distinct word of a document\n"
            f"empty documents  {self.empty_documents:,}\n"
            f"classes          {self.classes:,}"
        )


def describe(counts: sp.csr_array, n_classes: int) -> Description:
    """Compute the statistics of a matrix of counts."""
    tokens = int(counts.sum(dtype=np.int64))
    return Description(
        documents=counts.shape[0],
        words=counts.shape[1],
        tokens=tokens,
        mean_length=tokens / counts.shape[0],
        sparsity=1.0 - counts.nnz / (counts.shape[0] * counts.shape[1]),
        burstiness=tokens / counts.nnz if counts.nnz else float("nan"),
        empty_documents=int(np.count_nonzero(np.diff(counts.indptr) == 0)),
        classes=n_classes,
    )
