"""The parts of the explore screen: its frame, what models report, and what panes do."""
