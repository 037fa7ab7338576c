// Tries every attack as whoever runs this, and prints one JSON object for each.

import type { RunSandbox } from "../../../sandbox/mod.ts";
import { ATTACKS } from "./list.ts";
import { attack, inScene, sandboxOf } from "./scene.ts";

/** Whether the person is told that a limit does not hold for this user here. Then a flood is not tried. */
async function isUnlimited(sandbox: RunSandbox): Promise<boolean> {
  const prepared = await sandbox.prepare(["true"]);
  if (prepared.ok) await prepared.value.dispose();
  return sandbox.notices().some(({ code }) => code === "processes-not-limited");
}

const only = Deno.args[0];
for (const each of ATTACKS) {
  if (only !== undefined && !`${each.group}: ${each.name}`.includes(only)) continue;
  const outcome = await inScene(async (scene) => {
    const sandbox = sandboxOf(scene, each.policy?.(scene));
    const answer = await sandbox.available();
    if (!answer.ok) return { held: false, detail: answer.problem.message };
    try {
      if (await isUnlimited(sandbox)) return { held: true, told: true, detail: "" };
      const first = await attack(sandbox, each.shell(scene));
      const ran = each.then === undefined ? first : await attack(sandbox, each.then(scene));
      return {
        held: !each.won(scene, ran),
        detail: only === undefined ? "" : `${ran.code}\n${ran.out}\n${ran.err}`,
      };
    } catch (thrown) {
      return { held: false, detail: String(thrown) };
    }
  });
  const line = JSON.stringify({ group: each.group, name: each.name, ...outcome });
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
