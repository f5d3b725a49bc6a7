"""The games, a folder each: rules, words, pictures, policies, suite and metrics of one game stand together."""
