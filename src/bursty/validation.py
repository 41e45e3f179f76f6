"""Validation of inputs, done once, before any work.

`check_counts` converts every supported input (dense arrays, any scipy.sparse format, pandas or polars data frames,
`bursty.Corpus`) to one canonical form: `csr_array`, sorted indices, no duplicates, no stored zeros. The input is never
modified. Errors name the row, the column and the value, and say what to do.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from bursty.sparse import as_csr, as_numbers
from bursty.typing import Array
from bursty.wording import counted

#: The largest count, and the largest number of tokens in a document.
MAX_COUNT = np.iinfo(np.int32).max
#: Parameters and weights other than 0 lie between these.
SMALLEST, LARGEST = 1e-100, 1e12
#: The largest total of a document whose values are not counts: its square is still finite.
MAX_TOTAL = 1e150


def check_counts(X: Any, *, integer: bool = True, owner: str = "bursty", n_words: int | None = None) -> sp.csr_array:
    """Canonical documents x words matrix of non-negative counts.

    Parameters
    ----------
    X : {array-like, sparse matrix, data frame, Corpus} of shape (n_documents, n_words)
    integer : bool, default True
        Whether counts must be integers (the result is int32). Otherwise any non-negative number is accepted (the
        result is float64).
    owner : str, default "bursty"
        Name of the caller, for error messages.
    n_words : int, optional
        Expected number of columns.

    Returns
    -------
    csr_array of shape (n_documents, n_words)
    """
    refuse_texts(X, owner)
    X = _unwrap(X)
    counts = _sparse_counts(X, owner) if sp.issparse(X) else _dense_counts(X, owner)
    low, high = (counts.data.min(), counts.data.max()) if counts.nnz else (1, 1)
    if not low > 0:
        counts = _without_zeros(counts)
    if not (counts.data.dtype.kind in "biu" and low > 0 and high <= MAX_COUNT):
        _check_values(counts, integer, owner)
    _check_totals(counts, float(high), integer, owner)
    if n_words is not None and counts.shape[1] != n_words:
        raise ValueError(
            f"X has {counts.shape[1]} features, but {owner} is expecting {n_words} features as input: "
            f"the words (columns) must be those of the documents it was fitted on"
        )
    return counts.astype(np.int32 if integer else np.float64, copy=False)


def check_rows(X: Any, owner: str) -> Array | sp.csr_array:
    """Documents x columns matrix of finite real numbers of any sign; dense input stays dense, in its precision."""
    X = _unwrap(X)
    if sp.issparse(X):
        rows = _without_zeros(_sparse_counts(X, owner)).astype(np.float64, copy=False)
        values = rows.data
    else:
        refuse_masked(X, "X")
        rows = values = np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"Input X contains {'NaN' if np.isnan(values).any() else 'infinity'}: {owner} takes numbers")
    if float(np.abs(values).max()) > MAX_TOTAL:
        raise ValueError(f"X contains numbers above {MAX_TOTAL:g}, whose squares are not finite: scale the rows of X")
    return rows


def _is_signed(X: Any) -> bool:
    """Whether a matrix has negative numbers."""
    values = _unwrap(X)
    values = values.data if sp.issparse(values) and hasattr(values, "data") else values
    return isinstance(values, np.ndarray) and values.dtype.kind in "if" and bool(np.any(values < 0))


def check_input(estimator: Any, X: Any, *, reset: bool, integer: bool = True, signed: bool = False) -> Any:
    """`check_counts` for an estimator, whose words are set (``reset``) or compared with those of X.

    Sets ``n_features_in_`` and, if X has column names, ``feature_names_in_``, as scikit-learn does; the vocabulary of a
    corpus counts as column names. With ``signed``, matrices of real numbers of any sign are accepted, and dense ones
    stay dense. Shards, which were checked when they were written, are returned unchanged, and Dask collections as a
    `Collection`.
    """
    owner = type(estimator).__name__
    refuse_texts(X, owner, fitted=not reset and hasattr(estimator, "feature_names_in_"))
    if reset:
        _keep_text_options(estimator, X)
    vocabulary = getattr(X, "vocabulary", None)
    if hasattr(X, "__dask_graph__"):
        return _check_collection(estimator, X, reset, integer)
    if vocabulary is None:
        counts = check_rows(X, owner) if signed and _is_signed(X) else check_counts(X, integer=integer, owner=owner)
        if sp.issparse(X) and not reset:
            _check_n_words(counts.shape[1], estimator)  # a sparse matrix cannot have names, which is no reason to warn
            return counts
        values = counts if sp.issparse(X) or not hasattr(X, "columns") else X
        validate_data(estimator, values, reset=reset, skip_check_array=True)
        return counts
    names = np.asarray(vocabulary, dtype=object)
    known = getattr(estimator, "feature_names_in_", None)
    if not reset and known is not None and not np.array_equal(known, names):
        raise ValueError(
            f"the vocabulary of these documents ({counted(len(names), 'word')}) is not the one {owner} was fitted on "
            f"({counted(len(known), 'word')}): read them with that vocabulary"
        )
    n_words = None if reset else estimator.n_features_in_
    counts = X if hasattr(X, "shards") else check_counts(X, integer=integer, owner=owner, n_words=n_words)
    if reset:
        estimator.n_features_in_, estimator.feature_names_in_ = len(names), names
    return counts


def check_names(names: Any, n_words: int) -> Array:
    """One distinct string per word, as an array."""
    values = np.asarray(list(names), dtype=object)
    if values.shape != (n_words,):
        raise ValueError(
            f"{counted(len(values), 'name does', 'names do')} not match {counted(n_words, 'word')}: "
            "give one name per column"
        )
    strange = next((value for value in values if not isinstance(value, str)), None)
    if strange is not None:
        raise ValueError(f"the names of words must be strings, not {type(strange).__name__}")
    if len(set(values.tolist())) < n_words:
        raise ValueError("two words have the same name: every word must have its own")
    return values


def _check_n_words(n_words: int, estimator: Any) -> None:
    if n_words != estimator.n_features_in_:
        owner, expected = type(estimator).__name__, estimator.n_features_in_
        raise ValueError(f"X has {n_words} features, but {owner} is expecting {expected} features as input")


def refuse_texts(X: Any, owner: str, fitted: bool = False) -> None:
    """Raise an error for texts instead of counts, which says how to count their words."""
    like = ", like=model" if fitted else ""
    if _is_texts(X):
        raise ValueError(
            f"{owner} takes counts of words, not texts. Count them first: bursty.Corpus.from_texts(texts{like})"
        )
    if isinstance(X, list | tuple) and any(is_bag(document) for document in X[:20]):
        raise ValueError(
            f"{owner} takes a matrix of counts, not lists of (word, count). Convert them first: "
            "bursty.Corpus.from_gensim(documents, dictionary)"
        )
    column = _text_column(X)
    if column is not None:
        raise ValueError(
            f"{owner} takes counts of words, but the column {column!r} contains text. Count its words first: "
            f"bursty.Corpus.from_frame(frame, text={column!r}{like}). If it names the rows of a table of counts, make "
            "it the index or drop it"
        )


def refuse_masked(values: Any, name: str, fill: int = 0) -> None:
    """Raise an error for masked values, which NumPy would read as what lies under the mask."""
    if np.ma.is_masked(values):
        masked = counted(int(np.sum(np.ma.getmaskarray(values))), "masked value")
        raise ValueError(f"{name} has {masked}: fill first, such as {name}.filled({fill})")


def _is_texts(X: Any) -> bool:
    """Whether X is a text, or a list, array or series of texts or of tokens."""
    if isinstance(X, str | bytes):
        return True
    if isinstance(X, np.ndarray):
        return X.dtype.kind in "US" or (X.dtype.kind == "O" and _all_text(X.ravel()[:20].tolist()))
    if isinstance(X, list | tuple):
        return _all_text(X[:20])
    is_series = hasattr(X, "to_list") and hasattr(X, "dtype") and not hasattr(X, "columns")
    return is_series and _all_text(X[:20].to_list())


def is_missing(value: Any) -> bool:
    """Whether it is None, NaN, NaT, or the NA of pandas, whose comparisons are neither true nor false."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def is_bag(document: Any) -> bool:
    """Whether a document is a list of (word, count), as in gensim."""
    first = document[0] if isinstance(document, list) and document else None
    return isinstance(first, tuple) and len(first) == 2 and not isinstance(first[0], str)


