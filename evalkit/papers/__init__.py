"""What only one paper needs, a package each, and what lays printed numbers beside computed ones."""
