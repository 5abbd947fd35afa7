"""What four protocols of human evaluation find on the same texts."""
