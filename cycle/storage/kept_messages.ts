// Messages of a filter run that had nowhere to print them: `flemma status --last` shows them (cli 3.2).

import type { Environment } from "../../base/environment.ts";
import { stateFolder } from "./state_files.ts";

function messagesFile(environment: Environment): string {
  return `${stateFolder(environment)}/last-messages.txt`;
}

/** Replaces the messages of the last such run. Throws what the system throws: there is nobody left to tell. */
export function keepMessages(environment: Environment, messages: readonly string[]): void {
  Deno.mkdirSync(stateFolder(environment), { recursive: true, mode: 0o700 });
  const text = messages.map((message) => message + "\n").join("");
  Deno.writeTextFileSync(messagesFile(environment), text, { mode: 0o600 });
}

/** The kept messages, or null when no run ever had to keep any. */
export async function lastMessages(environment: Environment): Promise<string | null> {
  try {
    return await Deno.readTextFile(messagesFile(environment));
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}
