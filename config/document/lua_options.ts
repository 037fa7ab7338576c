// `flemma.opt`: Lua tables that represent the settings tree, to read all layers and write the document's own.

import { isObject } from "../../base/is_object.ts";
import type { LayerDraft, Op, SettingFault, SettingKind } from "../types.ts";
import type { Cell, HostFunction } from "../../lua/vm/cell.ts";
import { TYPE, typeName } from "../../lua/vm/stack.ts";
import type { Library } from "../../lua/library/library.ts";
import { settingsWord } from "../schema/words.ts";
import { keepFunction, pushValue, toValue } from "../../lua/vm/values.ts";

export class SettingsFaults {
  constructor(readonly faults: readonly SettingFault[]) {}
}

const METHODS: Readonly<Record<string, Op>> = {
  append: "append",
  prepend: "prepend",
  remove: "remove",
  set: "set",
};
const OPERATORS: Readonly<Record<string, Op>> = { __add: "append", __sub: "remove", __pow: "prepend" };
/** Number passed to Lua functions as the buffer number, because a document has no editor buffer. */
const BUFFER_NUMBER = 1;

/** Creates the tables for one document. Use it inside `cell.enter`. */
export class Options {
  readonly #cell: Cell;
  readonly #draft: LayerDraft;
  readonly #paths: (readonly string[])[] = [];
  /** Index of each path, so that a loop over the same settings adds no new paths. */
  readonly #numbers = new Map<string, number>();
  readonly #mark: number;
  /** Registry slot of the `flemma` table given to the block. */
  #flemma = 0;
  readonly #metatable: number;
  readonly #methods: Readonly<Record<string, number>>;

  constructor(cell: Cell, library: Library, draft: LayerDraft) {
    this.#cell = cell;
    this.#draft = draft;
    cell.pushTable();
    // Lua code never gets this key, so it can neither read nor replace the value stored under it.
    this.#mark = cell.keep();
    this.#methods = Object.fromEntries(
      Object.entries(METHODS).map(([name, op]) => {
        cell.pushFunction(() => this.#callMethod(name, op));
        return [name, cell.keep()];
      }),
    );
    this.#metatable = this.#makeMetatable();
    this.#explainFunctions();
    library.settingsValue = (inner, index) => {
      const path = this.#pathAt(index);
      if (path === null) return false;
      if (this.#kind(path) !== "record") {
        this.#refuse(
          path,
          `"${["flemma.opt", ...path].join(".")}" cannot be stored in a variable of the document`,
        );
      }
      pushValue(inner, this.#read(path));
      return true;
    };
  }

