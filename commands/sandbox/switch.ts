// `flemma sandbox enable | disable | reset`: the same as `flemma session set sandbox.enabled=…` and
// `flemma session reset --key sandbox.enabled`; and `flemma sandbox reset --caches`.

import { documentPath } from "../document/read.ts";
import { sizeWords } from "../io/amounts.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import type { Invocation } from "../invocation.ts";
import { add, reset } from "../settings/session.ts";
import { switchOption } from "../line/options.ts";
import { settingsOf } from "../line/overrides.ts";
import { removeCacheSets } from "../../sandbox/outside/cache_sets.ts";
import { sandboxProblem } from "../settings/usable_sandbox.ts";

const KEY = "sandbox.enabled";

export async function run(invocation: Invocation): Promise<number> {
  const { environment } = invocation;
  const { command, positionals } = invocation.arguments;
  if (command.name === "sandbox reset" && switchOption(invocation.arguments, "caches") === true) {
    return await removeCaches(invocation);
  }
  const document = documentPath(environment, positionals[0]);
  if (!document.ok) return refuse(invocation, document.problem);
  if (command.name === "sandbox reset") return await reset(invocation, document.value, [KEY]);
  const enabled = command.name === "sandbox enable";
  if (enabled) {
    const loaded = await settingsOf(invocation.arguments, environment, document.value);
    if (!loaded.ok) return refuse(invocation, loaded.problem);
    const problem = await sandboxProblem(invocation, document.value, loaded.value);
    if (problem !== null) return refuse(invocation, problem);
  }
  return await add(invocation, document.value, [{ op: "set", path: KEY.split("."), value: enabled }]);
}

async function removeCaches(invocation: Invocation): Promise<number> {
  const removed = await removeCacheSets(invocation.environment);
  if (!removed.ok) return refuse(invocation, removed.problem);
  invocation.messages.say(`Removed the caches of commands (${sizeWords(removed.value.bytes)}).`);
  return Exit.ok;
}
