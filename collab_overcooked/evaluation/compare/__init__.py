"""Policies of all kinds compared: who plays what, the run folders, the boards made from records, and their page."""
