// The stack of values between our functions and Lua: pushing, reading, tables, references.

import type { LuaExports, LuaMachine } from "./machine.ts";

/**
 * One of our functions that Lua code can call: arguments are on the stack from 1; returns how many results it pushed.
 */
export type StackFunction<S = unknown> = (cell: S) => number;

/** Lua's numbers for types of values. */
export const TYPE = { none: -1, nil: 0, boolean: 1, number: 3, string: 4, table: 5, function: 6 } as const;

/** Lua's name of a type. */
export function typeName(type: number): string {
  return Object.entries(TYPE).find(([, number]) => number === type)?.[0] ?? "userdata";
}

/** Index of Lua's registry, which only C code can access. */
const REGISTRY = -1_001_000;
/** Size of the debug record that some of Lua's functions fill in. */
const RECORD_SIZE = 104;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Values of a Lua state. Nearly everything here may raise, so it must be protected by `enter` of the cell. */
export abstract class Stack {
  readonly lua: LuaExports;
  protected state = 0;
  /** Address of a record that Lua's functions fill in. */
  protected readonly record: number;
  readonly #callPointer: number;
  readonly #address: (exported: CallableFunction) => number;
  readonly #functions: StackFunction<this>[] = [];
  #bytes: Uint8Array = new Uint8Array();
  #view: DataView = new DataView(new ArrayBuffer(0));

  protected constructor(machine: LuaMachine) {
    this.lua = machine.lua;
    this.#callPointer = machine.pointers.call;
    this.#address = machine.address;
    this.record = machine.lua.malloc(RECORD_SIZE);
  }

  abstract raise(message: string): never;

  /** Ends the evaluation because a text exceeds the string limit or the memory. */
  protected abstract refuseText(reason: "string" | "memory"): never;

  /** Maximum number of bytes of one text. */
  protected abstract readonly mostText: number;

  top(): number {
    return this.lua.lua_gettop(this.state);
  }

  setTop(index: number): void {
    this.lua.lua_settop(this.state, index);
  }

  pop(count: number): void {
    this.lua.lua_settop(this.state, -count - 1);
  }

  /** Makes room for `slots` more values; raises if the stack is full. */
  reserve(slots: number): void {
    if (this.lua.lua_checkstack(this.state, slots) === 0) this.raise("too many values");
  }

  type(index: number): number {
    return this.lua.lua_type(this.state, index);
  }

  absolute(index: number): number {
    return this.lua.lua_absindex(this.state, index);
  }

  pushNil(): void {
    this.lua.lua_pushnil(this.state);
  }

  pushBoolean(value: boolean): void {
    this.lua.lua_pushboolean(this.state, value ? 1 : 0);
  }

  pushNumber(value: number): void {
    this.lua.lua_pushnumber(this.state, value);
  }

  pushText(value: string): void {
    this.pushBytes(encoder.encode(value));
  }

  pushBytes(value: Uint8Array): void {
    if (value.length > this.mostText) this.refuseText("string");
    const at = this.lua.malloc(value.length + 1);
    if (at === 0) this.refuseText("memory");
    this.bytes().set(value, at);
    try {
      this.lua.lua_pushlstring(this.state, at, value.length);
    } finally {
      this.lua.free(at);
    }
  }

  /** Pushes the bytes of memory `from..to` as a string. They must not move meanwhile. */
  pushSlice(from: number, to: number): void {
    this.lua.lua_pushlstring(this.state, from, to - from);
  }

  pushCopy(index: number): void {
    this.lua.lua_pushvalue(this.state, index);
  }

  pushTable(): void {
    this.lua.lua_createtable(this.state, 0, 0);
  }

