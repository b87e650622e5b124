"""One module or class at a time, in the folders of the source."""
