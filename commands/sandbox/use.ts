// `flemma sandbox use NAME`: tests a backend, and writes it into the person's settings file.

import { writeBackend } from "../../agent/rules/settings_rule.ts";
import { success } from "../../base/problem.ts";
import { Exit } from "../io/exit.ts";
import { refuse } from "../io/refuse.ts";
import type { Invocation } from "../invocation.ts";
import { readOverrides, settingsOf } from "../line/overrides.ts";
import { testedSandbox } from "../settings/usable_sandbox.ts";

export async function run(invocation: Invocation): Promise<number> {
  const { environment, messages } = invocation;
  const [backend = ""] = invocation.arguments.positionals;
  const overrides = readOverrides(invocation.arguments);
  const loaded = await settingsOf(invocation.arguments, environment, null);
  if (!overrides.ok) return refuse(invocation, overrides.problem);
  if (!loaded.ok) return refuse(invocation, loaded.problem);
  const { settings } = loaded.value;
  const wanted = { ...settings, sandbox: { ...settings.sandbox, backend } };
  const tested = await testedSandbox(invocation, null, { ...loaded.value, settings: wanted });
  if (tested.problem !== null) return refuse(invocation, tested.problem);
  const written = await writeBackend({ environment, settings: overrides.value }, backend);
  if (!written.ok) return refuse(invocation, written.problem);
  const used = await tested.sandbox.backend();
  const coverage = used.ok ? success(await tested.sandbox.coverageOf(used.value)) : used;
  messages.say(`Wrote sandbox.backend: ${backend} to ${written.value}.`);
  const lines = coverage.ok ? coverage.value?.notCovered ?? [] : [];
  if (lines.length > 0) messages.say(["This sandbox does not cover:", ...lines].join("\n  "));
  return Exit.ok;
}
