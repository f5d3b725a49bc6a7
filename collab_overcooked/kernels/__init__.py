"""What compiled rules stand on; imports numpy and numba only."""
