"""Run the paper's experiment: plan, protocol, runner and results."""
