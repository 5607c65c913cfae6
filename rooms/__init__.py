"""Memory of other kinds than the log, each whole in its folder and loaded only when switched on."""
