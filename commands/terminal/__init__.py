"""Helps every command to print: options, columns, records, safe text."""
