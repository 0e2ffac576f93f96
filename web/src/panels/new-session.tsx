import { type FormEvent, type ReactNode, useEffect, useId, useState } from "react";
import { codeOf, wordsOf } from "../link/errors.ts";
import { Button } from "../parts/button.tsx";
import { Disclosure } from "../parts/disclosure.tsx";
import { Modal } from "../parts/modal.tsx";
import { useApp, useRows } from "../parts/use-store.ts";
import { navigate } from "../routes.ts";
import { GatewayError } from "../store/app.ts";
import { folders } from "../store/grouping.ts";
import { modeAbout, modeName } from "../store/modes.ts";
import { fieldsOf, textOf } from "../store/values.ts";
import { FolderFound } from "./folder-found.tsx";
import { begun } from "./latest.ts";
import { Beginning, MoreFields } from "./start-fields.tsx";
import {
  type Draft,
  EMPTY,
  type Folder,
  type Offered,
  agentWords,
  chosenOf,
  missing,
  offeredOf,
  paramsOf,
  refusalWords,
} from "./start-form.ts";
import { focusComposer } from "./run-action.ts";
import { takeStart } from "./start-with.ts";
import style from "./new-session.module.css";

/** Opens a session: which agent, where, and with what. */
export function NewSession(): ReactNode {
  const app = useApp();
  const rows = useRows();
  const [draft, setDraft] = useState<Draft>(() => ({
    ...EMPTY,
    cwd: folders(app.listing.rows)[0] ?? "",
    ...takeStart(),
  }));
  const offered = useOffered();
  const [wrong, setWrong] = useState("");
  const [brought, setBrought] = useState<readonly string[]>([]);
  const [instructions, setInstructions] = useState<readonly string[]>([]);
  const [canRestrict, setCanRestrict] = useState(true);
  const [busy, setBusy] = useState(false);
  const ids = useId();
  const agent = offered === undefined ? undefined : chosenOf(offered, draft.agent);
  // not written into the field: it may come while somebody types there
  const cwd = draft.cwd.trim() || (offered?.folder ?? "");
  const chosen = { ...draft, agent: agent?.name ?? "", cwd };
  const fields = agent?.fields ?? [];
  const plain = fields.filter((one) => !one.advanced);
  const advanced = fields.filter((one) => one.advanced);
  const recent = folders(rows).slice(0, 20);
  const models = [...new Set(rows.map((one) => one.model).filter(Boolean))];
  const close = (): void => app.ui.show("");
  const set = (change: Partial<Draft>): void => {
    setDraft((before) => ({ ...before, ...change }));
    setWrong("");
  };

  const open = async (folder: Folder): Promise<void> => {
    const lacks = missing(chosen);
    if (lacks !== "") {
      setWrong(lacks);
      return;
    }
    setBusy(true);
    try {
      const start = await begun(chosen, agent?.history ?? "");
      const known = "session" in start;
      const session = known ? start.session : await app.open(paramsOf(start.draft, folder, fields));
      if (known) app.ui.toast("This conversation is open already: here it is.");
      close();
      app.ui.slide("");
      navigate({ view: "session", session });
      setTimeout(focusComposer); // after the dialog gave the focus back
    } catch (error) {
      if (codeOf(error) === "folder_not_trusted") {
        const files = pathsOf(error, "files");
        setBrought(files.length > 0 ? files : [wordsOf(error)]);
        setInstructions(pathsOf(error, "instructions"));
        setCanRestrict(detailOf(error, "restrict") !== "unsupported");
      } else setWrong(refusalWords(codeOf(error), wordsOf(error)));
      setBusy(false);
    }
  };

  if (brought.length > 0) {
    return (
      <Modal title="This folder brings its own settings" look="form" onClose={close}>
        <FolderFound
          folder={cwd}
          files={brought}
          instructions={instructions}
          mayTrust={app.may("admin")}
          canRestrict={canRestrict}
          busy={busy}
          wrong={wrong}
          onOpen={(how) => void open(how)}
          onBack={() => {
            setBrought([]);
            setWrong("");
          }}
        />
      </Modal>
    );
  }
  return (
    <Modal title="New session" onClose={close}>
      <form
        className={style.form}
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          void open("ask");
        }}
      >
        <label htmlFor={`${ids}agent`}>Agent</label>
        <div>
          <select
            id={`${ids}agent`}
            value={agent?.name ?? ""}
            onChange={(event) => set({ agent: event.target.value, mode: "", effort: "" })}
          >
            {offered === undefined && <option value="">Looking for agents</option>}
            {offered?.agents.map((one) => (
              <option key={one.name} value={one.name} disabled={!one.installed}>
                {agentWords(one)}
              </option>
            ))}
          </select>
          {offered !== undefined && agent === undefined && (
            <p className={style.hint}>
              No agent is installed here. At a terminal, <code>flybridge doctor</code> says how to
              get one.
            </p>
          )}
        </div>
        <label htmlFor={`${ids}cwd`}>Folder</label>
        <div>
          <input
            id={`${ids}cwd`}
            data-first=""
            className={style.path}
            list={`${ids}folders`}
            value={draft.cwd}
            placeholder={offered?.folder || "/home/you/project"}
            spellCheck={false}
            autoCapitalize="off"
            onChange={(event) => set({ cwd: event.target.value })}
          />
          {draft.cwd === "" && cwd !== "" && (
            <p className={style.hint}>Leave it empty to use this one: the gateway runs there.</p>
          )}
          <datalist id={`${ids}folders`}>
            {recent.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </div>
        <label htmlFor={`${ids}title`}>Title</label>
        <input
          id={`${ids}title`}
          value={draft.title}
          maxLength={200}
          placeholder="Optional; else the name of the folder"
          onChange={(event) => set({ title: event.target.value })}
        />
        <label htmlFor={`${ids}model`}>Model</label>
        <div>
          <input
            id={`${ids}model`}
            list={`${ids}models`}
            value={draft.model}
            placeholder="The agent's usual one"
            spellCheck={false}
            autoCapitalize="off"
            onChange={(event) => set({ model: event.target.value })}
          />
          <datalist id={`${ids}models`}>
            {models.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </div>
        <label htmlFor={`${ids}mode`}>Permissions</label>
        <select
          id={`${ids}mode`}
          value={draft.mode}
          disabled={!app.may("admin")} // another one can grant what a person should
          onChange={(event) => set({ mode: event.target.value })}
        >
          <option value="">The agent's usual mode</option>
          {agent?.modes.map((one) => (
            <option key={one} value={one}>
              {[modeName(agent.known, one), modeAbout(agent.known, one)].filter(Boolean).join(": ")}
            </option>
          ))}
        </select>
        {agent !== undefined && agent.efforts.length > 0 && (
          <>
            <label htmlFor={`${ids}effort`}>Effort</label>
            <select
              id={`${ids}effort`}
              value={draft.effort}
              onChange={(event) => set({ effort: event.target.value })}
            >
              <option value="">The agent's usual effort</option>
              {agent.efforts.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </>
        )}
        <Beginning
          draft={chosen}
          set={set}
          resumes={agent?.resumes ?? true}
          history={agent?.history ?? ""}
        />
        {plain.length > 0 && (
          <div className={style.whole}>
            <MoreFields draft={draft} set={set} admin={app.may("admin")} fields={plain} />
          </div>
        )}
        {advanced.length > 0 && (
          <div className={style.whole}>
            <Disclosure id="new-session:more" title="More options">
              <MoreFields draft={draft} set={set} admin={app.may("admin")} fields={advanced} />
            </Disclosure>
          </div>
        )}
        {wrong !== "" && (
          <p className={style.wrong} role="alert">
            {wrong}
          </p>
        )}
        <div className={style.actions}>
          <Button onClick={close}>Cancel</Button>
          <Button look="main" type="submit" disabled={busy || agent === undefined}>
            {busy ? "Opening" : "Open session"}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function useOffered(): Offered | undefined {
  const app = useApp();
  const [offered, setOffered] = useState<Offered>();
  useEffect(() => {
    let over = false;
    const found = (told: unknown): void => {
      if (!over) setOffered(offeredOf(told));
    };
    app.ask("agents").then(found, () => found({}));
    return () => {
      over = true;
    };
  }, [app]);
  return offered;
}

function pathsOf(error: unknown, name: "files" | "instructions"): readonly string[] {
  return detailOf(error, name).split("\n").filter(Boolean);
}

function detailOf(error: unknown, name: string): string {
  return error instanceof GatewayError ? textOf(fieldsOf(error.detail)[name]) : "";
}
