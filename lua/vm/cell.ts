// One Lua state under a budget: protected calls, compilation, errors with positions, and the callbacks of the machine.

import { Budget, DEFAULT_LIMITS, type Excess, type LuaLimits } from "./budget.ts";
import { toDialect } from "./dialect.ts";
import { type Interpreter, type LuaMachine, startMachine } from "./machine.ts";
import { Stack, TYPE, typeName } from "./stack.ts";

/**
 * One of our functions that Lua code can call: arguments are on the stack from 1; returns how many results it pushed.
 */
export type HostFunction = (cell: Cell) => number;

/** A position in a chunk: the chunk's name and a line, 1-based. */
export interface LuaPosition {
  readonly chunk: string;
  readonly line: number;
}

/** Reason why protected work ended early. */
export interface Raised {
  /** The text of the error value, without its leading position. */
  readonly message: string;
  /** The detail attached by `raise`, if this very error came from there. */
  readonly detail: unknown;
  /** The position where the error was raised, and its callers, innermost first; only chunks of documents. */
  readonly frames: readonly LuaPosition[];
  /** True if a limit ended the work. */
  readonly limit: boolean;
}

/** A syntax error of a chunk. */
export interface SyntaxFault {
  readonly message: string;
  readonly line: number | null;
}

/** Beginning of the names of our own chunks, which are never shown. */
const OWN_CHUNK = "cell";

/**
 * The position at the beginning of a Lua error: the chunk's name, which is a word and possibly a number, and a line.
 */
const PLACE = /^(?:cell|frontmatter|message|include)(?: \d+)?:(\d+): /;

const RUNTIME_ERROR = 2;
const OUT_OF_MEMORY = 4;
const HOOK_CALL = 1 << 0;
const HOOK_COUNT = 1 << 3;
const HOOK_EVENT_COUNT = 3;
const STEPS_PER_HOOK = 100;
/** Offsets of event, source and line in Lua's debug record of an active function. */
const RECORD = { event: 0, source: 16, line: 24 };
/** The old size that Lua passes for a new string object, and the size of the header before the string's bytes. */
const NEW_STRING = 4;
const STRING_HEADER = 24;
/** Number of our own calls and callbacks below the first function of a document. */
const DEPTH_BELOW = 3;
const MOST_FRAMES = 64;
const MOST_CODE = 256 * 1024;
/** Number of steps that compiling costs in addition to the length of the code. */
const STEPS_PER_LOAD = 200;
/** Bytes of memory of the machine for each byte that Lua may use, because growing values briefly exist twice. */
const GROWTH = 2;
/** Minimum memory of the machine. */
const LEAST_MACHINE = 32 * 1024 * 1024;
/** Number of stack slots to reserve for work that is entered from outside Lua. Functions that Lua calls have 20. */
const ROOM = 60;

const encoder = new TextEncoder();

/** A Lua state. Everything that may raise runs inside `enter`. */
export class Cell extends Stack {
  readonly budget: Budget;
  readonly #machine: LuaMachine;
  readonly #infoWanted: number;
  #work: HostFunction | null = null;
  #refused: { readonly size: number; readonly limit: "memory" | "string" } | null = null;
  #frames: LuaPosition[] = [];
  #errorText = "";
  #detail: { text: string; value: unknown } | null = null;

  private constructor(machine: LuaMachine, budget: Budget) {
    super(machine);
    this.#machine = machine;
    this.budget = budget;
    this.#infoWanted = this.plant("Sl");
  }

  /** Starts a machine and a state in it, with an empty registry. */
  static async start(interpreter: Interpreter, limits: LuaLimits = DEFAULT_LIMITS): Promise<Cell> {
    const budget = new Budget(limits);
    let cell: Cell | null = null;
    const machine = await startMachine(interpreter, {
      allocate: (_data, pointer, oldSize, newSize) => cell!.#allocate(pointer, oldSize, newSize),
      hook: (_state, record) => cell!.#hook(record),
      call: () => cell!.call(),
      enter: () => {
        cell!.reserve(ROOM);
        return cell!.#work!(cell!);
      },
      explain: () => cell!.#explain(),
    }, Math.max(LEAST_MACHINE, limits.memory * GROWTH));
    cell = new Cell(machine, budget);
    budget.open();
    budget.resume();
    cell.#open();
    return cell;
  }

