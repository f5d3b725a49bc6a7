"""Engine of the game: file format, compiler, rules and observations."""
