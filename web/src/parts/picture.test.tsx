import { act, render, screen } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { Picture } from "./picture.tsx";

const GIF = [0x47, 0x49, 0x46, 0x38, 0x39, 0x61];
let comeNear: (() => void)[] = [];

beforeEach(() => {
  comeNear = [];
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(private readonly seen: (entries: object[]) => void) {}
      observe(): void {
        comeNear.push(() => this.seen([{ isIntersecting: true }]));
      }
      disconnect(): void {}
    },
  );
  vi.spyOn(URL, "createObjectURL").mockReturnValue("blob:made");
});

function gatewayHas(bytes: readonly number[], status = 200): ReturnType<typeof vi.fn> {
  const asked = vi.fn(async () => new Response(new Uint8Array(bytes), { status }));
  vi.stubGlobal("fetch", asked);
  return asked;
}

test("a04: a picture of the gateway is fetched when it comes near, and shown by an object URL", async () => {
  const asked = gatewayHas(GIF);
  render(<Picture part={{ media_type: "image/gif", blob: "one" }} alt="a boat" />);
  expect(screen.getByRole("img", { name: "a boat" }).tagName).toBe("SPAN");
  expect(asked).not.toHaveBeenCalled();
  await act(async () => comeNear[0]?.());
  expect((await screen.findByAltText<HTMLImageElement>("a boat")).src).toBe("blob:made");
  expect(asked).toHaveBeenCalledOnce();
});

test("a04: a picture that cannot be shown says why", async () => {
  gatewayHas([], 404);
  render(<Picture part={{ blob: "two" }} alt="a boat" />);
  await act(async () => comeNear[0]?.());
  expect(await screen.findByText(/^The picture could not be shown: /)).toBeTruthy();
});

test("a picture in the message itself is there at once", () => {
  const asked = gatewayHas(GIF);
  render(<Picture part={{ media_type: "image/png", data: "AAAA", blob: "" }} alt="dot" />);
  expect(screen.getByAltText<HTMLImageElement>("dot").src).toBe("data:image/png;base64,AAAA");
  const { container } = render(<Picture part={{ blob: "" }} alt="" />);
  expect([container.innerHTML, asked.mock.calls.length]).toEqual(["", 0]);
});
