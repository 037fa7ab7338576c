// What the attacks of documents share: how one is described, and what a document or a command does in them.

import assert from "node:assert/strict";
import { callsDocument, type Scene, testWithScene as test } from "../cli/harness.ts";

export const ASKING = "tools: { auto_approve_sandboxed: false }\ntrust: { approvals: here }\n";

/** One attack. It won if `won` is true after `act`. */
export interface Attack {
  readonly name: string;
  /** @default ASKING */
  readonly settings?: string;
  readonly act: (place: Scene) => Promise<unknown>;
  /** @default whether a file `PWNED` is in the project or the home folder */
  readonly won?: (place: Scene) => boolean | Promise<boolean>;
}

export const call = (id: string, command: string, status?: string) =>
  callsDocument([{ id, command, status }]);

/** A document that calls a tool other than bash. */
export function calling(tool: string, input: unknown, status: string, frontmatter = ""): string {
  return `${frontmatter}@You:\nGo.\n\n@Assistant:\n**Tool Use:** \`${tool}\` (\`c1\`)\n\n\`\`\`json\n${
    JSON.stringify(input)
  }\n\`\`\`\n\n@You:\n\n**Tool Result:** \`c1\`\n\n\`\`\`flemma:tool status=${status}\n\`\`\`\n`;
}

const isThere = (path: string) => {
  try {
    return Deno.lstatSync(path) !== null;
  } catch {
    return false;
  }
};

const isPwned = (place: Scene) => place.exists("PWNED") || isThere(`${place.folder}/home/PWNED`);

/** The command that wins. */
export const touch = (place: Scene) => `touch ${place.path("PWNED")}`;

export const advance = (place: Scene, ...words: readonly string[]) =>
  place.run(["advance", "--no-autopilot", ...words]);

export function put(place: Scene, name: string, text: string): void {
  const path = place.path(name);
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  Deno.writeTextFileSync(path, text);
}

/** The request that would be sent. */
export async function request(place: Scene, file = "a.chat"): Promise<string> {
  return (await place.run(["advance", file, "--no-tools", "--dry-run"], {
    env: { ANTHROPIC_API_KEY: "k-1" },
  }))
    .stdout;
}

export const frontmatter = (yaml: string, text: string) =>
  `\`\`\`yaml\nflemma:\n${yaml.replaceAll(/^/gm, "  ")}\n\`\`\`\n\n${text}`;

/** Defines a test for each attack: it must not win. */
export function mustHold(attacks: readonly Attack[]): void {
  for (const { name, settings = ASKING, act, won = isPwned } of attacks) {
    test(`held: ${name}`, async (place) => {
      place.settings(settings);
      await act(place);
      assert.equal(await won(place), false);
    });
  }
}
