// `flemma parse`: prints the document as JSON and evaluates nothing.

import { toJson } from "../../parser/json.ts";
import { readForReport } from "../document/read.ts";
import { Exit } from "../io/exit.ts";
import type { Invocation } from "../invocation.ts";
import { safeJson } from "../io/safe_json.ts";
import { writeOutput } from "../io/streams.ts";

export async function run(invocation: Invocation): Promise<number> {
  const opened = await readForReport(invocation, invocation.arguments.positionals[0]);
  if ("exit" in opened) return opened.exit;
  writeOutput(`${safeJson(toJson(opened.chat))}\n`);
  return Exit.ok;
}
