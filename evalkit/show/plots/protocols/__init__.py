"""Pictures of protocols held against each other."""
