"""Building blocks of compiled rules; imports numpy and numba only."""
