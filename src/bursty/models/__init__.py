"""The scikit-learn faces: models made of families.

One file a model; imports inference, families, engines and what lies below.
"""
