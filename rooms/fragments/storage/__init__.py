"""The engines that keep fragments."""
