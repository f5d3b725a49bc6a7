"""Baselines in one file each, on torch, numpy and the public API only; read, copy and change them."""
