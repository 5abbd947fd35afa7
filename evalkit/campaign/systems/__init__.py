"""What the judgements tell of the systems: which is better, by which errors, and by which treatment of scores."""
