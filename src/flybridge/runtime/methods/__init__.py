"""The RPC methods of the gateway and of its sessions."""
