"""Policies for CuisineWorld: one assignment of jobs, followed seat by seat."""
