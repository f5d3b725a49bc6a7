"""Facts on the documentation's pages, by topic; ``docs/facts.py`` writes them there."""
