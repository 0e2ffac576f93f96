import type { ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import style from "./new-session.module.css";

interface Props {
  readonly folder: string;
  readonly files: readonly string[];
  readonly instructions: readonly string[];
  readonly mayTrust: boolean;
  /** Whether the agent can start without these files. */
  readonly canRestrict: boolean;
  readonly busy: boolean;
  readonly wrong: string;
  readonly onOpen: (how: "trust" | "restrict") => void;
  readonly onBack: () => void;
}

/** A folder has files an agent would obey. Nobody has agreed to them yet. */
export function FolderFound(props: Props): ReactNode {
  const { folder, files, instructions, mayTrust, canRestrict, busy, wrong, onOpen, onBack } = props;
  return (
    <div className={style.found}>
      <p>
        An agent that works in <code>{folder}</code> would obey these files. They can allow things
        without asking you, and run programs:
      </p>
      <ul>
        {files.map((one) => (
          <li key={one}>
            <code>{one}</code>
          </li>
        ))}
      </ul>
      <p>Trust the folder only if you know who wrote them.</p>
      {instructions.length > 0 && (
        <>
          <p>It also has instructions, which an agent reads in any case:</p>
          <ul>
            {instructions.map((path) => (
              <li key={path}>
                <code>{path}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      {!canRestrict && <p>This agent cannot be started without them.</p>}
      {wrong !== "" && (
        <p className={style.wrong} role="alert">
          {wrong}
        </p>
      )}
      <div className={style.actions}>
        <Button look="quiet" onClick={onBack}>
          Back
        </Button>
        <Button
          disabled={!mayTrust || busy}
          title={mayTrust ? undefined : "Only an administrator may trust a folder"}
          onClick={() => onOpen("trust")}
        >
          Trust this folder
        </Button>
        {canRestrict && (
          <Button look="main" disabled={busy} onClick={() => onOpen("restrict")}>
            Open without these files
          </Button>
        )}
      </div>
    </div>
  );
}
