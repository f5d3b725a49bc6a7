"""Two household games on one engine: bring things to one place, knowing only what one has seen."""
