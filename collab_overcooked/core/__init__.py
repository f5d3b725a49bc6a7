"""The units of evaluation: records, specs and matches."""
