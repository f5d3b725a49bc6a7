"""Comparisons of policies of all kinds: plan, run folders, leaderboards made from records, and their page."""
