"""Shows, searches, corrects and exchanges what is known across projects."""
