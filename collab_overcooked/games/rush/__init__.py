"""Kitchen Rush and Alien Rush: workers collect, cook and finish orders in turns, by the paper's rules."""
