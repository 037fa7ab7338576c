// Types of a skill: a folder with instructions for the model, in the open Agent Skills format.

/** A mistake in the text of a skill, and its position. */
export interface SkillFinding {
  /** Line, 1-based. */
  readonly line: number;
  /** Column, 1-based. */
  readonly column: number;
  /** An error keeps the skill from being offered. */
  readonly severity: "error" | "warning";
  /** Stable name of the kind of mistake. */
  readonly code: string;
  /** One full sentence without a full stop. */
  readonly message: string;
}

/** Content of a valid `SKILL.md`. */
export interface SkillText {
  /** Name by which the model loads it. */
  readonly name: string;
  /** Purpose and when to use it, on one line. */
  readonly description: string;
  /** True if the model sees it; its author may hide it from models. */
  readonly offered: boolean;
  /** The instructions: everything below the frontmatter. */
  readonly body: string;
  /** First line of the instructions in the file, 1-based. */
  readonly bodyLine: number;
}

/** Result of reading a text; without a skill if one of the findings is an error. */
export interface SkillReading {
  /** The skill; null if an error keeps it from being used. */
  readonly skill: SkillText | null;
  /** The name that the skill declares, as far as it can be read; for lists of broken skills. */
  readonly name: string | null;
  /** Findings, sorted by position. */
  readonly findings: readonly SkillFinding[];
}

/** Name of the file that makes a folder a skill. */
export const SKILL_FILE = "SKILL.md";