def _all_text(items: Sequence[Any]) -> bool:
    """Whether all items are strings, or lists of strings; some may be missing."""
    given = [item for item in items if not is_missing(item)]
    flat = [part for item in given for part in (item[:20] if isinstance(item, list | tuple) else [item])]
    return bool(flat) and all(isinstance(part, str | bytes) for part in flat)


def _text_column(X: Any) -> str | None:
    """The column of a data frame that contains text; of several, the one with most of it."""
    if not hasattr(X, "columns") or hasattr(X, "__dask_graph__"):
        return None
    import narwhals.stable.v1 as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    lengths = {}
    for name, kind in frame.schema.items():
        values = frame[name].head(20).to_list() if kind in (nw.String, nw.Object) else []
        if kind == nw.String or (values and _all_text(values)):
            lengths[str(name)] = sum(len(value) for value in values if isinstance(value, str | list | tuple))
    return max(lengths, key=lambda name: lengths[name], default=None)


def _keep_text_options(estimator: Any, X: Any) -> None:
    """How the texts of a corpus became counts, so that new texts can be counted alike."""
    found = getattr(X, "text_options", None)
    if found is not None:
        estimator.text_options_ = found
    elif hasattr(estimator, "text_options_"):
        del estimator.text_options_


@dataclass(frozen=True)
class Collection:
    """A Dask collection of counts, and the requirements on its blocks, which are checked on the workers."""

    values: Any
    n_words: int
    integer: bool
    owner: str


