// Writes NOTICES.md: third-party components in the shipped files, and their licenses.

import { components, noticesPage } from "../../build/bundled.ts";
import { ENTRIES } from "../../build/npm.ts";

export async function generate(): Promise<{ path: string; text: string }[]> {
  return [{ path: "NOTICES.md", text: noticesPage(await components(ENTRIES)) }];
}
