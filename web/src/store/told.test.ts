import { expect, test } from "vitest";
import { Transcript } from "./reduce.ts";

test("what the agent says of itself in parts is one", () => {
  const transcript = new Transcript();
  const ready = (seq: number, detail: unknown): void =>
    transcript.apply({
      type: "event",
      session: "s",
      epoch: 1,
      seq,
      at_ms: seq,
      event: { type: "agent.ready", detail },
    });
  ready(1, { models: ["a"], output_style: "plain" });
  ready(2, { tools: ["Bash"], output_style: "terse" });
  expect(transcript.told).toEqual({ models: ["a"], tools: ["Bash"], output_style: "terse" });
});
