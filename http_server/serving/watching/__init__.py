"""What operators look at: health, metrics and lines of a log."""
