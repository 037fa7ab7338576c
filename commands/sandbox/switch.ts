// `flemma sandbox enable | disable | reset`: switches the sandbox for this session, overriding documents.

import { ownProtectedPaths } from "../../agent/sandbox.ts";
import { documentPath } from "../document/read.ts";
import { refuse } from "../io/refuse.ts";
import type { Invocation } from "../invocation.ts";
import { add, reset } from "../settings/session.ts";
import { settingsOf } from "../line/overrides.ts";

const KEY = "sandbox.enabled";

export async function run(invocation: Invocation): Promise<number> {
  const { environment } = invocation;
  const { command, positionals } = invocation.arguments;
  const document = documentPath(environment, positionals[0]);
  if (!document.ok) return refuse(invocation, document.problem);
  if (command.name === "sandbox reset") return await reset(invocation, document.value, [KEY]);
  const enabled = command.name === "sandbox enable";
  if (enabled) {
    const loaded = await settingsOf(invocation.arguments, environment, document.value);
    if (!loaded.ok) return refuse(invocation, loaded.problem);
    const { createSandbox } = await import("../../sandbox/mod.ts");
    // The check assumes an enabled sandbox: it must also work while the sandbox is off.
    const sandbox = createSandbox({
      settings: { ...loaded.value.settings.sandbox, enabled: true },
      environment,
      document: document.value,
      protect: ownProtectedPaths({
        environment,
        documents: document.value === null ? [] : [document.value],
        configFiles: [...loaded.value.files, ...loaded.value.code],
      }),
      ignoreCache: true,
    });
    const backend = await sandbox.available();
    if (!backend.ok) return refuse(invocation, backend.problem);
  }
  return await add(invocation, document.value, [{ op: "set", path: KEY.split("."), value: enabled }]);
}
