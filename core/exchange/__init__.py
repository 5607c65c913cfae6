"""What the exports and the imports of all rooms share: documents given out, data taken in."""
