// Drive an agent over the IPC: one message, every permission denied, the answer printed.
//
//     node examples/ipc_node.mjs "think about boats"
//
// FLYBRIDGE_AGENT chooses the agent, FLYBRIDGE the program.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const question = process.argv.slice(2).join(" ") || "hello";
const agent = process.env.FLYBRIDGE_AGENT ?? "demo";
const program = process.env.FLYBRIDGE ?? "flybridge";
const bridge = spawn(program, ["ipc", "--new", "--agent", agent], {
  stdio: ["pipe", "pipe", "inherit"],
});
const send = (message) => bridge.stdin.write(JSON.stringify(message) + "\n");
let good = false;

send({ type: "protocol_init", version: 1 });
createInterface({ input: bridge.stdout }).on("line", (line) => {
  const said = JSON.parse(line);
  if (said.type === "session_init" && said.session_id === "pending") {
    send({ type: "user_message", text: question });
  } else if (said.type === "control_request_forward") {
    send({ type: "tool_approval", request_id: said.request_id, decision: "deny" });
  } else if (said.type === "assistant_text" && !said.is_partial) {
    console.log(said.text);
  } else if (said.type === "turn_complete") {
    good = said.result === "success";
    bridge.stdin.end(); // it ends the agent, and then itself
  }
});
bridge.on("exit", (status) => process.exit(status === 0 && good ? 0 : 1));
