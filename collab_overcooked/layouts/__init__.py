"""Data files by game: layouts, levels, lexicons, pools and studies, in YAML."""
