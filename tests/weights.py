"""What scikit-learn's checks of weights and of clusterers cannot know."""

_FRACTIONS = "feeds fractions, which are not counts, and starts at random: see tests/models/test_weights.py"
#: For ``check_estimator(..., expected_failed_checks=...)``.
NOT_FOR_COUNTS = {
    "check_sample_weight_equivalence_on_dense_data": _FRACTIONS,
    "check_sample_weight_equivalence_on_sparse_data": _FRACTIONS,
    "check_clustering": "standardises its data, and negative numbers are not counts: see tests/models/test_habits.py",
}