  #open(): void {
    const { lua } = this;
    this.state = lua.lua_newstate(this.#machine.pointers.allocate, 0);
    if (this.state === 0) throw new Error("the Lua interpreter has too little memory to start");
    lua.lua_sethook(this.state, this.#machine.pointers.hook, HOOK_CALL | HOOK_COUNT, STEPS_PER_HOOK);
  }

  /**
   * Runs work like `enter` as a separate evaluation with the full budget. Inside another evaluation, it shares the
   * budget of that one.
   */
  evaluate(work: HostFunction): Raised | null {
    if (this.#work === null) this.budget.open();
    return this.enter(work);
  }

  /**
   * Runs work that may raise Lua errors, within the remaining budget; null if it succeeded. Restores the stack
   * afterwards. Nested calls are allowed and protect the inner work separately.
   */
  enter(work: HostFunction): Raised | null {
    if (this.budget.broken) return this.#raised();
    const { lua } = this;
    const state = this.state;
    const top = lua.lua_gettop(state);
    const outer = this.#work;
    this.#work = work;
    if (outer === null) this.budget.resume();
    try {
      lua.lua_pushcclosure(state, this.#machine.pointers.explain, 0);
      lua.lua_pushcclosure(state, this.#machine.pointers.enter, 0);
      const status = lua.lua_pcallk(state, 0, 0, top + 1, 0, 0);
      if (status === 0) return null;
      if (status !== RUNTIME_ERROR) {
        // Lua does not call the explain handler if it has no memory or stack for the handler.
        this.#frames = [];
        this.#errorText = status === OUT_OF_MEMORY ? "not enough memory" : "an error while handling an error";
      }
      return this.#raised();
    } catch (thrown) {
      // A trap or a stack overflow of the machine leaves the state unusable. Any other error is a bug of ours.
      if (!isTrap(thrown)) throw thrown;
      this.budget.close("broken");
      // No code in between may use the state any more, so the trap propagates to the outermost work.
      if (outer !== null) throw thrown;
      return this.#raised();
    } finally {
      this.#work = outer;
      if (outer === null) this.budget.pause();
      if (!this.budget.broken) lua.lua_settop(state, top);
    }
  }

  #raised(): Raised {
    this.#settleRefusal();
    const limit = this.budget.exceeded !== null;
    const text = this.#errorText;
    const detail = !limit && this.#detail?.text === text ? this.#detail.value : undefined;
    const message = limit ? this.budget.sentence() : withoutPlace(text);
    return { message, detail, frames: this.budget.broken ? [] : this.#frames, limit };
  }

  /**
   * Compiles a chunk of a document and pushes its function, or returns what is wrong with it. Compilation cannot be
   * interrupted, and long chains of branches take quadratic time, so the size is limited instead.
   * @param written number of its characters that come from the document; the rest is ours. @default all
   */
  load(code: string, name: string, written = code.length): SyntaxFault | null {
    if (written > MOST_CODE) return { message: `it is longer than ${MOST_CODE / 1024} KiB`, line: null };
    this.spend(STEPS_PER_LOAD + code.length);
    const text = toDialect(code);
    return typeof text === "string" ? this.loadNative(text, name) : text;
  }

  /** Compiles a chunk in the interpreter's own dialect. Bytecode is refused. */
  loadNative(code: string, name: string): SyntaxFault | null {
    const { lua } = this;
    const bytes = encoder.encode(code);
    const at = lua.malloc(bytes.length + 1);
    const chunk = this.plant(`=${name}`);
    const mode = this.plant("t");
    if (at === 0 || chunk === 0 || mode === 0) this.exceed("memory");
    this.bytes().set(bytes, at);
    const status = lua.luaL_loadbufferx(this.state, at, bytes.length, chunk, mode);
    for (const pointer of [at, chunk, mode]) lua.free(pointer);
    if (status === 0) return null;
    if (status === OUT_OF_MEMORY) this.exceed("memory");
    const message = this.text(-1) ?? "";
    this.pop(1);
    const place = PLACE.exec(message);
    return {
      message: withoutPlace(message),
      line: place === null ? null : lineOfUnclosed(message) ?? Number(place[1]),
    };
  }

  // ---- errors ----------------------------------------------------------------------------------------------------

  /**
   * Raises an error in the calling Lua code. The message begins with the caller's position, like Lua's own; `detail` is
   * passed to the protecting code, unless the document catches the error.
   */
  override raise(message: string, detail?: unknown): never {
    this.lua.luaL_where(this.state, 1);
    const text = `${this.text(-1) ?? ""}${message}`;
    this.pop(1);
    this.pushText(text);
    if (detail !== undefined) this.#detail = { text, value: detail };
    return this.raiseTop();
  }

  raiseTop(): never {
    this.lua.lua_error(this.state);
    throw new Error("lua_error came back");
  }

  /** True if a limit was reached, so that no error may be caught any more. */
  isOver(): boolean {
    this.#settleRefusal();
    return this.budget.exceeded !== null;
  }

  exceed(limit: Exclude<Excess, "broken">): never {
    this.budget.close(limit);
    this.pushNil();
    return this.raiseTop();
  }

  protected override get mostText(): number {
    return this.budget.limits.string;
  }

  protected override refuseText(reason: "string" | "memory"): never {
    return this.exceed(reason);
  }

  /** Charges steps for work outside Lua; raises if a limit is reached. */
  spend(steps: number): void {
    if (this.budget.spend(steps)) return;
    this.pushNil();
    this.raiseTop();
  }

  // ---- what the machine calls ------------------------------------------------------------------------------------

  #hook(record: number): void {
    const isCount = this.view().getInt32(record + RECORD.event, true) === HOOK_EVENT_COUNT;
    if (isCount) {
      if (this.budget.spend(STEPS_PER_HOOK)) return;
    } else {
      if (this.lua.lua_getstack(this.state, this.budget.limits.depth + DEPTH_BELOW, this.record) === 0) {
        return;
      }
      this.budget.close("depth");
    }
    this.pushNil();
    this.raiseTop();
  }

  #allocate(pointer: number, oldSize: number, newSize: number): number {
    const { budget, lua } = this;
    const used = pointer === 0 ? 0 : oldSize;
    if (newSize === 0) {
      budget.memory -= used;
      if (pointer !== 0) lua.free(pointer);
      return 0;
    }
    if (newSize > used) {
      if (this.#refused !== null && this.#refused.size !== newSize) this.#settleRefusal();
      const excess = pointer === 0 && oldSize === NEW_STRING && newSize > budget.limits.string + STRING_HEADER
        ? "string"
        : budget.memory - used + newSize > budget.limits.memory
        ? "memory"
        : null;
      if (excess !== null) return this.#refuse(newSize, excess);
    }
    const got = lua.realloc(pointer, newSize);
    if (got === 0) return this.#refuse(newSize, "memory");
    this.#refused = null;
    budget.memory += newSize - used;
    return got;
  }

  /**
   * After a refusal Lua mostly collects garbage and asks again for the same size, so the first refusal is not final.
   * If Lua does anything else next, the refusal becomes final.
   */
  #refuse(size: number, limit: "string" | "memory"): number {
    if (this.#refused?.size === size) this.#settleRefusal();
    else this.#refused = { size, limit };
    return 0;
  }

  #settleRefusal(): void {
    if (this.#refused !== null) this.budget.close(this.#refused.limit);
    this.#refused = null;
  }

  /** Explains an error. It runs on top of the raising function, because only then can the whole call chain be read. */
  #explain(): number {
    const { lua } = this;
    const state = this.state;
    this.#frames = [];
    for (let level = 0; this.#frames.length < MOST_FRAMES; level++) {
      if (lua.lua_getstack(state, level, this.record) === 0) break;
      lua.lua_getinfo(state, this.#infoWanted, this.record);
      const view = this.view();
      const chunk = this.cText(view.getUint32(this.record + RECORD.source, true)).slice(1);
      if (chunk === "[C]" || chunk.startsWith(OWN_CHUNK)) continue;
      this.#frames.push({ chunk, line: view.getInt32(this.record + RECORD.line, true) });
    }
    this.#errorText = this.#describeError();
    return 1;
  }

  /**
   * Describes the error value; `error({error = "text"})` gives that text. Strings and numbers give their text, other
   * values their type.
   */
  #describeError(): string {
    if (this.type(1) === TYPE.table && !this.hasMetatable(1)) {
      const found = this.pushMember(1, "error") === TYPE.string ? this.text(-1) : null;
      this.pop(1);
      if (found !== null) return found;
    }
    const type = this.type(1);
    if (type === TYPE.string || type === TYPE.number) return this.text(1) ?? "";
    return type === TYPE.nil
      ? "an error without a value"
      : `an error value that is not a string (${typeName(type)})`;
  }
}

function isTrap(thrown: unknown): boolean {
  return thrown instanceof WebAssembly.RuntimeError ||
    (thrown instanceof RangeError && thrown.message.includes("call stack"));
}

/** Returns a Lua error message without its leading position. */
function withoutPlace(message: string): string {
  return message.replace(PLACE, "");
}

/** Returns, for a block that is never closed, the line on which it was opened. */
function lineOfUnclosed(message: string): number | null {
  const found = /\(to close '\w+' at line (\d+)\) near <eof>$/.exec(message);
  return found === null ? null : Number(found[1]);
}
