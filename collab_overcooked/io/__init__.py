"""Reading and validating outside data: options, files, records."""
