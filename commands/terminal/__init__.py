"""What every command shares to print on a terminal: columns, records, safe text."""
