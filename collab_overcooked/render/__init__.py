"""Drawing: a scene model, sprites, and renderers to pixels and to text, for every game."""
