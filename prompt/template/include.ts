// The Lua function `include`: inserts another file as template text or as an attachment.

import { callerOf, folderOfDocument, resolvePath } from "../../base/paths.ts";
import type { Cell, HostFunction, Raised } from "../../lua/vm/cell.ts";
import { TYPE, typeName } from "../../lua/vm/stack.ts";
import type { Engine } from "../../lua/engine.ts";
import type { LuaEnvironment } from "../../lua/library/library.ts";
import { IncludeFault, UndefinedName } from "../../lua/library/fault.ts";
import type { IncludeMaker } from "../../config/document/lua_session.ts";
import { nearest } from "../../base/names.ts";
import { thrownText } from "../../base/problem.ts";
import { decodeFile, partOf } from "../attach.ts";
import { type Emitted, emitValue, outputOf, print } from "./output.ts";
import { type GeneratedPrompts, PERSONALITY_NAMES } from "./personality.ts";
import type { ImportRules, ProjectFileReader } from "./project_files.ts";
import { readFileTemplate } from "./read.ts";
import { compileTags } from "./settle.ts";
import { trimTexts } from "./trim.ts";

export interface IncludeOptions {
  /** Absolute path of the base folder for paths of an unsaved document. */
  readonly cwd: string;
  /** Absolute path of the folder that the document's frontmatter names. @default the document's folder */
  readonly workFolder?: string;
  /** Absolute path of the document; null if unsaved. */
  readonly document: string | null;
  readonly generated: GeneratedPrompts;
  /** Absolute path of the home folder. */
  readonly home: string;
  readonly readFile: ProjectFileReader;
  /** How imports in instruction files are treated. */
  readonly imports: ImportRules;
}

const PERSONALITY = "urn:flemma:personality:";
/** Files are stored outside Lua's memory, so their size is charged as steps: 40 MB with the default limit. */
const BYTES_PER_STEP = 4;
const STEPS_PER_FILE = 1000;

export function includer(options: IncludeOptions): IncludeMaker {
  return (engine, filename) => {
    const stack = filename === null ? [] : [filename];
    return new Includes(engine, options).from(filename, stack);
  };
}

class Includes {
  readonly #engine: Engine;
  readonly #options: IncludeOptions;
  #chunks = 0;

