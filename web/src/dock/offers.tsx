import { type ReactNode, type RefObject, useState } from "react";
import { Choice } from "../composer/choice.tsx";
import { Button } from "../parts/button.tsx";
import { useApp } from "../parts/use-store.ts";
import type { Offer } from "../store/offers.ts";
import style from "./dock.module.css";
import { PLACES, type Place, placeOf, ruleOf, sentence, verbOf, whereOf } from "./offer-words.ts";

interface Props {
  readonly offers: readonly Offer[];
  readonly off: boolean;
  readonly first: RefObject<HTMLButtonElement | null>;
  readonly onRemember: (offer: Offer, place: Place) => void;
}

/** "Always", as the agent offers it: each says what will be kept, and where. */
export function Offers({ offers, off, first, onRemember }: Props): ReactNode {
  const app = useApp();
  const admin = app.may("admin");
  const [place, setPlace] = useState<Place>("session");
  return (
    <>
      {offers.map((one, at) => {
        const barred = one.admin && !admin;
        const whole = sentence(one, place);
        const rule = ruleOf(one);
        return (
          <Button
            key={one.index}
            ref={at === 0 ? first : undefined}
            className={style.offer}
            aria-disabled={off || barred}
            title={barred ? `${whole}: only an administrator may` : whole}
            onClick={() => {
              if (!off && !barred) onRemember(one, placeOf(one, place));
            }}
          >
            <span className={style.sentence}>
              {rule === "" ? (
                whole
              ) : (
                <>
                  <span>{verbOf(one)} </span>
                  <code>{rule} </code>
                  <span>{whereOf(one, place)}</span>
                </>
              )}
            </span>
          </Button>
        );
      })}
      {admin && offers.some((one) => one.placed) && (
        <Choice
          className={style.right}
          label="Where a rule holds"
          value={place}
          shown="Where it holds"
          options={Object.entries(PLACES).map(([value, label]) => ({ value, label }))}
          onChange={(next) => setPlace(next as Place)}
        />
      )}
    </>
  );
}
