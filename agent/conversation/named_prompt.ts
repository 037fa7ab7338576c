// Named prompts: documents in `prompts/` of the person's or the project's settings, which `flemma ask` starts from.

import type { Environment } from "../../base/environment.ts";
import { configFolder } from "../../base/folders.ts";
import { isThere, readOrNull } from "../../base/files.ts";
import { isObject } from "../../base/is_object.ts";
import { nearest } from "../../base/names.ts";
import { parentOf } from "../../base/paths.ts";
import { asSentence, failure, type Outcome, success } from "../../base/problem.ts";
import { operands } from "../../base/shell_word.ts";
import { BUILTIN_NAMES } from "../../config/document/reserved.ts";
import { parseJson } from "../../config/sources/json.ts";
import { isTrusted, recordTrust } from "../../config/sources/trust.ts";
import { parse } from "../../parser/mod.ts";
import type { Frontmatter } from "../../parser/types.ts";
import type { Trustable } from "../extensions/trustable.ts";

export interface NamedPrompt {
  readonly name: string;
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const FOLDER = ".flemma/prompts";

/**
 * Finds a prompt by its name: the person's own, else the project's. Fails with `usage`, also if the project's prompt is
 * not trusted in its current version.
 */
export async function findPrompt(environment: Environment, name: string): Promise<Outcome<NamedPrompt>> {
  if (!/^\w[\w.-]*$/.test(name)) {
    return failure("usage", `${name} is not the name of a prompt: use letters, digits, - and _.`);
  }
  const own = `${configFolder(environment)}/prompts`;
  const project = projectPrompts(environment);
  for (const folder of [own, project]) {
    if (folder === null) continue;
    const path = `${folder}/${name}.chat`;
    const bytes = await readOrNull(path);
    if (bytes === null) continue;
    if (folder === own) return success({ name, path, bytes: Uint8Array.from(bytes) });
    const real = await Deno.realPath(path);
    const trusted = await isTrusted(environment, real, new TextDecoder().decode(bytes));
    if (!trusted.ok) return trusted;
    return trusted.value ? success({ name, path, bytes: Uint8Array.from(bytes) }) : failure(
      "usage",
      `The prompt ${name} of this project is not trusted in its current version.`,
      `Read it, then: flemma trust ${operands(path)}`,
    );
  }
  const names = [own, ...(project === null ? [] : [project])].flatMap(namesIn);
  const near = nearest(name, names);
  return failure(
    "usage",
    asSentence(`There is no prompt ${name}${near === null ? "" : `; did you mean ${near}?`}`),
    names.length === 0
      ? `Create it: mkdir -p ${operands(own)} && flemma new ${
        operands(`${own}/${name}.chat`)
      } -m "YOUR INSTRUCTIONS"`
      : `The prompts are: ${[...new Set(names)].sort().join(", ")}`,
  );
}

/** Finds the first `.flemma/prompts` upwards to the home folder or a repository root, whichever comes first. */
function projectPrompts({ cwd, home }: Environment): string | null {
  for (let at = cwd.replace(/\/+$/, "");; at = at.slice(0, at.lastIndexOf("/"))) {
    if (isThere(`${at}/${FOLDER}`)) return `${at}/${FOLDER}`;
    if (at === "" || at === home.replace(/\/+$/, "") || isThere(`${at}/.git`)) return null;
  }
}

function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].flatMap(({ name }) => /^(\w[\w.-]*)\.chat$/.exec(name)?.[1] ?? []);
  } catch {
    return []; // A folder that cannot be listed offers no names to suggest.
  }
}

/** Returns what a person agrees to at the path of a project's prompt; null for any other path. */
export function trustablePrompt(environment: Environment, path: string): Trustable | null {
  if (!parentOf(path).endsWith(`/${FOLDER}`) || !path.endsWith(".chat")) return null;
  const read = () => Deno.readTextFile(path);
  return {
    path,
    lines: [],
    nothing: "is a prompt of the project: flemma ask sends its text, with the settings in it",
    isAgreed: async () => await isTrusted(environment, path, await read()),
    agree: async () => {
      const recorded = await recordTrust(environment, path, await read(), {}, new Date());
      return recorded.ok ? success([]) : recorded;
    },
    agreed: "The prompt is trusted in its current version, until it changes.",
  };
}

