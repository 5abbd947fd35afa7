"""What people's judgements mean, and how sure they are."""
