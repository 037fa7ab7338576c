// The Lua side of a document with this program's files around it: what is readable, what can be included, where prints go.

import type { Limits } from "../../config/cell/budget.ts";
import { LuaSession } from "../../config/cell/session.ts";
import type { Environment } from "../../config/environment.ts";

export interface SessionOptions {
  /** Absolute path of the document, or null when it is unsaved: paths then begin in `environment.cwd`. */
  readonly document: string | null;
  readonly environment: Environment;
  /** Default: the limits of frontmatter-config 3.8. */
  readonly limits?: Limits;
  /** Takes what `print` in the first block writes. Default: standard error. */
  readonly print?: (line: string) => void;
}

/**
 * The Lua session of one document in one run. It costs nothing until a Lua block or a template tag is run: hand `run` to
 * whoever evaluates the first block, and the session itself to `evaluate`.
 */
export function luaSession(options: SessionOptions): LuaSession {
  const { document, environment, limits, print = printToError } = options;
  const { cwd, home } = environment;
  return new LuaSession({
    filename: document,
    world: { cwd, home, isReadable },
    limits,
    print,
    loadInclude: async () => {
      const { includer } = await import("./include.ts");
      return includer({ cwd, home, readFile: (path) => Deno.readFileSync(path) });
    },
  });
}

function isReadable(path: string): boolean {
  try {
    using file = Deno.openSync(path, { read: true });
    return file.statSync().isFile;
  } catch {
    // Whatever stands in the way, the answer is that it cannot be read.
    return false;
  }
}

function printToError(line: string): void {
  const bytes = new TextEncoder().encode(`${line}\n`);
  for (let written = 0; written < bytes.length;) written += Deno.stderr.writeSync(bytes.subarray(written));
}
