// One Lua state under budget: protected work, compiling, errors with their places, and what the machine calls back.

import { Budget, DEFAULT_LIMITS, type Excess, type Limits } from "./budget.ts";
import { toDialect } from "./dialect.ts";
import { type Interpreter, type Machine, startMachine } from "./machine.ts";
import { Stack, TYPE, typeName } from "./stack.ts";

/** A function of ours that Lua code can call: arguments on the stack from 1, answers how many results it pushed. */
export type HostFunction = (cell: Cell) => number;

/** A place in a chunk: the chunk's name and a line of it, 1-based. */
export interface Frame {
  readonly chunk: string;
  readonly line: number;
}

/** Why a protected piece of work ended early. */
export interface Raised {
  /** The text of the error value, without the place it begins with. */
  readonly message: string;
  /** What was attached by `raise`, when this very error came from there. */
  readonly detail: unknown;
  /** Where it was raised and who had called, innermost first; only chunks of documents. */
  readonly frames: readonly Frame[];
  /** True when a limit ended it. */
  readonly limit: boolean;
}

/** A chunk that does not compile. */
export interface SyntaxFault {
  readonly message: string;
  readonly line: number | null;
}

/** Chunks whose name begins so are ours and never shown. */
const OWN_CHUNK = "cell";

/** Where Lua says an error is: the name of a chunk, which is a word and perhaps a number, and a line. */
const PLACE = /^(?:cell|frontmatter|message|include)(?: \d+)?:(\d+): /;

const RUNTIME_ERROR = 2;
const OUT_OF_MEMORY = 4;
const HOOK_CALL = 1 << 0;
const HOOK_COUNT = 1 << 3;
const HOOK_EVENT_COUNT = 3;
const STEPS_PER_HOOK = 100;
/** Where in Lua's record about an active function the event, source and line stand. */
const RECORD = { event: 0, source: 16, line: 24 };
/** What Lua passes as old size when it makes a new string object; the header that comes with its bytes. */
const NEW_STRING = 4;
const STRING_HEADER = 24;
/** Own calls and callbacks that stand below the first function of a document. */
const DEPTH_BELOW = 3;
const MOST_FRAMES = 64;
const MOST_CODE = 256 * 1024;
/** What compiling costs beside its length. */
const STEPS_PER_LOAD = 200;
/** Memory of the machine for each byte Lua may hold: what grows stands there twice for a moment. */
const GROWTH = 2;
/** Memory that the machine has at any rate. */
const LEAST_MACHINE = 32 * 1024 * 1024;
/** Values that work entered from outside may have on the stack without asking; functions called by Lua have 20. */
const ROOM = 60;

const encoder = new TextEncoder();

/** A Lua state. Everything that may raise happens inside `enter`. */
export class Cell extends Stack {
  readonly budget: Budget;
  readonly #machine: Machine;
  readonly #infoWanted: number;
  #work: HostFunction | null = null;
  #refused: { readonly size: number; readonly limit: "memory" | "string" } | null = null;
  #frames: Frame[] = [];
  #errorText = "";
  #detail: { text: string; value: unknown } | null = null;

  private constructor(machine: Machine, budget: Budget) {
    super(machine);
    this.#machine = machine;
    this.budget = budget;
    this.#infoWanted = this.plant("Sl");
  }

  /** Starts a machine and a state in it, with nothing but an empty registry. */
  static async start(interpreter: Interpreter, limits: Limits = DEFAULT_LIMITS): Promise<Cell> {
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
    if (this.state === 0) throw new Error("the Lua interpreter has no memory to start");
    lua.lua_sethook(this.state, this.#machine.pointers.hook, HOOK_CALL | HOOK_COUNT, STEPS_PER_HOOK);
  }

  /**
   * Runs work like `enter` as an evaluation of its own with the full allowance; inside another evaluation it shares
   * that one's.
   */
  evaluate(work: HostFunction): Raised | null {
    if (this.#work === null) this.budget.open();
    return this.enter(work);
  }

  /**
   * Runs work that may raise errors of Lua, on what is left of the allowance; null when it ended well. The stack is as
   * before afterwards. Entering again from within is allowed and protects the inner work on its own.
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
        // Lua does not ask for an explanation where it could not give one room.
        this.#frames = [];
        this.#errorText = status === OUT_OF_MEMORY ? "not enough memory" : "an error while handling an error";
      }
      return this.#raised();
    } catch (thrown) {
      // A trap of the machine or an overflow of the stack leaves the state unusable; all else is a fault of ours.
      if (!isTrap(thrown)) throw thrown;
      this.budget.close("broken");
      // Nobody in between may touch the state any more, so the trap flies on to the outermost work.
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
   * Compiles a chunk of a document and pushes its function, or answers what is wrong with it. Compiling is not
   * interrupted, and long chains of branches cost the square of their length, so the size is limited instead.
   *
   * @param written characters of it that the document wrote, where the rest is ours @default all
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
   * Raises an error in the calling Lua code. The message begins with the place of the caller as Lua's own do; `detail`
   * is handed to whoever protects, unless the document catches the error.
   */
  override raise(message: string, detail?: unknown): never {
    this.lua.luaL_where(this.state, 1);
    const text = `${this.text(-1) ?? ""}${message}`;
    this.pop(1);
    this.pushText(text);
    if (detail !== undefined) this.#detail = { text, value: detail };
    return this.raiseTop();
  }

  /** Raises the value on top of the stack. */
  raiseTop(): never {
    this.lua.lua_error(this.state);
    throw new Error("lua_error came back");
  }

  /** True when a limit was reached, so that no error may be caught any more. */
  isOver(): boolean {
    this.#settleRefusal();
    return this.budget.exceeded !== null;
  }

  /** Ends the evaluation because of a limit. */
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

  /** Takes steps for work that is done outside Lua; raises when a limit is reached. */
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
   * Lua mostly collects garbage after a refusal and asks for the same once more, so the first one is not final. Where
   * it does not ask again, whatever it does next makes it so.
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

  /** Runs on top of the raising function: the one moment at which the whole chain of calls can be read. */
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

  /** `error({error = "text"})` shows that text; other values show as `tostring` has them. */
  #describeError(): string {
    if (this.type(1) === TYPE.table && !this.hasMetatable(1)) {
      const found = this.pushMember(1, "error") === TYPE.string ? this.text(-1) : null;
      this.pop(1);
      if (found !== null) return found;
    }
    const type = this.type(1);
    if (type === TYPE.string || type === TYPE.number) return this.text(1) ?? "";
    return type === TYPE.nil ? "an error without a value" : `an error that is no text (${typeName(type)})`;
  }
}

function isTrap(thrown: unknown): boolean {
  return thrown instanceof WebAssembly.RuntimeError ||
    (thrown instanceof RangeError && thrown.message.includes("call stack"));
}

/** A message of Lua without the place it begins with; a place of ours is worth nothing to a reader. */
function withoutPlace(message: string): string {
  return message.replace(PLACE, "");
}

/** For a block that is never closed, the line on which it was opened. */
function lineOfUnclosed(message: string): number | null {
  const found = /\(to close '\w+' at line (\d+)\) near <eof>$/.exec(message);
  return found === null ? null : Number(found[1]);
}
