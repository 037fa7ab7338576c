// The environment in which a run starts, read once: working folder, home folder, variables.

import { failure, type Outcome } from "./problem.ts";

/** The environment in which a run starts. */
export interface Environment {
  /** Absolute working directory of the process. */
  readonly cwd: string;
  /** Home folder: HOME, else the one in the user database. */
  readonly home: string;
  /** All variables, unfiltered. */
  readonly variables: Readonly<Record<string, string>>;
  /**
   * Real path of the folder in which the document's tools work, if its frontmatter names one (`cwd`). flemma sets it.
   * @default the document's folder
   */
  readonly workFolder?: string;
  /**
   * Real path of the folder whose project applies, if `workFolder` is in a git worktree of that project. flemma sets it.
   * @default the folder in which the tools work
   */
  readonly projectFolder?: string;
}

/**
 * Reads the environment of this process.
 * @returns the environment
 * @throws HomeUnknown if the home folder cannot be determined; the runtime's error if the working folder was deleted or
 * its name is not UTF-8
 */
export function processEnvironment(): Environment {
  return environmentAt(Deno.cwd());
}

/** Returns the environment of this process with another working folder. */
export function environmentAt(cwd: string): Environment {
  const variables = Deno.env.toObject();
  return { cwd, home: homeOf(variables.HOME), variables };
}

/**
 * Error for a home folder that cannot be determined. Without it, settings, state and the paths to hide cannot be
 * found.
 */
export class HomeUnknown extends Error {
  constructor() {
    super(
      "Cannot find your home folder: HOME is not set, and the user database has no entry for you. Set HOME.",
    );
  }
}

/** Cached home folder of the user database. */
let inDatabase: string | undefined;

/** Determines the home folder. Cron, services and containers do not set HOME; a relative path in it is ignored. */
function homeOf(variable: string | undefined): string {
  if (variable?.startsWith("/")) return variable;
  inDatabase ??= homeIn(readOr("/etc/passwd"), Deno.uid()) ?? homeIn(askDatabase(), Deno.uid());
  if (inDatabase === undefined) throw new HomeUnknown();
  return inDatabase;
}

/** Returns the home folder from the sixth field of a user's line, `NAME:…:UID:GID:…:HOME:SHELL`. */
export function homeIn(database: string, uid: number | null): string | undefined {
  for (const line of database.split("\n")) {
    const [, , id, , , home] = line.split(":");
    if (uid !== null && id === String(uid) && home?.startsWith("/")) return home;
  }
}

/** Asks the user database, because `/etc/passwd` does not list the users of a directory service. */
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
    return ""; // getent is not installed.
  }
}

function readOr(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

/**
 * The environment of this process, read at each access. It serves objects that must notice later changes of the
 * environment.
 */
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
 * Fails in a runtime without the system functions that this program needs, such as a browser. Functions that
 * only read, change or evaluate text do not call it.
 * @param what the thing that needs the functions, as the beginning of a sentence
 */
export function systemFor(what: string): Outcome<null> {
  if (hasSystem()) return { ok: true, value: null };
  return failure(
    "runtime-unsupported",
    `${what} needs Deno or Node 22 for files, commands and requests.`,
    "Run this program with one of them. Reading documents, editing their text and conversationOf work in every runtime.",
  );
}

/** True if this runtime has files and processes. */
function hasSystem(): boolean {
  try {
    return Deno.pid > 0;
  } catch {
    return false;
  }
}
