"""Softmax policies on K-armed bandits: problems, rules, loops, the simulator and the online agent."""
