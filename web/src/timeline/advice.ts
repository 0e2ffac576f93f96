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
      "If it says that the conversation is too long, /compact it. Otherwise take back what you attached.",
  },
  server_error: {
    title: "The model's service failed",
    advice: "Send your message again in a moment.",
  },
};

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
  return (
    own(BY_CODE, code) ?? {
      title: code === "" ? "Something went wrong" : `Something went wrong: ${code}`,
      advice: "Send your message again; if it goes on, look at the gateway's log.",
    }
  );
}
