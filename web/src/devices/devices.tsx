import type { ReactNode } from "react";

export function Devices(): ReactNode {
  return <h2>Devices</h2>;
}
