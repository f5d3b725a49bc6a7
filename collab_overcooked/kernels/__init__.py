"""Building blocks of compiled rules: arrays, events, grids, macro actions, orders, paths, random numbers."""
