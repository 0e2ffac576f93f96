/** A page without a browser, at a gateway that does as it is told. */
import { App } from "../src/store/app.ts";
import { FakeGateway } from "./fake-gateway.ts";

export class Shelf {
  readonly kept = new Map<string, string>();
  getItem(key: string): string | null {
    return this.kept.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.kept.set(key, value);
  }
  /** What a browser does when somebody copies a tab. */
  copy(): Shelf {
    const made = new Shelf();
    for (const [key, value] of this.kept) made.kept.set(key, value);
    return made;
  }
}

let ids = 0;

export function start(
  shelf = new Shelf(),
  gateway = new FakeGateway(),
  cupboard = new Shelf(),
  isCurrent = (): Promise<boolean> => Promise.resolve(true),
): { app: App; gateway: FakeGateway; shelf: Shelf; cupboard: Shelf } {
  const app = new App({
    open: gateway.open,
    shelf,
    cupboard,
    isCurrent,
    newId: () => `web-${(ids += 1)}`,
    schedule: (run) => run(),
  });
  app.start();
  return { app, gateway, shelf, cupboard };
}

/** A page with the browser's own storage, which has not started yet: for tests of components. */
export function pageApp(gateway = new FakeGateway()): App {
  return new App({
    open: gateway.open,
    shelf: sessionStorage,
    cupboard: localStorage,
    newId: () => "id",
    schedule: (run) => run(),
  });
}
