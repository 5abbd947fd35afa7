"""What the judgements tell of the people who made them: agreement, habits, attention, strictness."""
