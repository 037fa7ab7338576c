// Generated system prompts: `include("urn:flemma:personality:NAME")`.
//
// Their content must stay the same between requests, because a changed prefix costs money and invalidates thinking. So
// they contain no time, no branch and no file list, and the day is the day of the document's first request.

import { namedText } from "../attach.ts";
import type { PersonalityFacts } from "../types.ts";
import { type ImportRules, type ProjectFileReader, projectFiles } from "./project_files.ts";

export interface PersonalityPlace {
  /** Absolute path of the working folder of the tools. */
  readonly folder: string;
  /** Name of the document in that folder; null if unsaved. */
  readonly document: string | null;
  readonly readFile: ProjectFileReader;
  /** How imports in instruction files are treated. */
  readonly imports: ImportRules;
}

/** Opening and general guidelines of a personality, independent of the tools. */
interface Personality {
  readonly opening: string;
  readonly guidelines: readonly string[];
}

const PERSONALITIES: Readonly<Record<string, Personality>> = {
  "coding-assistant": {
    opening: "You are a coding assistant. You work on the user's own files with the tools available to you.",
    guidelines: [
      "Make the smallest change that fulfills the request, in the style of the file. Leave everything else unchanged.",
      "If a tool fails, read its message and change your approach; do not repeat the same call.",
      "If the request is ambiguous in a way that changes the work, ask. Otherwise decide, and say what you decided.",
      "Say plainly what you changed, what you verified and what remains. Refer to files by their paths.",
    ],
  },
};

/** Names that `include` accepts. */
export const PERSONALITY_NAMES: readonly string[] = Object.keys(PERSONALITIES);

export class GeneratedPrompts {
  #facts: PersonalityFacts = { tools: () => [], day: "" };
  readonly #texts = new Map<string, string>();

  /** Sets the facts to generate from. Call it before any output. */
  tell(facts: PersonalityFacts): void {
    this.#facts = facts;
    this.#texts.clear();
  }

  /** Day named in a generated text; null if none was generated. */
  get day(): string | null {
    return this.#texts.size === 0 || this.#facts.day === "" ? null : this.#facts.day;
  }

  /** Returns the text of a personality; null if the name is unknown. */
  text(name: string, place: PersonalityPlace): string | null {
    const personality = Object.hasOwn(PERSONALITIES, name) ? PERSONALITIES[name] : undefined;
    if (personality === undefined) return null;
    const known = this.#texts.get(name);
    if (known !== undefined) return known;
    const made = textOf(name, personality, this.#facts, place);
    this.#texts.set(name, made);
    return made;
  }
}

function textOf(
  name: string,
  { opening, guidelines }: Personality,
  facts: PersonalityFacts,
  place: PersonalityPlace,
): string {
  const tools = facts.tools(name);
  const lines = new Set([...tools.flatMap((tool) => tool.guidelines), ...guidelines]);
  return [
    opening,
    ...section("Available tools", tools.map((tool) => `${tool.name}: ${tool.snippet}`.replace(/: $/, ""))),
    ...section("Guidelines", [...lines]),
    ...section("Environment", [
      ...(facts.day === "" ? [] : [`Date: ${facts.day}`]),
      `Working directory: ${place.folder} (relative paths start here)`,
      ...(place.document === null ? [] : [`Conversation file: ${place.document}`]),
    ]),
    ...projectContext(place),
  ].join("\n\n");
}

function section(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`## ${title}\n\n${items.map((item) => `- ${item}`).join("\n")}`];
}

function projectContext({ folder, readFile, imports }: PersonalityPlace): string[] {
  const { files, leftOut } = projectFiles(folder, readFile, imports);
  if (files.length === 0 && leftOut.length === 0) return [];
  return [
    "## Project Context\n\nInstructions from the project, outermost folder first.",
    ...files.map(({ path, text }) => namedText(path, text)),
    ...(leftOut.length === 0
      ? []
      : [`Not included:\n\n${leftOut.map(({ path, why }) => `- ${path} ${why}`).join("\n")}`]),
  ];
}
