"""Commands about access: tokens, passwords, CI keys and the audit log."""
