"""Kitchen Rush and Alien Rush: turns of workers who collect, cook and finish orders; the paper's rules and our own."""
