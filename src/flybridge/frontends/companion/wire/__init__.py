"""The companion protocol: what a handheld with a tiny screen is shown, and what it says."""
