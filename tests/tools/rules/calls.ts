// Documents with calls under settings of a person, a project and frontmatter, and the decisions about the calls.

import assert from "node:assert/strict";
import { chatInMemory, type ChatSession } from "../../../agent/mod.ts";
import { recordTrust } from "../../../config/sources/trust.ts";
import { inWorld, type World } from "../../config/world.ts";

export const FENCE = "```";

/** A document with one call a line of `calls`: `TOOL JSON`, and a first block before them. */
function documentOf(calls: readonly string[], block = ""): string {
  const written = calls.map((call, at) => {
    const space = call.indexOf(" ");
    return `**Tool Use:** \`${call.slice(0, space)}\` (\`c${at + 1}\`)\n\n${FENCE}json\n${
      call.slice(space + 1)
    }\n${FENCE}\n`;
  });
  return `${block}@You:\nGo.\n\n@Assistant:\n${written.join("\n")}`;
}

export interface Asked {
  /** The user's settings below `tools`, as YAML on one line. */
  readonly settings?: string;
  readonly project?: string;
  readonly trusted?: boolean;
  readonly block?: string;
  readonly approve?: readonly string[];
  /** Whether the sandbox is on. @default false */
  readonly sandbox?: boolean;
  /** The document's folder below the project. @default the project */
  readonly folder?: string;
  /** Environment variables, in addition to the usual ones. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** A call of bash. */
export const bash = (command: string) => `bash ${JSON.stringify({ command })}`;

/** A first block in JSON with these settings below `tools`. */
export const jsonBlock = (tools: Readonly<Record<string, unknown>>) =>
  `${FENCE}json\n${JSON.stringify({ flemma: { tools } })}\n${FENCE}\n\n`;

/** Opens a document with these calls. */
export async function open(world: World, calls: readonly string[], asked: Asked): Promise<ChatSession> {
  const tools = asked.settings ?? "{}";
  await world.write(
    `${world.home}/.config/flemma/config.yaml`,
    `tools: ${tools}\nsandbox: ${asked.sandbox ?? false}\n`,
  );
  if (asked.project !== undefined) {
    const path = `${world.project}/.flemma/config.yaml`;
    await world.write(path, `tools: ${asked.project}\n`);
    const text = await Deno.readTextFile(path);
    if (asked.trusted) await recordTrust(world.environment(), path, text, {}, new Date());
  }
  const environment = world.environment();
  const folder = asked.folder === undefined ? world.project : `${world.project}/${asked.folder}`;
  await Deno.mkdir(folder, { recursive: true });
  const opened = await chatInMemory(new TextEncoder().encode(documentOf(calls, asked.block)), {
    environment: { ...environment, variables: { ...environment.variables, ...asked.variables } },
    path: `${folder}/talk.chat`,
    settings: { approve: asked.approve },
  });
  if (!opened.ok) throw new Error(opened.problem.message);
  return opened.value;
}

/** Checks what becomes of each call, and who says so: `approve by approve-rules`. */
export async function decideEach(
  asked: Asked,
  rows: readonly (readonly [call: string, decision: string])[],
): Promise<void> {
  const found: string[] = [];
  await inWorld(async (world) => {
    await using session = await open(world, rows.map(([call]) => call), asked);
    assert.deepEqual(session.blockers, []);
    for (const { decided: { decision, source } } of await session.calls()) {
      found.push(`${decision} by ${source.replace("urn:flemma:approval:", "")}`);
    }
  });
  const named = (decided: readonly string[]) => rows.map(([call], at) => `${call}: ${decided[at]}`);
  assert.deepEqual(named(found), named(rows.map(([, decision]) => decision)), JSON.stringify(asked));
}
