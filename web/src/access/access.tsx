import { type FormEvent, type ReactNode, useState } from "react";
import { basePath } from "../link/base.ts";
import { wordsOf } from "../link/errors.ts";
import { call } from "../link/http.ts";
import { deleteLoginKey } from "../link/login-key.ts";
import { Button } from "../parts/button.tsx";
import { ago } from "../parts/spoken.ts";
import { useAsked } from "../parts/use-asked.ts";
import { useNow } from "../parts/use-now.ts";
import { useApp, useKey } from "../parts/use-store.ts";
import { type Fields, fieldsOf, listOf, numberOf, textOf, textsOf } from "../store/values.ts";
import { Audit } from "./audit.tsx";
import style from "./access.module.css";

/** Who may come in and with what; and what they did. */
export function Access(): ReactNode {
  const app = useApp();
  const welcome = useKey(app.emitter, "welcome", () => app.welcome);
  const admin = welcome?.scopes?.includes("admin") ?? false;
  return (
    <div className={style.page}>
      <header className={style.head}>
        <h1>Access</h1>
        <p className={style.note}>{welcome?.principal}</p>
        <Button onClick={() => void logOut()}>Log out</Button>
      </header>
      {admin ? (
        <>
          <Credentials />
          <Audit />
        </>
      ) : (
        <p className={style.note}>
          This login may not manage others. At a terminal on the gateway&apos;s machine,{" "}
          <code>flybridge token</code> and <code>flybridge audit</code> do.
        </p>
      )}
    </div>
  );
}

function Credentials(): ReactNode {
  const app = useApp();
  const now = useNow();
  const { value, problem, reload } = useAsked(() => app.ask("token.list"));
  const told = fieldsOf(value);
  const revoke = (id: string): void => {
    app.ask("token.revoke", { name: id }).then(reload, (error: unknown) => {
      app.ui.toast(wordsOf(error), "error");
    });
  };
  return (
    <>
      <section className={style.section}>
        <h2>Tokens for programs</h2>
        <p className={style.note}>
          A program logs in with a token. It may look, talk and interrupt; it cannot open sessions
          or approve.
        </p>
        {problem !== "" && <p role="alert">{problem}</p>}
        <Table
          rows={listOf(told["tokens"]).map(fieldsOf)}
          now={now}
          onRevoke={revoke}
          what="token"
        />
        <NewToken onMade={reload} />
      </section>
      <section className={style.section}>
        <h2>Browsers that are logged in</h2>
        <p className={style.note}>
          Revoke one that is lost. At a terminal, <code>flybridge open</code> logs another one in.
        </p>
        <Table
          rows={listOf(told["logins"]).map(fieldsOf)}
          now={now}
          onRevoke={revoke}
          what="login"
        />
      </section>
    </>
  );
}

function Table({
  rows,
  now,
  what,
  onRevoke,
}: {
  readonly rows: readonly Fields[];
  readonly now: number;
  readonly what: string;
  readonly onRevoke: (id: string) => void;
}): ReactNode {
  if (rows.length === 0) return <p className={style.note}>None yet.</p>;
  return (
    <ul className={style.list}>
      {rows.map((one) => {
        const id = textOf(one["id"]);
        const expires = numberOf(one["expires_ms"]);
        return (
          <li key={id}>
            <span>
              <strong>{textOf(one["name"]) || id}</strong>
              <span className={style.about}>
                {textsOf(one["scopes"]).join(", ")} · made {ago(numberOf(one["created_ms"]), now)}{" "}
                ago
                {expires > 0 && ` · until ${new Date(expires).toLocaleString()}`}
              </span>
            </span>
            <Button
              aria-label={`Revoke the ${what} ${textOf(one["name"]) || id}`}
              onClick={() => onRevoke(id)}
            >
              Revoke
            </Button>
          </li>
        );
      })}
    </ul>
  );
}

function NewToken({ onMade }: { readonly onMade: () => void }): ReactNode {
  const app = useApp();
  const [name, setName] = useState("");
  const [made, setMade] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    app.ask("token.create", { name: name.trim() }).then(
      (value) => {
        setMade(textOf(fieldsOf(value)["token"]));
        setName("");
        onMade();
      },
      (error: unknown) => app.ui.toast(wordsOf(error), "error"),
    );
  };
  return (
    <form className={style.form} onSubmit={submit}>
      <label>
        Name of a new token
        <input value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
      </label>
      <Button type="submit" disabled={name.trim() === ""}>
        Create token
      </Button>
      {made !== "" && (
        <p role="status" className={style.secret}>
          Copy it now, it is shown this once: <code>{made}</code>
        </p>
      )}
    </form>
  );
}

async function logOut(): Promise<void> {
  try {
    await call("POST", "/logout", {}); // the gateway takes no request without a content type
  } catch {
    // without its key the login cannot be used either
  }
  await deleteLoginKey();
  location.replace(`${basePath()}/login`);
}
