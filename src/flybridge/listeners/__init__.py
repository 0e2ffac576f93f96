"""What front ends listen with: sockets, connections and WebSocket frames."""
