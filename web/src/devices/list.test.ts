import { expect, test } from "vitest";
import { devicesOf } from "./list.ts";

test("what the gateway says is read, and what it does not say is nothing", () => {
  const told = devicesOf({
    listening: "192.0.2.1:3333",
    devices: [{ id: "d", name: "box", rights: ["view"], slots: [0, 2], connected: 1 }],
    waiting: [{ address: "192.0.2.7", since_ms: 5 }],
    slots: [{ slot: 0, agent: "demo", dir: "", mode: "", auto_edit: true }],
  });
  expect(told.devices[0]).toMatchObject({ name: "box", address: "", slots: [0, 2] });
  expect(told.waiting).toEqual([{ address: "192.0.2.7", sinceMs: 5 }]);
  expect(told.slots[0]).toMatchObject({ agent: "demo", autoEdit: true, session: "" });
  expect(devicesOf(undefined)).toEqual({ listening: "", devices: [], waiting: [], slots: [] });
});