  constructor(engine: Engine, options: IncludeOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  /** Creates the function for one file. `stack` lists the files being read, the innermost last. */
  from(filename: string | null, stack: readonly string[]): HostFunction {
    const folder = filename === null ? this.#options.cwd : folderOfDocument(filename);
    return (cell) => {
      if (cell.type(1) !== TYPE.string) {
        cell.raise(`include expects a file path, found ${typeName(cell.type(1))}`);
      }
      if (cell.type(2) > TYPE.nil && cell.type(2) !== TYPE.table) {
        cell.raise(`include expects a table of options, found ${typeName(cell.type(2))}`);
      }
      cell.setTop(2);
      const path = cell.text(1)!;
      if (path.startsWith(PERSONALITY)) return this.#personality(path.slice(PERSONALITY.length));
      const resolved = resolvePath(path || ".", { folder, home: this.#options.home });
      const { binary, mime } = this.#symbols();
      return binary ? this.#attach(path, resolved, mime) : this.#text(path, resolved, stack);
    };
  }

  #symbols(): { readonly binary: boolean; readonly mime: string | undefined } {
    const { cell, library } = this.#engine;
    if (cell.type(2) !== TYPE.table) return { binary: false, mime: undefined };
    cell.pushKept(library.symbols.binary);
    cell.rawGet(2);
    const binary = cell.boolean(-1);
    cell.pushKept(library.symbols.mime);
    cell.rawGet(2);
    const mime = cell.text(-1) ?? undefined;
    cell.pop(2);
    return { binary, mime };
  }

  #personality(name: string): number {
    const { cell } = this.#engine;
    if (!PERSONALITY_NAMES.includes(name)) {
      const near = nearest(name, PERSONALITY_NAMES);
      cell.raise(`there is no personality "${name}"${near === null ? "" : `; did you mean "${near}"?`}`);
    }
    // The text is generated on output, because the tools are not known yet while the frontmatter runs.
    return this.#value((inner) => {
      const { generated, cwd, workFolder, document, readFile, imports } = this.#options;
      inner.spend(STEPS_PER_FILE);
      const text = generated.text(name, {
        folder: workFolder ?? (document === null ? cwd : folderOfDocument(document)),
        // Helpers of one document share their system message, so that the provider caches it once.
        document: document === null || callerOf(document) !== null ? null : baseName(document),
        readFile,
        imports,
      });
      outputOf(inner).addText(inner, text ?? "");
    });
  }

  #attach(path: string, resolved: string, mime: string | undefined): number {
    const bytes = this.#read(resolved);
    const { part, flaw } = partOf(bytes, { filename: resolved, path, mime });
    if (flaw !== undefined) outputOf(this.#engine.cell).flawed.push({ path, flaw });
    return this.#result([{ kind: "part", part, path }]);
  }

  #text(path: string, resolved: string, stack: readonly string[]): number {
    const { cell } = this.#engine;
    if (stack.includes(resolved)) {
      const chain = [...stack.slice(stack.indexOf(resolved)), resolved].map(baseName).join(" → ");
      cell.raise(
        `"${path}" includes itself (${chain})`,
        new IncludeFault("include_circular", false),
      );
    }
    if (stack.length > cell.budget.limits.includes) cell.exceed("includes");
    const bytes = this.#readText(path, resolved);
    const environment = this.#environment(resolved, stack);
    let pieces: readonly Emitted[] = [];
    const raised = cell.enter(() => {
      pieces = outputOf(cell).gather(() => this.#run(bytes, path, environment));
      return 0;
    });
    if (raised !== null) this.#pass(raised, path);
    return this.#result(pieces);
  }

  #environment(resolved: string, stack: readonly string[]): LuaEnvironment {
    const { cell, library } = this.#engine;
    const environment = library.environment({
      filename: resolved,
      print,
      include: this.from(resolved, [...stack, resolved]),
    });
    if (cell.type(2) === TYPE.table) {
      cell.pushCopy(2);
      library.define(environment);
    }
    return environment;
  }

  #read(resolved: string): Uint8Array {
    const { cell } = this.#engine;
    let bytes: Uint8Array;
    try {
      bytes = this.#options.readFile(resolved);
    } catch (thrown) {
      return cell.raise(
        `the file ${resolved} cannot be read (${thrownText(thrown)})`,
        new IncludeFault("file_not_found", true),
      );
    }
    cell.spend(STEPS_PER_FILE + Math.ceil(bytes.length / BYTES_PER_STEP));
    return bytes;
  }

  /** Reads a file and returns its text as UTF-8. */
  #readText(path: string, resolved: string): Uint8Array {
    const { cell } = this.#engine;
    const bytes = this.#read(resolved);
    const { text, flaw } = decodeFile(bytes, resolved);
    if (flaw === undefined) return bytes;
    if (text === null) {
      return cell.raise(
        `the file ${resolved} contains NUL bytes, so it is not text`,
        new IncludeFault("file_not_utf8", false),
      );
    }
    outputOf(cell).flawed.push({ path, flaw });
    return new TextEncoder().encode(text);
  }

  /** Evaluates the text of a file as a template, until the first error. */
  #run(bytes: Uint8Array, path: string, environment: LuaEnvironment): void {
    const { cell, library } = this.#engine;
    const read = readFileTemplate(bytes);
    const { chunk, faults: [fault], segments } = compileTags(cell, {
      ...read,
      name: `include ${++this.#chunks}`,
    });
    if (chunk === null) {
      cell.raise(
        `line ${fault!.line} of the included file ${path} is not valid Lua: ${fault!.message}`,
        new IncludeFault("template_syntax", false),
      );
    }
    library.bind(environment);
    const kept = trimTexts(segments);
    cell.pushFunction((inner) => {
      const index = inner.number(1);
      const segment = segments[index];
      const range = kept[index];
      if (segment?.kind === "text" && range) {
        outputOf(inner).addText(inner, segment.value.slice(range.from, range.to));
      }
      return 0;
    });
    cell.pushFunction((inner) => {
      inner.setTop(2);
      inner.callFunction(0, 1);
      emitValue(inner, 2);
      return 0;
    });
    cell.callFunction(2, 0);
  }

  /** Raises the error of an included file again, in the file that includes it. */
  #pass({ message, detail, limit }: Raised, path: string): never {
    const { cell } = this.#engine;
    if (limit) {
      cell.pushNil();
      cell.raiseTop();
    }
    if (detail instanceof UndefinedName) {
      const { variable } = detail;
      cell.raise(
        `in the included file ${path}, ${message}; a file gets only the variables that are passed to it, for example ` +
          `include("${path}", { ${variable} = ${variable} })`,
        new IncludeFault("include_undefined_variable", false, variable),
      );
    }
    const code = detail instanceof IncludeFault ? detail.code : "template_runtime";
    return cell.raise(
      detail instanceof IncludeFault ? message : `in the included file ${path}: ${message}`,
      new IncludeFault(code, false, detail instanceof IncludeFault ? detail.variable : undefined),
    );
  }

  /** Pushes a value that outputs the pieces when an expression shows it. */
  #result(pieces: readonly Emitted[]): number {
    return this.#value((inner) => {
      for (const piece of pieces) {
        if (piece.kind === "text") outputOf(inner).addText(inner, piece.text);
        else outputOf(inner).add(inner, piece);
      }
    });
  }

  /** Pushes a value that calls `putOut` when an expression shows it. */
  #value(putOut: (inner: Cell) => void): number {
    const { cell } = this.#engine;
    cell.pushTable();
    cell.pushFunction((inner: Cell) => {
      putOut(inner);
      return 0;
    });
    cell.setMember(-2, "emit");
    return 1;
  }
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
