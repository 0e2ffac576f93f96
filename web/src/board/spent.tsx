import { type ReactNode, useEffect, useState } from "react";
import { useApp, useConnection, useRows } from "../parts/use-store.ts";
import { count, money } from "../parts/spoken.ts";
import { useNow } from "../parts/use-now.ts";
import { type Usage, lastDays, sum, usageOf } from "./usage.ts";
import style from "./spent.module.css";

const DAYS = 30;
const MAX_ASKED = 5;

/** What all of it cost: today, this week, this month, and day by day. */
export function Spent(): ReactNode {
  const usage = useUsage();
  const now = useNow();
  if (usage === undefined || usage.costUsd === 0) return null;
  const days = lastDays(usage, now, DAYS);
  const most = Math.max(...days.map((one) => one.costUsd), 0.000001);
  return (
    <section className={style.spent} aria-label="Spent">
      <h2>Spent</h2>
      <dl className={style.sums}>
        <Sum label="Today" usd={sum(days.slice(-1))} />
        <Sum label="7 days" usd={sum(days.slice(-7))} />
        <Sum label="30 days" usd={usage.costUsd} />
        <div>
          <dt>Turns</dt>
          <dd>{count(usage.turns)}</dd>
        </div>
        {usage.agents.length > 1 &&
          usage.agents.map((one) => <Sum key={one.agent} label={one.agent} usd={one.costUsd} />)}
      </dl>
      <svg
        className={style.bars}
        viewBox={`0 0 ${DAYS * 10} 40`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Cost of each of the last ${DAYS} days, ${money(most)} at most`}
      >
        {days.map((one, place) => {
          const height = one.costUsd === 0 ? 0.75 : Math.max(2, (one.costUsd / most) * 40);
          return (
            <rect key={one.day} x={place * 10 + 1} y={40 - height} width={8} height={height}>
              <title>{`${one.day}: ${money(one.costUsd)}, ${one.turns} turns`}</title>
            </rect>
          );
        })}
      </svg>
    </section>
  );
}

function Sum({ label, usd }: { readonly label: string; readonly usd: number }): ReactNode {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{money(usd)}</dd>
    </div>
  );
}

/** Asked again when a turn has cost something; a long log is read in several steps. */
function useUsage(): Usage | undefined {
  const app = useApp();
  const online = useConnection() === "online";
  const cost = useRows().reduce((all, one) => all + one.costUsd, 0);
  const [usage, setUsage] = useState<Usage>();
  useEffect(() => {
    let over = false;
    const read = async (): Promise<void> => {
      const where = { days: DAYS, utc_offset_min: -new Date().getTimezoneOffset() };
      for (let asked = 0; asked < MAX_ASKED && !over; asked += 1) {
        const told = usageOf(await app.ask("usage", where));
        if (!over) setUsage(told);
        if (told.complete) return;
      }
    };
    if (online && cost >= 0) read().catch(() => {}); // the board is good without it
    return () => {
      over = true;
    };
  }, [app, online, cost]);
  return usage;
}
