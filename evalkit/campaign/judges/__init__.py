"""Automatic metrics, and judges that are models, beside the people of a campaign."""
