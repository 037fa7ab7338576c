// The Lua side of a document with this program's files around it: what is readable, what can be included, where prints go.

import type { Limits } from "../../lua/vm/budget.ts";
import { LuaSession } from "../../config/document/lua_session.ts";
import type { Environment } from "../../base/environment.ts";
import { type CheckFile, readCheckedSync } from "../../base/system/reading.ts";
import { attachObstacle } from "../attach.ts";
import { FileLog, type ReadPolicy } from "../file_log.ts";
import { GeneratedPrompts } from "./personality.ts";

export interface SessionOptions {
  /** Absolute path of the document, or null when it is unsaved: paths then begin in `environment.cwd`. */
  readonly document: string | null;
  readonly environment: Environment;
  /** @default the limits of the settings */
  readonly limits?: Limits;
  /** Takes what `print` in the first block writes, which is the document's text: make it safe before it is shown. */
  readonly print: (line: string) => void;
  /** Default: every file. */
  readonly isReadable?: ReadPolicy;
}

/** A Lua session that notes which files its includes read, and makes the prompts that come with the program. */
export type DocumentLua = LuaSession & { readonly files: FileLog; readonly generated: GeneratedPrompts };

/**
 * The Lua session of one document in one run. It costs nothing until a Lua block or a template tag is run: hand `run` to
 * whoever evaluates the first block, and the session itself to `evaluate`.
 */
export function luaSession(options: SessionOptions): DocumentLua {
  const { document, environment, limits, print } = options;
  const { cwd, home } = environment;
  const files = new FileLog(options.isReadable);
  const generated = new GeneratedPrompts();
  const session = new LuaSession({
    filename: document,
    world: { cwd, home, isReadable: (path) => files.refusal(path) === null && canBeOpened(path) },
    limits,
    print,
    loadInclude: async () => {
      const { includer } = await import("./include.ts");
      return includer({
        cwd,
        home,
        document,
        generated,
        readFile: (path, check) => readFile(path, files, check),
      });
    },
  });
  return Object.assign(session, { files, generated });
}

function readFile(path: string, files: FileLog, check: CheckFile = () => null): Uint8Array {
  // Devices and pipes may never end, and opening a pipe may already wait for ever.
  const bytes = files.refusal(path) ??
    readCheckedSync(path, (real, info) => check(real, info) ?? attachObstacle(real, info));
  if (typeof bytes === "string") throw new Error(bytes);
  files.note(path, bytes);
  return bytes;
}

function canBeOpened(path: string): boolean {
  try {
    if (attachObstacle(Deno.realPathSync(path), Deno.statSync(path)) !== null) return false;
    Deno.openSync(path, { read: true }).close();
    return true;
  } catch {
    // Whatever stands in the way, the answer is that it cannot be read.
    return false;
  }
}
