/** What went wrong in words, and what a person can do about it. */
import { own } from "../store/values.ts";

interface Advice {
  readonly title: string;
  readonly advice: string;
}

const BY_CODE: Readonly<Record<string, Advice>> = {
  authentication_failed: {
    title: "The agent is not logged in",
    advice:
      "Log in with the agent's own command on the gateway's machine, then send your message again.",
  },
  billing_error: {
    title: "The account has no credit",
    advice: "Look after the account's billing, then send your message again.",
  },
  rate_limit: {
    title: "The model's rate limit is reached",
    advice: "Wait for the limit to reset, or change the model, then send your message again.",
  },
  invalid_request: {
    title: "The model refused the request",
    advice:
      "If it says that the conversation is too long, /compact it; if it is about the model, choose another. Otherwise take back what you attached.",
  },
  max_output_tokens: {
    title: "The answer was too long",
    advice: "Ask for it in parts.",
  },
  model_not_found: {
    title: "The model is not there",
    advice: "Choose another model, then send your message again.",
  },
  server_error: {
    title: "The model's service failed",
    advice: "Send your message again in a moment.",
  },
};

/** Codes that say nothing. */
const NAMELESS: ReadonlySet<string> = new Set(["", "agent", "api", "unknown"]);
const AGAIN = "Send your message again; if it goes on, look at the gateway's log.";

export function adviceFor(note: string, code: string, why: string): Advice {
  if (note === "exited") {
    return {
      title: why === "not_started" ? "The agent could not be started" : "The agent ended",
      advice:
        why === "not_started"
          ? "`flybridge doctor` on the gateway's machine tells what is missing."
          : "Your next message starts it again, with the conversation so far.",
    };
  }
  if (note === "lost") {
    return {
      title: "The agent has no record of this conversation",
      advice: "What was said is still here; the agent begins anew with your next message.",
    };
  }
  const title = NAMELESS.has(code) ? "Something went wrong" : `Something went wrong: ${code}`;
  return own(BY_CODE, code) ?? { title, advice: AGAIN };
}

/** It is known when a limit is over. */
export function untilAdvice(until: string): string {
  return `Wait until ${until}, or change the model, then send your message again.`;
}

/** What to do after a turn that ended badly, and of which nothing else says why. */
export function adviceAfter(reason: string, subtype: string): string {
  if (reason === "error") return AGAIN;
  if (reason !== "limit") return "";
  return subtype.includes("budget")
    ? "A new session has a budget of its own."
    : "Your next message goes on from here.";
}
