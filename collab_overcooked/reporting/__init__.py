"""Showing: tables, plots, videos and HTML pages."""
