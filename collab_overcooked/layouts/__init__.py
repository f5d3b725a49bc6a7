"""Layout and scenario files (YAML) and their loader."""
