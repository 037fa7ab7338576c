// Tries every attack as the current user and prints one JSON object for each. Arguments: the backend, and part of a name.

import type { RunSandbox } from "../../../sandbox/mod.ts";
import { ATTACKS } from "./list.ts";
import { asPerson, attack, callTool, inScene, type Ran, sandboxOf, type Scene } from "./scene.ts";
import { type Attack, there } from "./types.ts";

/** Whether the person is told that a limit does not hold for this user here. Then a flood is not tried. */
async function isUnlimited(sandbox: RunSandbox): Promise<boolean> {
  const prepared = await sandbox.prepare(["true"]);
  if (prepared.ok) await prepared.value.dispose();
  return sandbox.notices().some(({ code }) => code === "processes-not-limited");
}

const [backend = "bwrap"] = Deno.args;

function makeSandbox(each: Attack, scene: Scene): RunSandbox {
  return sandboxOf(scene, each.policy?.(scene), each.variables?.(scene), each.backend ?? backend);
}

/** Resolves when the command has made the file `started`, or is over. */
async function started({ project }: Scene, command: Promise<unknown>): Promise<void> {
  let over = false;
  const end = () => over = true;
  command.then(end, end);
  while (!over && !there(`${project}/started`)) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Carries out the parts of an attack in their order; the output of the last part, or of all calls. */
async function carryOut(each: Attack, scene: Scene, sandbox: RunSandbox): Promise<Ran> {
  let ran: Ran = { out: "", err: "", code: 0 };
  const call = async (calls: Attack["calls"]) => {
    for (const one of calls?.(scene) ?? []) {
      const { out, err, code } = await callTool(sandbox, scene, one);
      ran = { out: `${ran.out}${out}\n`, err: `${ran.err}${err}\n`, code };
    }
  };
  if (each.shell !== undefined) {
    const command = attack(sandbox, each.shell(scene));
    if (each.beside !== undefined) {
      await Promise.all([command, started(scene, command).then(() => call(each.beside))]);
    } else ran = await command;
  }
  if (each.then !== undefined) ran = await attack(sandbox, each.then(scene));
  if (each.nextRun !== undefined) ran = await attack(makeSandbox(each, scene), each.nextRun(scene));
  if (each.calls !== undefined) await call(each.calls);
  if (each.person !== undefined) ran = asPerson(scene, each.person(scene));
  return ran;
}

const only = Deno.args[1];
for (const each of ATTACKS) {
  if (only !== undefined && !`${each.group}: ${each.name}`.includes(only)) continue;
  const outcome = await inScene(async (scene) => {
    each.plant?.(scene);
    const sandbox = makeSandbox(each, scene);
    let answer = await sandbox.available();
    // A set-up can fail because of what other programs do at the moment, such as removing their sockets.
    for (let tries = 0; tries < 5 && !answer.ok && answer.problem.code === "backend-setup"; tries++) {
      answer = await sandbox.available();
    }
    if (!answer.ok && answer.problem.message.startsWith("Landlock cannot ")) {
      return { retained: true, refused: true, detail: answer.problem.message };
    }
    if (!answer.ok) return { retained: false, detail: answer.problem.message };
    try {
      if (await isUnlimited(sandbox)) return { retained: true, reported: true, detail: "" };
      const ran = await carryOut(each, scene, sandbox);
      const retained = !each.won(scene, ran);
      return {
        retained,
        repaired: sandbox.takeRepaired().length > 0,
        detail: only === undefined && retained ? "" : `${ran.code}\n${ran.out}\n${ran.err}`,
      };
    } catch (thrown) {
      const detail = String(thrown);
      const refused = detail.includes("Landlock cannot ");
      return { retained: refused, refused, detail };
    }
  });
  const line = JSON.stringify({ group: each.group, name: each.name, ...outcome });
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