def _check_collection(estimator: Any, X: Any, reset: bool, integer: bool) -> Collection:
    owner = type(estimator).__name__
    names = None
    if hasattr(X, "columns"):
        names = np.asarray(X.columns, dtype=object)
        n_words = len(names)
    elif getattr(X, "ndim", 0) == 2:
        n_words = int(X.shape[1])
    elif hasattr(X, "to_delayed") and hasattr(X, "take"):
        first = X.take(1, warn=False)
        n_words = check_counts(_one_row(first[0]), integer=integer, owner=owner).shape[1] if first else 0
    else:
        raise ValueError(f"{owner} takes Dask arrays, data frames and bags of documents x words, not {X!r}")
    if reset:
        estimator.n_features_in_ = n_words
        if names is not None:
            estimator.feature_names_in_ = names
    elif n_words != estimator.n_features_in_:
        raise ValueError(f"X has {n_words} features, but {owner} is expecting {estimator.n_features_in_} features")
    return Collection(X, n_words, integer, owner)


def stack_documents(documents: Any) -> Any:
    """Stack documents given one by one, each as its counts (an array or a sparse row)."""
    rows = [_one_row(document) for document in documents]
    if not rows:
        return np.empty((0, 0))
    return sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.vstack(rows)


def _one_row(document: Any) -> Any:
    return as_csr(document) if sp.issparse(document) else np.atleast_2d(np.asarray(document))


def check_weights(sample_weight: Any, n_documents: int) -> Array:
    """``sample_weight`` as an array of finite, non-negative numbers, one per document; ones by default."""
    if sample_weight is None:
        return np.ones(n_documents)
    refuse_masked(sample_weight, "sample_weight")
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_documents, float(weights))
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, not {weights.ndim}-dimensional")
    if weights.shape != (n_documents,):
        raise ValueError(
            f"sample_weight has {counted(len(weights), 'value')} for {counted(n_documents, 'document')}: "
            "give one per document"
        )
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise ValueError("sample_weight must be finite and non-negative")
    if not np.any(weights > 0):
        raise ValueError("sample_weight is zero for every document: at least one must be positive")
    if weights.max() > LARGEST or weights.min(initial=LARGEST, where=weights > 0) < SMALLEST:
        raise ValueError(
            f"sample_weight must be 0 or from {SMALLEST:g} to {LARGEST:g}: divide all weights by one number"
        )
    return weights


def warn_empty(n_empty: int, stacklevel: int = 3) -> None:
    """Warn about documents without words, whose rows are kept."""
    if n_empty:
        found = counted(n_empty, "document has no words; its row is", "documents have no words; their rows are")
        warnings.warn(f"{found} kept", UserWarning, stacklevel=stacklevel)


def _unwrap(X: Any) -> Any:
    """Counts of a corpus, values of a data frame, everything else unchanged."""
    if sp.issparse(X) or isinstance(X, np.ndarray | list | tuple):
        return X
    inner = getattr(X, "counts", None)
    if inner is not None and sp.issparse(inner):
        return inner
    if hasattr(X, "columns"):
        return _frame_values(X)
    return X