/** Values of `-v NAME=VALUE`. */
export type PromptValues = ReadonlyMap<string, string>;

/** Reads `NAME=VALUE` words. Fails with `usage`. */
export function readPromptValues(words: readonly string[]): Outcome<PromptValues> {
  const values = new Map<string, string>();
  for (const word of words) {
    const [, name = "", value = ""] = /^([A-Za-z_]\w*)=([^]*)$/.exec(word) ?? [];
    if (name === "") return failure("usage", `-v needs NAME=VALUE, not ${word}.`);
    if (BUILTIN_NAMES.has(name)) return failure("usage", `-v ${name}: templates have a built-in ${name}.`);
    values.set(name, value);
  }
  return success(values);
}

/** Returns the text of a new document: the prompt with settings and variables added to its frontmatter. */
export async function fillPrompt(
  { name, bytes }: NamedPrompt,
  values: PromptValues,
  settings: Readonly<Record<string, unknown>>,
): Promise<Outcome<Uint8Array<ArrayBuffer>>> {
  const text = new TextDecoder().decode(bytes);
  const unused = [...values.keys()].find((each) => !new RegExp(`\\b${each}\\b`).test(text));
  if (unused !== undefined) {
    return failure("usage", `The prompt ${name} does not use the variable ${unused}.`);
  }
  const { frontmatter } = parse(bytes);
  const block = await blockWith(frontmatter, values, settings);
  if (!block.ok) return failure("usage", `The frontmatter of the prompt ${name} ${block.problem.message}`);
  const rest = new TextDecoder().decode(bytes.subarray(frontmatter?.to ?? 0)).replace(/^\n+/, "");
  return success(new TextEncoder().encode(`${block.value}\n${rest}`));
}

async function blockWith(
  frontmatter: Frontmatter | null,
  values: PromptValues,
  settings: Readonly<Record<string, unknown>>,
): Promise<Outcome<string>> {
  const language = frontmatter?.language.toLowerCase() ?? "json";
  if (frontmatter !== null && language === "lua") {
    const quoted = (value: unknown) => JSON.stringify(value).replaceAll("\\/", "/");
    const before = [...values].map(([name, value]) => `${name} = ${luaText(value)}\n`).join("");
    const after = Object.entries(settings).map(([key, value]) => `flemma.opt.${key} = ${quoted(value)}\n`)
      .join("");
    return success(`\`\`\`lua\n${before}${frontmatter.code.replace(/\n?$/, "\n")}${after}\`\`\`\n`);
  }
  const { parseSource } = await import("../../config/sources/yaml.ts");
  const tree = frontmatter === null
    ? success({ value: null })
    : language === "json"
    ? parseJson(frontmatter.code)
    : await parseSource(frontmatter.code);
  const value = tree.ok ? tree.value.value ?? {} : null;
  if (!isObject(value)) return failure("usage", "cannot be read. Check the prompt with flemma check.");
  const { flemma = {} } = value;
  const merged = {
    ...value,
    ...Object.fromEntries(values),
    flemma: { ...isObject(flemma) ? flemma : {}, ...settings },
  };
  return success(`\`\`\`json\n${JSON.stringify(merged, null, 2)}\n\`\`\`\n`);
}

/** Quotes a text for Lua, with every byte that could end the text or the block as a number. */
function luaText(text: string): string {
  const bytes = [...new TextEncoder().encode(text)].map((byte) =>
    /[\w .,:;/-]/.test(String.fromCharCode(byte))
      ? String.fromCharCode(byte)
      : `\\${String(byte).padStart(3, "0")}`
  );
  return `"${bytes.join("")}"`;
}

/** Returns the variables that tags of the form `{{ name }}` need and that nobody sets. */
export function missingVariables(
  bytes: Uint8Array,
  variables: Readonly<Record<string, unknown>>,
): readonly string[] {
  const tags = new TextDecoder().decode(bytes).matchAll(/\{\{-?\s*([A-Za-z_]\w*)\s*-?\}\}/g);
  const names = new Set([...tags].map(([, name = ""]) => name));
  return [...names].filter((name) => !Object.hasOwn(variables, name) && !BUILTIN_NAMES.has(name));
}
