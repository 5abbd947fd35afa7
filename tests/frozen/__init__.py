"""What the package computed before it was rewritten, written down, and compared with what it computes now."""
