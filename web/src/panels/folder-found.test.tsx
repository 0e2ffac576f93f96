import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { FolderFound } from "./folder-found.tsx";

const nothing = (): void => undefined;

test("a08: the question names the files, and lists the instructions apart from them", () => {
  render(
    <FolderFound
      folder="/repo"
      files={["/repo/.claude/agents/x.md", "/repo/.claude/skills/y/SKILL.md"]}
      instructions={["/repo/CLAUDE.md"]}
      mayTrust={false}
      canRestrict={true}
      busy={false}
      wrong=""
      onOpen={nothing}
      onBack={nothing}
    />,
  );
  const [asked, listed] = screen.getAllByRole("list");
  expect(asked?.textContent).toContain("/repo/.claude/skills/y/SKILL.md");
  expect(asked?.textContent).not.toContain("CLAUDE.md");
  expect(listed?.textContent).toContain("/repo/CLAUDE.md");
  const trust = screen.getByRole("button", { name: "Trust this folder" });
  expect((trust as HTMLButtonElement).disabled).toBe(true);
  expect(screen.queryByRole("button", { name: "Open without these files" })).not.toBeNull();
});

test("an agent that cannot leave the files out is not offered to start without them", () => {
  render(
    <FolderFound
      folder="/repo"
      files={["/repo/other.json"]}
      instructions={[]}
      mayTrust={true}
      canRestrict={false}
      busy={false}
      wrong=""
      onOpen={nothing}
      onBack={nothing}
    />,
  );
  expect(screen.queryByRole("button", { name: "Open without these files" })).toBeNull();
  expect(screen.queryByText("This agent cannot be started without them.")).not.toBeNull();
});
