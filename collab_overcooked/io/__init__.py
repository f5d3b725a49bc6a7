"""What comes from outside: options, files, records; read and checked."""
