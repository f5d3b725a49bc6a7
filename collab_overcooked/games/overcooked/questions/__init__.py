"""Questions about moments of Overcooked: scenes, an exact joint search for the answers, and words for both."""
