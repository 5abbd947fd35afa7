"""Pictures of what protocols of human evaluation find on the same texts."""
