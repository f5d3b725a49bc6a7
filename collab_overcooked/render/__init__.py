"""Drawing of all games: sprites, letters and the renderer."""
