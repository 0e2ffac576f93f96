import { expect, test } from "vitest";
import { summaryOf } from "./hunks.ts";
import { subjectOf } from "../store/tool-kinds.ts";
import { hunksBetween, previewOf, previewOfSubject } from "./preview.ts";

test("an edit is shown as what it replaces", () => {
  const input = { file_path: "/a.py", old_string: "x = 1\ny = 2", new_string: "x = 1\ny = 3" };
  expect(previewOf("Edit", input)).toEqual({
    path: "/a.py",
    hunks: [
      { oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines: [" x = 1", "-y = 2", "+y = 3"] },
    ],
    numbered: false,
    note: "",
  });
  expect(previewOf("Edit", { ...input, replace_all: true })?.note).toBe("everywhere in the file");
});

test("several edits are shown one after the other, and none is hidden", () => {
  const edits = [
    { old_string: "a", new_string: "b" },
    { old_string: "", new_string: "c" },
    { old_string: 1 },
  ];
  const preview = previewOf("MultiEdit", { file_path: "/a", edits });
  expect(preview?.hunks.flatMap((one) => one.lines)).toEqual(["-a", "+b", "+c"]);
  expect(preview?.note).toBe("1 more that cannot be shown");
});

test("a file that is written is all new", () => {
  const preview = previewOf("Write", { file_path: "/a", content: "a\nb\n" });
  expect(preview?.hunks).toEqual([
    { oldStart: 0, oldLines: 0, newStart: 1, newLines: 2, lines: ["+a", "+b"] },
  ]);
  expect(preview?.numbered).toBe(true);
});

test("a cell is shown with what happens to it", () => {
  const preview = previewOf("NotebookEdit", {
    notebook_path: "/n",
    cell_id: "c1",
    new_source: "x",
  });
  expect(preview).toMatchObject({ path: "/n", note: "replace cell c1" });
});

test.each([
  ["Edit", null],
  ["Edit", { file_path: "/a" }],
  ["Edit", { file_path: "/a", old_string: 1, new_string: "" }],
  ["Write", { content: "a" }],
  ["MultiEdit", { file_path: "/a", edits: "x" }],
  ["Bash", { command: "ls" }],
])("%s with %j has no preview", (tool, input) => expect(previewOf(tool, input)).toBeNull());

test("texts that are too different are replaced as a whole, in no time", () => {
  const before = Array.from({ length: 5000 }, (_, at) => `a${at}`).join("\n");
  const after = Array.from({ length: 5000 }, (_, at) => `b${at}`).join("\n");
  const started = performance.now();
  expect(summaryOf(hunksBetween(before, after))).toEqual({
    added: 5000,
    removed: 5000,
    more: false,
  });
  expect(performance.now() - started).toBeLessThan(5000);
});

test("a change is shown as the driver describes it, for an input that is not known", () => {
  const subject = subjectOf({ paths: ["a.txt"], diff: "-x\n+y\n@@ @@\n z\n+w" });
  expect(previewOfSubject(subject)).toMatchObject({
    path: "a.txt",
    note: "",
    hunks: [
      { oldLines: 1, newLines: 1, lines: ["-x", "+y"] },
      { oldLines: 1, newLines: 2, lines: [" z", "+w"] },
    ],
  });
  expect(previewOfSubject(subjectOf({ diff: "+x …" }))?.note).toBe("only its beginning");
  expect(previewOfSubject(subjectOf({}))).toBeNull();
});
