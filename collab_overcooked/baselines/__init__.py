"""Trained baselines: wiring, data flow and evaluation around library learners (needs the extra ``rl``)."""
