import { fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { expect, test } from "vitest";
import { MoreFields } from "./start-fields.tsx";
import { type Draft, EMPTY, offeredOf, paramsOf } from "./start-form.ts";

// what the gateway publishes for an agent that is not Claude
const OPTIONS = [
  { name: "vehicle", type: "choice", label: "Vehicle", choices: ["bicycle", "van"], grants: false },
  { name: "open_parcels", type: "flag", label: "Open parcels", grants: true },
  { name: "streets", type: "list", label: "Streets", hint: "one a line", grants: false },
  { name: "parcels", type: "number", integer: true, label: "Parcels", grants: false },
];
const [COURIER] = offeredOf({ agents: [{ name: "courier", options: OPTIONS }] }).agents;

function Form({ admin, seen }: { admin: boolean; seen: (draft: Draft) => void }) {
  const [draft, setDraft] = useState<Draft>({ ...EMPTY, agent: "courier", cwd: "/w" });
  const set = (change: Partial<Draft>): void => {
    const next = { ...draft, ...change };
    setDraft(next);
    seen(next);
  };
  return <MoreFields draft={draft} set={set} admin={admin} fields={COURIER!.fields} />;
}

test("the form is made from what the agent publishes, and gives what the gateway takes", () => {
  let draft: Draft = EMPTY;
  render(<Form admin={true} seen={(next) => (draft = next)} />);
  fireEvent.change(screen.getByLabelText("Vehicle"), { target: { value: "van" } });
  fireEvent.click(screen.getByLabelText("Open parcels"));
  fireEvent.change(screen.getByLabelText("Streets"), { target: { value: "High St\nLow St" } });
  fireEvent.change(screen.getByLabelText("Parcels"), { target: { value: "7" } });
  expect(paramsOf(draft, "ask", COURIER!.fields)["agent_options"]).toEqual({
    vehicle: "van",
    open_parcels: true,
    streets: ["High St", "Low St"],
    parcels: 7,
  });
});

test("what grants something is for administrators", () => {
  render(<Form admin={false} seen={() => {}} />);
  expect(screen.getByLabelText<HTMLInputElement>("Open parcels").disabled).toBe(true);
  expect(screen.getByLabelText<HTMLSelectElement>("Vehicle").disabled).toBe(false);
});
