// The world a run starts in, read once: directory, home, variables. Everything below gets it as a value.

import { failure, type Outcome } from "./problem.ts";

/** The world a run starts in. */
export interface Environment {
  /** Absolute working directory of the process. */
  readonly cwd: string;
  /** Home folder: the variable's, else the one in the user database. */
  readonly home: string;
  /** All variables, unfiltered. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Reads the environment of this process. Throws a `HomeUnknown` when nobody says where home is, and something else when the
 * working folder was deleted or has a name that is not UTF-8.
 */
export function processEnvironment(): Environment {
  return environmentAt(Deno.cwd());
}

/** The environment of this process as if it stood in another folder. */
export function environmentAt(cwd: string): Environment {
  const variables = Deno.env.toObject();
  return { cwd, home: homeOf(variables.HOME), variables };
}

/** Nobody says where the home folder is; without it settings, state and what is to be hidden cannot be found. */
export class HomeUnknown extends Error {
  /** The sentence for a person. */
  constructor() {
    super(
      "Your home folder is not known: HOME is not set, and the user database has no entry for you. Set HOME.",
    );
  }
}

/** The home folder in the user database, once it was asked for. */
let inDatabase: string | undefined;

/** Cron, services and containers leave the variable out; a folder that is not absolute is none. */
function homeOf(variable: string | undefined): string {
  if (variable?.startsWith("/")) return variable;
  inDatabase ??= homeIn(readOr("/etc/passwd"), Deno.uid()) ?? homeIn(askDatabase(), Deno.uid());
  if (inDatabase === undefined) throw new HomeUnknown();
  return inDatabase;
}

/** The sixth field of the line for a user, `NAME:…:UID:GID:…:HOME:SHELL`. */
export function homeIn(database: string, uid: number | null): string | undefined {
  for (const line of database.split("\n")) {
    const [, , id, , , home] = line.split(":");
    if (uid !== null && id === String(uid) && home?.startsWith("/")) return home;
  }
}

/** Users of a directory service stand in no file. */
function askDatabase(): string {
  try {
    const { stdout } = new Deno.Command("getent", {
      args: ["passwd", String(Deno.uid())],
      stdin: "null",
      stderr: "null",
    })
      .outputSync();
    return new TextDecoder().decode(stdout);
  } catch {
    return ""; // There is no such program here.
  }
}

function readOr(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

/** The environment of this process, read each time it is looked at: for objects that outlive a change of it. */
export const liveEnvironment: Environment = {
  get cwd() {
    return Deno.cwd();
  },
  get home() {
    return homeOf(Deno.env.get("HOME"));
  },
  get variables() {
    return Deno.env.toObject();
  },
};

/**
 * Fails in a runtime that has no system for this program, for instance Node or a browser. What only reads, changes or
 * evaluates a text does not ask.
 *
 * @param what what needs it, as the beginning of a sentence
 */
export function systemFor(what: string): Outcome<null> {
  if ("Deno" in globalThis) return { ok: true, value: null };
  return failure(
    "runtime-unsupported",
    `${what} needs Deno, because files, commands and requests are there only.`,
    "Run this program with Deno. Reading documents, changing their text and conversationOf work in every runtime.",
  );
}
