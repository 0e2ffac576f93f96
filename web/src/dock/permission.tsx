import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import { keysOf } from "../keys/actions.ts";
import { chordOf } from "../keys/chord.ts";
import { MAC } from "../keys/mac.ts";
import { Button } from "../parts/button.tsx";
import { useInSteps } from "../parts/in-steps.ts";
import { useSettings } from "../parts/use-store.ts";
import type { Prompt } from "../store/items.ts";
import type { Offer } from "../store/offers.ts";
import { Deny } from "./deny.tsx";
import style from "./dock.module.css";
import { EditInput } from "./edit-input.tsx";
import type { Guard } from "./guard.ts";
import { stepsOf } from "./long-subject.ts";
import { type Place, hiddenOffers, ruleOf, shownOffers, verbOf } from "./offer-words.ts";
import { Offers } from "./offers.tsx";
import { useSeenEnd } from "./seen-end.ts";
import { Subject } from "./subject.tsx";
import { isPlan } from "./titles.ts";
import type { Answer } from "./use-answer.ts";

export type Form = "" | "edit" | "deny";

export interface PermissionProps {
  readonly prompt: Prompt;
  readonly answer: Answer;
  readonly guard: Guard;
  readonly may: boolean;
  readonly form: Form;
  readonly setForm: (form: Form) => void;
}

/** A permission: what it is for, and the row that answers it, which is always on the screen. */
export function Permission(props: PermissionProps): ReactNode {
  const { prompt, answer, guard, may, form, setForm } = props;
  const { keys } = useSettings();
  const card = useRef<HTMLDivElement>(null);
  const there = useInSteps(() => stepsOf(prompt));
  const { seen, body, end, show } = useSeenEnd(there);
  const firstOffer = useRef<HTMLButtonElement>(null);
  const plan = isPlan(prompt);
  const offers = shownOffers(prompt);
  const off = !may || !guard.open || answer.sending;
  const locked = off || !seen;
  const counts = (): boolean => may && guard.counts() && !answer.sending;

  const allow = (): void => {
    if (counts() && seen) answer.decide({ decision: "allow" });
  };
  const remember = (offer: Offer, place: Place): void => {
    if (counts() && seen)
      answer.decide({ decision: offer.decision, remember: [offer.index], place });
  };
  const open = (next: Form): void => {
    if (counts()) setForm(next);
  };
  const pressed = (event: KeyboardEvent): void => {
    if (form !== "" || event.repeat || isWriting(event.target)) return;
    const chord = chordOf(event, MAC);
    const [id, does] = Object.entries(acts).find(([one]) => keysOf(one, keys) === chord) ?? [];
    if (does === undefined || (id === "edit" && !prompt.canEdit)) return;
    event.preventDefault();
    does();
  };
  const always = (): void => {
    const allowing = offers.filter((offer) => offer.decision === "allow");
    if (allowing.length === 1) firstOffer.current?.click();
    else if (allowing.length > 1) firstOffer.current?.focus();
  };
  const acts: Readonly<Record<string, () => void>> = {
    allow,
    deny: () => open("deny"),
    edit: () => open("edit"),
    always,
  };
  useKeys(card, pressed);
  return (
    <div ref={card} className={style.card}>
      <Body body={body} end={end} there={there} label={plan ? "The plan" : "What is asked"}>
        <Subject prompt={prompt} />
        <LongRules offers={offers} />
        <Hidden prompt={prompt} />
      </Body>
      {may && there && !seen && form !== "deny" && (
        <p className={style.more}>
          There is more below. Read to the end before you allow it.
          <Button look="quiet" onClick={show}>
            Show the end
          </Button>
        </p>
      )}
      {form === "deny" && (
        <Deny
          plan={plan}
          off={off}
          onBack={() => setForm("")}
          onDeny={(message, stop) => {
            if (counts()) answer.decide({ decision: "deny", message, stop });
          }}
        />
      )}
      {form === "edit" && (
        <EditInput
          input={prompt.input}
          off={locked}
          onBack={() => setForm("")}
          onAllow={(input) => {
            if (!counts() || !seen) return;
            const changed = input === undefined ? {} : { updated_input: input };
            answer.decide({ decision: "allow", ...changed });
          }}
        />
      )}
      {form === "" && (
        <div className={style.actions} role="group" aria-label="Answer">
          <Button
            look="main"
            aria-disabled={locked}
            aria-keyshortcuts={keysOf("allow", keys)}
            onClick={allow}
          >
            {plan ? "Approve the plan" : "Allow once"}
          </Button>
          <Offers offers={offers} off={locked} first={firstOffer} onRemember={remember} />
          <span className={style.apart}>
            {prompt.canEdit && (
              <Button
                className={style.right}
                aria-disabled={off}
                aria-keyshortcuts={keysOf("edit", keys)}
                onClick={() => open("edit")}
              >
                Edit
              </Button>
            )}
            <Button
              className={style.deny}
              aria-disabled={off}
              aria-keyshortcuts={keysOf("deny", keys)}
              onClick={() => open("deny")}
            >
              {plan ? "Keep planning" : "Deny"}
            </Button>
          </span>
        </div>
      )}
    </div>
  );
}

const FITS = 18; // characters of a rule on a button, whatever the screen

/** Rules too long for a button are told in full: what is kept is never more than what was shown. */
function LongRules({ offers }: { readonly offers: readonly Offer[] }): ReactNode {
  const long = offers.filter((one) => ruleOf(one).length > FITS);
  if (long.length === 0) return null;
  return (
    <ul className={style.rules} aria-label="Rules in full">
      {long.map((one) => (
        <li key={one.index}>
          {verbOf(one)} <code>{ruleOf(one)}</code>
        </li>
      ))}
    </ul>
  );
}

/** Tells that the agent suggested more than can be described here. */
function Hidden({ prompt }: { readonly prompt: Prompt }): ReactNode {
  const words = hiddenOffers(prompt);
  return words === "" ? null : <p className={style.rules}>{words}</p>;
}

interface BodyProps {
  readonly body: RefObject<HTMLDivElement | null>;
  readonly end: RefObject<HTMLDivElement | null>;
  /** What is in it can be drawn. */
  readonly there: boolean;
  readonly label: string;
  readonly children: ReactNode;
}

/** The only part that scrolls. Its end is there only with all that stands before it. */
function Body({ body, end, there, label, children }: BodyProps): ReactNode {
  return (
    <div
      ref={body}
      className={style.body}
      role="group"
      aria-label={label}
      aria-busy={!there}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, for the keyboard too
      tabIndex={0}
    >
      {there ? children : <div className={style.coming} />}
      {there && <div ref={end} className={style.end} />}
    </div>
  );
}

/** The keys of the buttons, for whoever has the focus anywhere in the prompt, or on itself. */
function useKeys(
  card: RefObject<HTMLElement | null>,
  pressed: (event: KeyboardEvent) => void,
): void {
  const last = useRef(pressed);
  useEffect(() => {
    last.current = pressed;
  });
  useEffect(() => {
    const whole = card.current?.closest<HTMLElement>("[data-prompt]") ?? card.current;
    const listen = (event: KeyboardEvent): void => last.current(event);
    whole?.addEventListener("keydown", listen);
    return () => whole?.removeEventListener("keydown", listen);
  }, [card]);
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select");
}
