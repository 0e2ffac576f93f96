// What every test with a document needs: what one test put there, the next does not find.
import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

afterEach(cleanup);
