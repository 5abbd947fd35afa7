"""Another campaign beside one's own: what both judged, and how alike they are."""
