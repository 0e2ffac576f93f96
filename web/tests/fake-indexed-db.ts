/** As much of IndexedDB as a login key needs: one store, whose values a test can see and change. */

class FakeRequest extends EventTarget {
  error: Error | null = null;

  constructor(
    readonly result: unknown,
    fails: boolean,
  ) {
    super();
    if (fails) this.error = new Error("nothing can be stored here");
    queueMicrotask(() => this.dispatchEvent(new Event(fails ? "error" : "success")));
  }
}

export class FakeIndexedDb {
  constructor(
    readonly values: Record<string, string>,
    private readonly fails = false,
  ) {}

  open(): FakeRequest {
    const { values } = this;
    const store = {
      get: (key: string) => new FakeRequest(values[key], false),
      delete: (key: string) => new FakeRequest(delete values[key], false),
    };
    const database = { transaction: () => ({ objectStore: () => store }), close: () => {} };
    return new FakeRequest(database, this.fails);
  }
}
