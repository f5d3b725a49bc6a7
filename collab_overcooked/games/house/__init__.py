"""Two household games on one engine: bring objects to one place under partial observability."""
