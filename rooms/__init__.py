"""The rooms of the memory, each a folder that is loaded only when switched on."""
