// What a skill is: a folder with instructions for the model, in the open Agent Skills format (long-work 2).

/** Something wrong with the text of a skill, and where. */
export interface SkillFinding {
  /** 1-based. */
  readonly line: number;
  /** 1-based. */
  readonly column: number;
  /** An error keeps the skill from being offered. */
  readonly severity: "error" | "warning";
  /** Stable name of the kind of mistake. */
  readonly code: string;
  /** One full sentence without a full stop at its end. */
  readonly message: string;
}

/** What the text of a sound `SKILL.md` says. */
export interface SkillText {
  /** What the model calls it. */
  readonly name: string;
  /** What it is good for and when to use it, on one line. */
  readonly description: string;
  /** Whether the model is told of it; its author may keep it for people. */
  readonly offered: boolean;
  /** The instructions: everything below the frontmatter. */
  readonly body: string;
  /** Line of the file with which the instructions begin, 1-based. */
  readonly bodyLine: number;
}

/** A text as it was read: without a skill where one of the findings is an error. */
export interface SkillReading {
  /** Null when something is wrong that keeps it from being used. */
  readonly skill: SkillText | null;
  /** The name it gives itself, as far as one can be read; for lists of what is broken. */
  readonly name: string | null;
  /** By place. */
  readonly findings: readonly SkillFinding[];
}

/** Name of the file that makes a folder a skill. */
export const SKILL_FILE = "SKILL.md";
