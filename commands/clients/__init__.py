"""Everything known of Cursor, Claude Code and the other clients: files, events, rules."""
