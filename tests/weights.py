"""What scikit-learn's checks of weights cannot know."""

_FRACTIONS = "feeds fractions, which are not counts, and starts at random: see tests/models/test_weights.py"
#: For ``check_estimator(..., expected_failed_checks=...)``.
NOT_FOR_COUNTS = {
    "check_sample_weight_equivalence_on_dense_data": _FRACTIONS,
    "check_sample_weight_equivalence_on_sparse_data": _FRACTIONS,
}
