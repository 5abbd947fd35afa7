"""What more it would take, what it costs, and what a pilot tells before a campaign begins."""
