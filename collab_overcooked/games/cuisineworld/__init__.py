"""CuisineWorld: cooks of one kitchen serve a queue of orders, commanded one by one or by one dispatcher."""
