"""Policies for CuisineWorld: one dispatcher of jobs, followed as it is or tuned by looking ahead."""
