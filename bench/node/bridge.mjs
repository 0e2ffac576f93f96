// What a bridge usually is: lines of a child, parsed, numbered and sent on with npm `ws`. No log.
//
//   node bridge.mjs PROGRAM ARGUMENT...    prints its port; starts the program when told by a line
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { WebSocketServer } from "ws";

const HIGH = 1 << 20;
const LOW = 1 << 18;
const [program, ...programArguments] = process.argv.slice(2);
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
let seq = 0;

function forward(line) {
  const data = JSON.parse(line);
  const text = JSON.stringify({ seq: seq++, session: "s1", at_ms: Date.now(), kind: data.type, data });
  for (const client of server.clients) client.send(text);
}

function behind() {
  let most = 0;
  for (const client of server.clients) most = Math.max(most, client.bufferedAmount);
  return most;
}

// Without this its memory would grow for as long as the child writes faster than we send.
function holdBack(output) {
  if (output.isPaused() || behind() < HIGH) return;
  output.pause();
  const timer = setInterval(() => {
    if (behind() >= LOW) return;
    clearInterval(timer);
    output.resume();
  }, 1);
}

function start() {
  const child = spawn(program, programArguments, { stdio: ["ignore", "pipe", "inherit"] });
  createInterface({ input: child.stdout, crlfDelay: Infinity }).on("line", forward);
  child.stdout.on("data", () => holdBack(child.stdout));
}

server.on("listening", () => console.log(server.address().port));
process.stdin.on("data", start).on("end", () => process.exit(0));
