"""Datasets for other libraries, made from records: Minari, Parquet, NumPy archives and chats."""
