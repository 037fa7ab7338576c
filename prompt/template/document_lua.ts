// The Lua session of a document, connected to the file system: readable files, includes and printing.

import type { LuaLimits } from "../../lua/vm/budget.ts";
import { LuaSession } from "../../config/document/lua_session.ts";
import type { Environment } from "../../base/environment.ts";
import { type CheckFile, readCheckedSync } from "../../base/system/reading.ts";
import { openRegularSync } from "../../base/system/regular_file.ts";
import { folderOfDocument } from "../../base/paths.ts";
import { attachObstacle } from "../attach.ts";
import { FileLog, type ReadPolicy } from "../file_log.ts";
import type { ImportRules } from "./project_files.ts";
import { GeneratedPrompts } from "./personality.ts";

export interface SessionOptions {
  /**
   * Absolute path of the document. It is null for an unsaved document, whose paths are relative to `environment.cwd`.
   */
  readonly document: string | null;
  readonly environment: Environment;
  /** Limits of the session. @default the limits of the settings */
  readonly limits?: LuaLimits;
  /** Receives `print` output of the frontmatter. It is untrusted text: escape it before display. */
  readonly print: (line: string) => void;
  /** True if the document may read a file. @default every file */
  readonly isReadable?: ReadPolicy;
  /** How imports in instruction files are treated. @default no file is imported */
  readonly imports?: Pick<ImportRules, "from" | "isSecret">;
}

/** A Lua session that records the files read by includes, and generates system prompts. */
export type DocumentLua = LuaSession & { readonly files: FileLog; readonly generated: GeneratedPrompts };

/**
 * Creates the Lua session of one document for one run. The engine loads only when a Lua block or template tag runs:
 * pass `run` to the evaluation of the frontmatter, and the session itself to `evaluateChat`.
 */
export function luaSession(options: SessionOptions): DocumentLua {
  const { document, environment, limits, print, imports = NO_IMPORTS } = options;
  const { cwd, home, workFolder } = environment;
  const files = new FileLog(options.isReadable);
  const generated = new GeneratedPrompts();
  const session = new LuaSession({
    filename: document,
    world: { cwd, home, isReadable: (path) => files.refusal(path) === null && canBeOpened(path) },
    limits,
    print,
    loadInclude: async () => {
      const [{ includer }, { importRules }] = await Promise.all([
        import("./include.ts"),
        import("./project_files.ts"),
      ]);
      const folder = workFolder ?? (document === null ? cwd : folderOfDocument(document));
      return includer({
        cwd,
        workFolder,
        home,
        document,
        generated,
        readFile: (path, check) => readFile(path, files, check),
        imports: await importRules(folder, { ...imports, home }),
      });
    },
  });
  return Object.assign(session, { files, generated });
}

const NO_IMPORTS: NonNullable<SessionOptions["imports"]> = { from: "off", isSecret: () => false };

function readFile(path: string, files: FileLog, check: CheckFile = () => null): Uint8Array {
  // Reading a device or pipe may never end, and even opening a pipe may block forever.
  const bytes = files.refusal(path) ??
    readCheckedSync(path, (real, info) => check(real, info) ?? attachObstacle(real, info));
  if (typeof bytes === "string") throw new Error(bytes);
  files.note(path, bytes);
  return bytes;
}

function canBeOpened(path: string): boolean {
  try {
    if (attachObstacle(Deno.realPathSync(path), Deno.statSync(path)) !== null) return false;
    openRegularSync(path).file.close();
    return true;
  } catch {
    // Any error means that the file cannot be read.
    return false;
  }
}
