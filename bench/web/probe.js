// Runs in the page before anything of its own, and writes down what happens there.
//
// What is received is noted when the socket hands it out; what is painted, when the frame that has it
// is over. It changes nothing but two functions that it passes everything through.
"use strict";
(() => {
  const seen = { frames: [], longs: [], inputs: [], late: [] };
  const sockets = [];
  const WAIT_MS = 30_000;
  const KEYS = ["keydown", "keyup"];
  let waiting = [];
  let framing = false;
  let watching = false;
  let busy = 0; // while nobody waits for anything, nothing is done here

  /**
   * Calls `run` in the first task after this one. After a key the browser holds messages back until
   * it has painted once more, a whole frame later: then the key itself is what comes first.
   */
  const soon = (run) => {
    const channel = new MessageChannel();
    const once = () => {
      channel.port1.close();
      for (const one of KEYS) removeEventListener(one, once, true);
      run();
    };
    channel.port1.onmessage = once;
    channel.port2.postMessage(0);
    for (const one of KEYS) addEventListener(one, once, true);
  };

  const nativeFrame = window.requestAnimationFrame.bind(window);
  const frame = (run) =>
    nativeFrame((at) => {
      if (busy > 0 && !framing) {
        framing = true;
        soon(() => {
          framing = false;
        });
      }
      run(at);
    });
  window.requestAnimationFrame = frame;

  /** Calls `run` when what is in the document now has been painted. */
  const painted = (run) => {
    if (framing) soon(run);
    else frame(() => soon(run));
  };

  const NativeSocket = window.WebSocket;
  window.WebSocket = class extends NativeSocket {
    constructor(...args) {
      super(...args);
      this.made = performance.now();
      this.previews = 0;
      sockets.push(this);
      this.addEventListener("message", (event) => {
        if (!event.data.includes('"type":"preview"')) return;
        this.previews += 1;
        if (watching && seeable(event.data)) waiting.push(performance.now());
      });
    }
  };

  /** Of a piece that is only spaces there is nothing to be painted: an indent comes in many. */
  function seeable(data) {
    return JSON.parse(data).text.trim() !== "";
  }

  // The store tells what changed inside of a frame; colours and clocks come by themselves.
  new MutationObserver((all) => {
    if (!watching || !framing || waiting.length === 0) return;
    if (!all.some((one) => inLog(one.target))) return;
    const these = waiting;
    waiting = [];
    painted(() => {
      const now = performance.now();
      for (const one of these) seen.late.push(now - one);
    });
  }).observe(document, { childList: true, characterData: true, subtree: true });

  function inLog(node) {
    const element = node instanceof Element ? node : node.parentElement;
    return element !== null && element.closest('[role="log"]') !== null;
  }

  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) seen.longs.push([one.startTime, one.duration]);
  }).observe({ type: "longtask", buffered: true });
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) {
      if (one.interactionId > 0) seen.inputs.push([one.interactionId, one.duration]);
    }
  }).observe({ type: "event", durationThreshold: 16, buffered: true });

  const tick = (at) => {
    if (!watching) return;
    seen.frames.push(at);
    frame(tick);
  };

  window.bench = {
    sockets,
    painted,
    longs: seen.longs,
    watch() {
      for (const one of Object.values(seen)) one.length = 0;
      waiting = [];
      watching = true;
      busy += 1;
      frame(tick);
    },
    stop() {
      watching = false;
      busy -= 1;
      return structuredClone(seen);
    },
    /** The time at which what `done` waits for is painted. */
    until(done) {
      return new Promise((resolve, reject) => {
        let over = false;
        busy += 1;
        const end = (then) => {
          over = true;
          clearTimeout(timer);
          watcher.disconnect();
          then();
          busy -= 1;
        };
        const look = () => {
          if (!over && done()) end(() => painted(() => resolve(performance.now())));
        };
        const timer = setTimeout(() => end(() => reject(new Error(`never: ${done}`))), WAIT_MS);
        const watcher = new MutationObserver(look);
        const whole = { childList: true, characterData: true, attributes: true, subtree: true };
        watcher.observe(document, whole);
        look();
      });
    },
    /** Milliseconds from `act` until what `done` waits for is painted. */
    async timed(act, done) {
      const began = performance.now();
      act();
      return (await this.until(done)) - began;
    },
    /** Cuts the connection; from the next try on, how long until the stream goes on in sight. */
    async cut() {
      const before = sockets.length;
      sockets[before - 1].close();
      const back = await this.until(() => {
        const synced = document.querySelector('[role="log"][aria-busy="false"]') !== null;
        return synced && (sockets[before]?.previews ?? 0) > 0;
      });
      return back - sockets[before].made;
    },
    /** Whether the transcript of this session is there and has all that it was told of. */
    shows(session) {
      const log = document.querySelector('[role="log"][aria-busy="false"]');
      if (log === null || !location.pathname.endsWith(`/s/${session}`)) return false;
      return log.querySelectorAll("[data-entry]").length > 20;
    },
  };
})();