  /**
   * Pushes the `flemma` table. Its only member is `opt`; writing any other member raises an error, because it would
   * look like a setting but have no effect.
   */
  pushFlemma(): void {
    const cell = this.#cell;
    this.#pushProxy([]);
    const opt = cell.keep();
    cell.pushTable();
    cell.pushTable();
    cell.pushFunction((inner) => {
      const name = inner.text(2);
      if (name === "opt") inner.pushKept(opt);
      else if (name !== null && settingsWord(name) !== null) this.#notAMember(name);
      else inner.pushNil();
      return 1;
    });
    cell.setMember(-2, "__index");
    cell.pushFunction((inner) => this.#notAMember(inner.text(2) ?? "?"));
    cell.setMember(-2, "__newindex");
    cell.setMetatable(-2);
    cell.pushCopy(-1);
    this.#flemma = cell.keep();
  }

  /** Stops the block if it replaced `flemma`, because writes to another table have no effect. */
  checkFlemma(environment: number): void {
    const cell = this.#cell;
    cell.pushKept(environment);
    cell.pushMember(-1, "flemma");
    cell.pushKept(this.#flemma);
    const isKept = cell.same(-1, -2);
    cell.pop(3);
    if (!isKept) {
      this.#withoutEffect(
        "flemma",
        '"flemma" was replaced in this block, and writing to another table changes no setting',
      );
    }
  }

  /** Stops the block if it returned settings, which have no effect; pops the returned value. */
  checkReturned(): void {
    const cell = this.#cell;
    if (cell.type(-1) === TYPE.table && this.#pathAt(-1) === null) {
      cell.pushNil();
      while (cell.next(-2)) {
        cell.pop(1);
        // Only text keys are read, because reading a number as text would change the key during iteration.
        const name = cell.type(-1) === TYPE.string ? cell.text(-1) : null;
        if (name !== null && settingsWord(name)?.sure) {
          this.#withoutEffect(name, `the block returns "${name}", but returned values change no setting`);
        }
      }
    }
    cell.pop(1);
  }

  #notAMember(name: string): never {
    if (name === "opt") {
      return this.#withoutEffect(
        "flemma.opt",
        '"flemma.opt" cannot be replaced; set its members one by one',
      );
    }
    return this.#withoutEffect(
      `flemma.${name}`,
      `"flemma" has no member "${name}", so this changes no setting`,
      `flemma.opt.${settingsWord(name)?.path || name}`,
    );
  }

  #withoutEffect(key: string, message: string, suggestion = "flemma.opt.NAME"): never {
    const fullMessage = `${message}: write ${suggestion} = …`;
    return this.#raise([{
      code: "config_without_effect",
      severity: "error",
      key,
      message: fullMessage,
      suggestion,
    }]);
  }

  #makeMetatable(): number {
    const cell = this.#cell;
    cell.pushTable();
    const table = cell.top();
    const add = (name: string, run: HostFunction) => {
      cell.pushFunction(run);
      cell.setMember(table, name);
    };
    add("__index", () => this.#index());
    add("__newindex", () => this.#assign());
    for (const [name, op] of Object.entries(OPERATORS)) add(name, () => this.#operate(op));
    add("__len", () => this.#noContents());
    add("__pairs", () => this.#noContents());
    add("__tostring", (inner) => {
      inner.pushText(["flemma.opt", ...this.#pathAt(1) ?? []].join("."));
      return 1;
    });
    return cell.keep();
  }

  /**
   * Gives an error about settings if code adds to a list that a function has replaced, instead of "attempt to index a
   * function value". All functions of a Lua state share this metatable.
   */
  #explainFunctions(): void {
    const cell = this.#cell;
    const refuse = (): never =>
      this.#raise([{
        code: "config_not_a_list",
        severity: "error",
        key: "tools.auto_approve",
        message: "this is a function; you cannot add or remove items",
      }]);
    cell.pushFunction(() => 0);
    cell.pushTable();
    const add = (name: string, run: HostFunction) => {
      cell.pushFunction(run);
      cell.setMember(-2, name);
    };
    add("__index", (inner) => {
      const name = inner.type(2) === TYPE.string ? inner.text(2)! : "?";
      return Object.hasOwn(METHODS, name) ? refuse() : inner.raise("attempt to index a function value");
    });
    for (const name of Object.keys(OPERATORS)) {
      add(
        name,
        (inner) =>
          inner.type(1) === TYPE.function && inner.type(2) !== TYPE.number
            ? refuse()
            : inner.raise("attempt to perform arithmetic on a function value"),
      );
    }
    cell.setMetatable(-2);
    cell.pop(1);
  }

  #pushProxy(path: readonly string[]): void {
    const cell = this.#cell;
    cell.pushTable();
    cell.pushKept(this.#mark);
    cell.pushNumber(this.#numberOf(path));
    cell.rawSet(-3);
    cell.pushKept(this.#metatable);
    cell.setMetatable(-2);
  }

  #numberOf(path: readonly string[]): number {
    const name = path.join("\0");
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#paths.push(path) - 1;
    this.#numbers.set(name, number);
    return number;
  }

  /** Returns the keys that a table represents; null for an ordinary value. */
  #pathAt(index: number): readonly string[] | null {
    const cell = this.#cell;
    if (cell.type(index) !== TYPE.table) return null;
    const at = cell.absolute(index);
    cell.pushKept(this.#mark);
    const path = cell.rawGet(at) === TYPE.number ? this.#paths[cell.number(-1)] : undefined;
    cell.pop(1);
    return path ?? null;
  }

  #index(): number {
    const cell = this.#cell;
    const path = this.#pathAt(1) ?? this.#lost();
    const kind = path.length === 0 ? "object" : this.#kind(path);
    const isList = kind === "list" || kind === "tools";
    if (cell.type(2) !== TYPE.string) {
      if (isList) this.#noContents();
      cell.pushNil();
      return 1;
    }
    const name = cell.text(2)!;
    const method = isList && Object.hasOwn(this.#methods, name) ? this.#methods[name] : undefined;
    if (method !== undefined) cell.pushKept(method);
    else this.#pushSetting([...path, name]);
    return 1;
  }

  #pushSetting(path: readonly string[]): void {
    const kind = this.#kind(path);
    if (kind === "scalar") pushValue(this.#cell, this.#read(path));
    else {
      const assigned = kind === "list" ? this.#read(path) : null;
      if (typeof assigned === "function") pushValue(this.#cell, assigned);
      else this.#pushProxy(path);
    }
  }

  #assign(): number {
    const cell = this.#cell;
    const path = this.#pathAt(1) ?? this.#lost();
    if (cell.type(2) !== TYPE.string) {
      const key = path.join(".");
      return this.#refuse(path, `"${key}" takes only names as keys, not ${typeName(cell.type(2))}s`);
    }
    const target = [...path, cell.text(2)!];
    const source = this.#pathAt(3);
    if (source !== null) {
      // The code assigns the result of `+`, `-` or `^` back to its source. Nothing is left to do, because the operator
      // has already applied the change.
      if (this.#canonical(source) === this.#canonical(target)) return 0;
      return this.#refuse(target, `"${target.join(".")}" cannot be set to another part of flemma.opt`);
    }
    this.#apply("set", target, this.#plain(3, target));
    return 0;
  }

  #operate(op: Op): number {
    const cell = this.#cell;
    const path = this.#pathAt(1);
    if (path === null) return cell.raise("the left operand must be a list of flemma.opt");
    this.#apply(op, path, this.#plain(2, path));
    cell.pushCopy(1);
    return 1;
  }

  #callMethod(name: string, op: Op): number {
    const cell = this.#cell;
    const path = this.#pathAt(1);
    if (path === null) return cell.raise(`call :${name}() with a colon, on a list of flemma.opt`);
    this.#apply(op, path, this.#plain(2, path));
    cell.setTop(1);
    return 1;
  }

  #apply(op: Op, path: readonly string[], value: unknown): void {
    this.#check(this.#draft.apply(op, path, value));
  }

  /** Converts the Lua value at `index`; functions become callbacks with a policy's arguments. */
  #plain(index: number, path: readonly string[]): unknown {
    const cell = this.#cell;
    if (cell.type(index) === TYPE.function) return keepFunction(cell, index, policyArguments);
    const key = path.join(".");
    return toValue(cell, index, {
      table: (_, table) =>
        this.#pathAt(table) === null
          ? undefined
          : this.#refuse(path, `"${key}" cannot contain another part of flemma.opt`),
      key: (_, at) =>
        this.#refuse(path, `"${key}" takes only names as keys, not ${typeName(cell.type(at))}s`),
      cycle: () => this.#refuse(path, `"${key}" cannot contain a table that contains itself`),
    });
  }

  #kind(path: readonly string[]): SettingKind {
    const answer = this.#draft.kind(path);
    return answer.ok ? answer.value : this.#raise([answer.problem]);
  }

  #canonical(path: readonly string[]): string {
    const answer = this.#draft.canonical(path);
    return answer.ok ? answer.value : this.#raise([answer.problem]);
  }

  #read(path: readonly string[]): unknown {
    const answer = this.#draft.read(path);
    return answer.ok ? answer.value : this.#raise([answer.problem]);
  }

  #check(faults: readonly SettingFault[]): void {
    const errors = faults.filter((fault) => fault.severity === "error");
    if (errors.length > 0) this.#raise(errors);
  }

  #noContents(): never {
    const path = this.#pathAt(1) ?? [];
    const name = ["flemma.opt", ...path].join(".");
    return this.#refuse(path, `"${name}" cannot be looped over or counted; read its members by name`);
  }

  #refuse(path: readonly string[], message: string): never {
    return this.#raise([{ code: "config_not_assignable", severity: "error", key: path.join("."), message }]);
  }

  #raise(faults: readonly SettingFault[]): never {
    return this.#cell.raise(faults[0]!.message, new SettingsFaults(faults));
  }

  #lost(): never {
    return this.#cell.raise("this is not part of flemma.opt");
  }
}

/** Returns the Lua arguments for a call: the tool's name, a copy of its input, and a context as in flemma.nvim. */
function policyArguments([tool, input, context]: readonly unknown[]): readonly unknown[] {
  const { toolId, document } = isObject(context) ? context : {};
  return [tool, input, { tool_id: toolId, bufnr: BUFFER_NUMBER, filename: document }];
}
