"""Questions about states of Overcooked: scenes, an exact joint search for the answers, and texts of both."""
