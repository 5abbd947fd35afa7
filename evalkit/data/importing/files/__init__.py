"""Files: their bytes as rows of text, each with its line, within bounds."""
