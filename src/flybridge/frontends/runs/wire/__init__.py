"""The run protocol: one task, one run, for scripts and orchestrators."""
