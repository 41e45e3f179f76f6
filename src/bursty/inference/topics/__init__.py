"""Topic models as Monte Carlo EM (`bursty.inference.mcem`) sees them: a `Method` in a file each.

A model is three files: its sampler (`bursty.samplers`), which also says how documents see topics that are given; its
`Method` here; and its public class (`bursty.models`).
"""
