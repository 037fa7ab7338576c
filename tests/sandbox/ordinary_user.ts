// Runs part of the tests as a user who owns nothing on this machine, which only the superuser can do.

import assert from "node:assert/strict";

/** The number of a user that owns nothing and has no name on most machines. */
const ORDINARY = "64123";

export const isSuperuser = Deno.uid() === 0;

/** Runs what follows as the ordinary user. */
export const BECOME: readonly string[] = [
  "setpriv",
  `--reuid=${ORDINARY}`,
  `--regid=${ORDINARY}`,
  "--clear-groups",
  "--",
];

/** Gives everything in a folder to the ordinary user. */
export function giveAway(folder: string): void {
  const args = ["-R", `${ORDINARY}:${ORDINARY}`, folder];
  assert.ok(new Deno.Command("chown", { args }).outputSync().success);
}

/** Runs Deno with these words, as whoever runs this or as the ordinary user, with all it needs in `folder`; what it prints. */
export async function runDeno(
  folder: string,
  words: readonly string[],
  { ordinary }: { readonly ordinary: boolean },
): Promise<string> {
  if (ordinary) giveAway(folder);
  const deno = ordinary ? reachableDeno(folder) : Deno.execPath();
  const [program = "", ...args] = [...(ordinary ? BECOME : []), deno, ...words];
  const command = new Deno.Command(program, {
    args,
    cwd: "/",
    clearEnv: true,
    env: {
      HOME: folder,
      DENO_DIR: `${folder}/deno`,
      PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
      NO_COLOR: "1",
    },
    stdin: "null",
  });
  for (;;) {
    const output = await command.output();
    const [printed, complaint] = [output.stdout, output.stderr].map((bytes) =>
      new TextDecoder().decode(bytes)
    );
    // A process that another test started meanwhile can hold the fresh copy of Deno open for a moment.
    if (!output.success && complaint!.includes("Text file busy")) continue;
    assert.ok(output.success, `${printed}${complaint}`);
    return printed!;
  }
}

/** A Deno that everybody may start: a copy in `folder` where a folder above the real one is closed to others. */
export function reachableDeno(folder: string): string {
  const path = Deno.realPathSync(Deno.execPath());
  const above = path.split("/").slice(1, -1).map((_, at, names) => `/${names.slice(0, at + 1).join("/")}`);
  if (above.every((place) => (Deno.statSync(place).mode! & 0o001) !== 0)) return path;
  // flemma knows Deno by its name.
  const copy = `${folder}/for-all/deno`;
  Deno.mkdirSync(`${folder}/for-all`, { recursive: true });
  Deno.copyFileSync(path, copy);
  Deno.chmodSync(copy, 0o755);
  return copy;
}

/**
 * Has the tests of these files run by the ordinary user, of which each has to pass; what is printed about them, a line each, as
 * TAP: in the usual form a test that takes longer than a minute has several.
 */
export async function testAsOrdinaryUser(folder: string, files: readonly string[]): Promise<string> {
  const words = ["test", "-A", "--no-check", "--no-lock", "--reporter=tap", ...files];
  return await runDeno(folder, words, { ordinary: true });
}