  /** Pushes one of our functions. The function lives as long as the cell. */
  pushFunction(run: StackFunction<this>): void {
    this.lua.lua_pushnumber(this.state, this.#functions.push(run) - 1);
    this.lua.lua_pushcclosure(this.state, this.#callPointer, 1);
  }

  /** Pushes one of Lua's own library openers. */
  pushExport(exported: CallableFunction): void {
    this.lua.lua_pushcclosure(this.state, this.#address(exported), 0);
  }

  number(index: number): number {
    return this.lua.lua_tonumberx(this.state, index, 0);
  }

  boolean(index: number): boolean {
    return this.lua.lua_toboolean(this.state, index) !== 0;
  }

  /** Returns the text of a string or number; null for any other value. */
  text(index: number): string | null {
    const span = this.span(index);
    return span === null ? null : decoder.decode(this.bytes().subarray(span.from, span.to));
  }

  /** Returns the range of a string's bytes in memory. Converts a number on the stack to a string. */
  span(index: number): { readonly from: number; readonly to: number } | null {
    const type = this.type(index);
    if (type !== TYPE.string && type !== TYPE.number) return null;
    const from = this.lua.lua_tolstring(this.state, index, this.record);
    const length = this.view().getUint32(this.record, true);
    return { from, to: from + length };
  }

  /** Pushes `tostring` of a value. */
  pushToString(index: number): void {
    this.lua.luaL_tolstring(this.state, index, 0);
  }

  /** Returns an identity of a table or function, constant while it lives. */
  identity(index: number): number {
    return this.lua.lua_topointer(this.state, index);
  }

  same(left: number, right: number): boolean {
    return this.lua.lua_rawequal(this.state, left, right) !== 0;
  }

  /** Replaces the key on top with the member of the table, without metamethods. Returns the type. */
  rawGet(table: number): number {
    return this.lua.lua_rawget(this.state, table);
  }

  /** Pushes a member, without metamethods. Returns the type. */
  pushMember(table: number, key: string): number {
    const at = this.absolute(table);
    this.pushText(key);
    return this.rawGet(at);
  }

  pushItem(table: number, position: number): number {
    return this.lua.lua_rawgeti(this.state, table, BigInt(position));
  }

  /** Pops key and value into the table, without metamethods. */
  rawSet(table: number): void {
    this.lua.lua_rawset(this.state, table);
  }

  /** Pops the value into a member. */
  setMember(table: number, key: string): void {
    const at = this.absolute(table);
    this.pushText(key);
    this.lua.lua_rotate(this.state, -2, 1);
    this.rawSet(at);
  }

  setItem(table: number, position: number): void {
    this.lua.lua_rawseti(this.state, table, BigInt(position));
  }

  /** Replaces the key on top with the next key and value; at the end pops the key and returns false. */
  next(table: number): boolean {
    return this.lua.lua_next(this.state, table) !== 0;
  }

  /** Pushes the metatable of a value; if there is none, pushes nothing and returns false. */
  pushMetatable(index: number): boolean {
    return this.lua.lua_getmetatable(this.state, index) !== 0;
  }

  /** Pops the table and sets it as the metatable of the value. */
  setMetatable(index: number): void {
    this.lua.lua_setmetatable(this.state, index);
  }

  /** Pops the table and sets it as the environment of the chunk's function. */
  setEnvironment(index: number): void {
    this.lua.lua_setupvalue(this.state, index, 1);
  }

  hasMetatable(index: number): boolean {
    if (!this.pushMetatable(index)) return false;
    this.pop(1);
    return true;
  }

  /** Moves the top value down to `index`. */
  insert(index: number): void {
    this.lua.lua_rotate(this.state, index, 1);
  }

  replace(index: number): void {
    this.lua.lua_copy(this.state, -1, index);
    this.pop(1);
  }

  /** Calls the function below its arguments; errors propagate to the protecting code. */
  callFunction(args: number, results: number): void {
    this.lua.lua_callk(this.state, args, results, 0, 0);
  }

  /** Pops the top value and stores it; returns a reference to it. */
  keep(): number {
    return this.lua.luaL_ref(this.state, REGISTRY);
  }

  pushKept(reference: number): void {
    this.lua.lua_rawgeti(this.state, REGISTRY, BigInt(reference));
  }

  release(reference: number): void {
    this.lua.luaL_unref(this.state, REGISTRY, reference);
  }

  /** The memory of the machine. Calls into Lua may let the memory grow, so request it again after each call. */
  bytes(): Uint8Array {
    this.view();
    return this.#bytes;
  }

  protected view(): DataView {
    const { buffer } = this.lua.memory;
    if (this.#view.buffer !== buffer) {
      this.#view = new DataView(buffer);
      this.#bytes = new Uint8Array(buffer);
    }
    return this.#view;
  }

  /** Runs our function that Lua code called. */
  protected call(): number {
    const id = this.lua.lua_tonumberx(this.state, REGISTRY - 1, 0);
    return this.#functions[id]!(this);
  }

  /** Returns the C string at an address. */
  protected cText(at: number): string {
    const bytes = this.bytes();
    return decoder.decode(bytes.subarray(at, bytes.indexOf(0, at)));
  }

  /** Writes a C string and returns its address; 0 if there is no memory. */
  protected plant(text: string): number {
    const bytes = encoder.encode(`${text}\0`);
    const at = this.lua.malloc(bytes.length);
    if (at !== 0) this.bytes().set(bytes, at);
    return at;
  }
}
