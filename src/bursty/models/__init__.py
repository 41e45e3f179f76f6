"""Scikit-learn estimators built from families.

One file per model; imports inference, families, engines and the layers below them.
"""
