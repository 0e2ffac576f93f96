import { Component, type ReactNode } from "react";
import { wordsOf } from "../link/errors.ts";
import { Button } from "./button.tsx";
import style from "./later.module.css";

interface Props {
  readonly children: ReactNode;
}

/** A mistake of ours in one view leaves the rest of the page as it is. */
export class Caught extends Component<Props, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <div className={style.failed} role="alert">
        <h1>This view broke</h1>
        <p>
          Nothing of the session is lost: all of it is with the gateway. The page said:{" "}
          <code>{wordsOf(error)}</code>
        </p>
        <Button look="main" onClick={() => location.reload()}>
          Reload
        </Button>
      </div>
    );
  }
}