def _frame_values(frame: Any) -> Any:
    """Values of a data frame; a frame of sparse pandas columns stays sparse."""
    dtypes = getattr(frame, "dtypes", None)
    if (
        hasattr(frame, "sparse")
        and dtypes is not None
        and len(dtypes)
        and all(type(dtype).__name__ == "SparseDtype" for dtype in dtypes)
    ):
        odd = next((dtype for dtype in dtypes if dtype.fill_value != 0), None)
        if odd is not None:
            raise ValueError(
                f"the sparse columns of X leave out {odd.fill_value} instead of 0: "
                f"convert them with X.astype(pandas.SparseDtype({odd.subtype.name!r}, 0))"
            )
        return frame.sparse.to_coo()
    import narwhals.stable.v1 as nw

    native = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(native, nw.DataFrame):
        return frame
    for name, kind in native.schema.items():
        if kind.is_temporal():  # which polars would make numbers of
            raise ValueError(f"the column {name!r} is of type {kind}, not a count of a word: drop it")
    return native.to_numpy()


def _dense_counts(X: Any, owner: str) -> sp.csr_array:
    refuse_masked(X, "X")
    values = np.asarray(X)
    if values.ndim != 2:
        shape = {0: "a single number", 1: "a 1D array"}.get(values.ndim, f"an array of {values.ndim} dimensions")
        raise ValueError(
            f"Expected 2D array, got {shape} instead: {owner} takes documents x words. "
            "Reshape your data either using array.reshape(-1, 1) for one word or array.reshape(1, -1) "
            "for one document"
        )
    values = as_numbers(values, owner)
    _check_shape(values.shape, owner)
    return sp.csr_array(values)


def _sparse_counts(X: Any, owner: str) -> sp.csr_array:
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got 1D array instead: {owner} takes documents x words")
    _check_shape(X.shape, owner)
    return as_csr(X)


def _check_shape(shape: tuple[int, int], owner: str) -> None:
    n_documents, n_words = shape
    if n_documents == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required by {owner}.")
    if n_words == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required by {owner}.")


def _without_zeros(counts: sp.csr_array) -> sp.csr_array:
    """Remove stored zeros; the matrix is copied only if there are any."""
    if counts.nnz and not np.all(counts.data):
        counts = counts.copy()
        counts.eliminate_zeros()
    return counts


def _check_values(counts: sp.csr_array, integer: bool, owner: str) -> None:
    data = counts.data
    if data.dtype.kind in "bu":
        fault = data > MAX_COUNT if integer and data.dtype.itemsize >= 4 else None
    elif data.dtype.kind == "i":
        fault = data < 0
        if integer and data.dtype.itemsize > 4:
            fault |= data > MAX_COUNT
    else:
        fault = ~((data > 0) & (data <= (MAX_COUNT if integer else np.finfo(np.float64).max)))
        if integer:
            fault |= data != np.rint(data)
    if fault is None or not fault.any():
        return
    where = int(np.flatnonzero(fault)[0])
    row = int(np.searchsorted(counts.indptr, where, side="right")) - 1
    column, value = int(counts.indices[where]), data[where]
    place = f"row {row}, column {column} holds {value}"
    if np.isnan(value):
        raise ValueError(f"Input X contains NaN: {place}. {owner} takes counts; write 0 where a word is absent")
    if np.isinf(value):
        raise ValueError(f"Input X contains infinity: {place}. {owner} takes counts")
    if value < 0:
        raise ValueError(f"Negative values in data passed to {owner}: {place}. Counts cannot be negative")
    if value > MAX_COUNT and integer:
        raise ValueError(f"{place}, above the largest count {MAX_COUNT} that {owner} takes")
    raise ValueError(
        f"{place}, which is not an integer: {owner} models counts. Give raw counts (not tf-idf or frequencies), "
        "or use the multinomial family, which accepts any non-negative numbers"
    )


def _check_totals(counts: sp.csr_array, high: float, integer: bool, owner: str) -> None:
    """Check that the length of every document can be represented; ``high`` is the largest count."""
    largest = MAX_COUNT if integer else MAX_TOTAL
    if high * counts.shape[1] <= largest or high * float(np.diff(counts.indptr).max()) <= largest:
        return
    with np.errstate(over="ignore"):
        totals = np.asarray(counts.sum(axis=1, dtype=np.int64 if integer else np.float64))
    row = int(np.argmax(totals > largest))
    if totals[row] > largest:
        limit = f"{largest:,}" if integer else f"{largest:g}"
        total = f"{totals[row]:,}" if integer else f"{totals[row]:g}"
        raise ValueError(
            f"row {row} has {total} tokens, above the {limit} that {owner} takes in one document: "
            "split it, or divide its counts"
        )
