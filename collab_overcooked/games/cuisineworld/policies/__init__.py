"""Policies for CuisineWorld: one assignment of jobs, followed as it is or tuned by looking ahead."""
