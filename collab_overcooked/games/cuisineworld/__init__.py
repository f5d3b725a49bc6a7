"""CuisineWorld: cooks in a kitchen serve a queue of orders, commanded individually or by one dispatcher."""
