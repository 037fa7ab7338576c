// Writes NOTICES.md: what of others is in the files that are shipped, under which licence.

import { components, noticesPage } from "../../build/bundled.ts";
import { ENTRIES } from "../../build/npm.ts";

export async function generate(): Promise<{ path: string; text: string }[]> {
  return [{ path: "NOTICES.md", text: noticesPage(await components(ENTRIES)) }];
}
