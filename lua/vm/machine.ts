// The Lua interpreter as a WASM machine with a minimal host: no files, no processes, no environment.
//
// The module is the one in the wasmoon package, without that package's JavaScript. Its JavaScript includes a file
// system, takes most of the start-up time, and cannot stop a hostile chunk (docs/project/architecture.md has the
// figures).

/** The part of Lua's C interface used here. Numbers are addresses, indices or plain numbers. */
export interface LuaExports {
  readonly memory: WebAssembly.Memory;
  readonly __indirect_function_table: WebAssembly.Table;
  __wasm_call_ctors(): void;
  emscripten_stack_init(): void;
  malloc(size: number): number;
  realloc(pointer: number, size: number): number;
  free(pointer: number): void;
  setThrew(threw: number, value: number): void;
  stackSave(): number;
  stackRestore(pointer: number): void;
  lua_newstate(allocator: number, data: number): number;
  lua_close(state: number): void;
  lua_sethook(state: number, hook: number, mask: number, count: number): void;
  lua_getstack(state: number, level: number, record: number): number;
  lua_getinfo(state: number, what: number, record: number): number;
  lua_checkstack(state: number, slots: number): number;
  lua_absindex(state: number, index: number): number;
  lua_gettop(state: number): number;
  lua_settop(state: number, index: number): void;
  lua_rotate(state: number, index: number, count: number): void;
  lua_pushvalue(state: number, index: number): void;
  lua_copy(state: number, from: number, to: number): void;
  lua_type(state: number, index: number): number;
  lua_isinteger(state: number, index: number): number;
  lua_rawequal(state: number, left: number, right: number): number;
  lua_tonumberx(state: number, index: number, isNumber: number): number;
  lua_toboolean(state: number, index: number): number;
  lua_tolstring(state: number, index: number, length: number): number;
  lua_topointer(state: number, index: number): number;
  lua_rawlen(state: number, index: number): number;
  lua_next(state: number, index: number): number;
  lua_pushnil(state: number): void;
  lua_pushnumber(state: number, value: number): void;
  lua_pushlstring(state: number, text: number, length: number): number;
  lua_pushcclosure(state: number, pointer: number, upvalues: number): void;
  lua_pushboolean(state: number, value: number): void;
  lua_createtable(state: number, positions: number, members: number): void;
  lua_rawget(state: number, index: number): number;
  lua_rawgeti(state: number, index: number, key: bigint): number;
  lua_rawseti(state: number, index: number, key: bigint): void;
  lua_rawset(state: number, index: number): void;
  lua_getmetatable(state: number, index: number): number;
  lua_setmetatable(state: number, index: number): number;
  lua_setupvalue(state: number, index: number, upvalue: number): number;
  lua_callk(state: number, args: number, results: number, context: number, next: number): void;
  lua_pcallk(
    state: number,
    args: number,
    results: number,
    handler: number,
    context: number,
    next: number,
  ): number;
  lua_error(state: number): number;
  luaL_where(state: number, level: number): void;
  luaL_tolstring(state: number, index: number, length: number): number;
  luaL_ref(state: number, table: number): number;
  luaL_unref(state: number, table: number, reference: number): void;
  luaL_loadbufferx(state: number, text: number, length: number, name: number, mode: number): number;
  readonly luaopen_base: CallableFunction;
  readonly luaopen_string: CallableFunction;
  readonly luaopen_table: CallableFunction;
  readonly luaopen_math: CallableFunction;
}

/** Callbacks of the machine. */
export interface MachineHost {
  /** Lua's allocator. It returns the new address, or 0 to refuse. `data` is not used. */
  allocate(data: number, pointer: number, oldSize: number, newSize: number): number;
  /** Called at intervals of instructions and at every call. */
  hook(state: number, record: number): void;
  /** Called for one of our functions that Lua code calls. */
  call(state: number): number;
  /** The only function that is started from outside, in protected mode. */
  enter(state: number): number;
  /** Called where an error was raised, before the stack is unwound. */
  explain(state: number): number;
}

/** Addresses of the host's functions in the function table. */
export interface HostPointers {
  readonly allocate: number;
  readonly hook: number;
  readonly call: number;
  readonly enter: number;
  readonly explain: number;
}

export interface LuaMachine {
  readonly lua: LuaExports;
  readonly pointers: HostPointers;
  /** Makes an exported function callable by its address. */
  address(exported: CallableFunction): number;
}

/**
 * A function table only accepts functions exported by WASM. So this module imports the host's five functions and
 * exports them again:
 *   (type 0 (i32 i32 i32 i32) -> i32) (type 1 (i32 i32) -> ()) (type 2 (i32) -> i32)
 *   import h.a: 0, h.k: 1, h.c: 2, h.e: 2, h.m: 2; export the same
 */
// deno-fmt-ignore
const ADAPTER = new Uint8Array([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
  1, 19, 3, 0x60, 4, 0x7f, 0x7f, 0x7f, 0x7f, 1, 0x7f, 0x60, 2, 0x7f, 0x7f, 0, 0x60, 1, 0x7f, 1, 0x7f,
  2, 31, 5,
  1, 0x68, 1, 0x61, 0, 0,
  1, 0x68, 1, 0x6b, 0, 1,
  1, 0x68, 1, 0x63, 0, 2,
  1, 0x68, 1, 0x65, 0, 2,
  1, 0x68, 1, 0x6d, 0, 2,
  7, 21, 5,
  1, 0x61, 0, 0,
  1, 0x6b, 0, 1,
  1, 0x63, 0, 2,
  1, 0x65, 0, 3,
  1, 0x6d, 0, 4,
]);

/** The interpreter's module, and the address of its character classes for bytes above ASCII. */
export interface Interpreter {
  readonly module: WebAssembly.Module;
  readonly aboveAscii: number;
}

/** The bit of a letter in Lua's table of character classes. */
const LETTER = 1;

/** The value thrown for C's longjmp. Any other value is an error and must be rethrown. */
const LONG_JUMP = Infinity;
const PAGE = 65536;

/**
 * Instantiates the interpreter, without a Lua state. Its memory never grows past `mostMemory` bytes, independently of
 * the cell's own accounting.
 */
export async function startMachine(
  { module, aboveAscii }: Interpreter,
  host: MachineHost,
  mostMemory: number,
): Promise<LuaMachine> {
  let lua: LuaExports | null = null;
  const instance = await WebAssembly.instantiate(module, imports(() => lua!, mostMemory));
  // The generated file determines the exported names, so the cast is safe.
  lua = instance.exports as unknown as LuaExports;
  lua.emscripten_stack_init();
  lua.__wasm_call_ctors();
  // As in LuaJIT, names may contain letters of any language.
  new Uint8Array(lua.memory.buffer).fill(LETTER, aboveAscii, aboveAscii + 128);
  const adapter = new WebAssembly.Instance(new WebAssembly.Module(ADAPTER), {
    h: { a: host.allocate, k: host.hook, c: host.call, e: host.enter, m: host.explain },
  }).exports;
  const table = lua.__indirect_function_table;
  const address = (exported: CallableFunction | WebAssembly.ExportValue | undefined): number => {
    if (typeof exported !== "function") throw new Error("the interpreter lacks a function");
    const index = table.grow(1);
    table.set(index, exported);
    return index;
  };
  const pointers = {
    allocate: address(adapter.a),
    hook: address(adapter.k),
    call: address(adapter.c),
    enter: address(adapter.e),
    explain: address(adapter.m),
  };
  return { lua, pointers, address };
}

function imports(machine: () => LuaExports, mostMemory: number): WebAssembly.Imports {
  // Lua's libraries for files, processes and the clock are never opened, so none of these functions is reached.
  const absent = () => {
    throw new Error("the Lua interpreter may not make system calls");
  };
  const env: WebAssembly.ModuleImports = {
    abort: () => {
      throw new Error("the Lua interpreter aborted");
    },
    invoke_vii: (index: number, first: number, second: number) => {
      const lua = machine();
      const stack = lua.stackSave();
      try {
        lua.__indirect_function_table.get(index)!(first, second);
      } catch (thrown) {
        if (thrown !== LONG_JUMP) throw thrown;
        lua.stackRestore(stack);
        lua.setThrew(1, 0);
      }
    },
    _emscripten_throw_longjmp: () => {
      throw LONG_JUMP;
    },
    emscripten_resize_heap: (wanted: number) => {
      const { memory } = machine();
      const size = memory.buffer.byteLength;
      if (wanted > mostMemory) return 0;
      const target = Math.min(mostMemory, Math.max(wanted, size + size / 4));
      memory.grow(Math.ceil((target - size) / PAGE));
      return 1;
    },
    // Seed for the hashes of strings. With a constant, a document could choose colliding keys.
    emscripten_date_now: () => Date.now(),
    _emscripten_get_now_is_monotonic: () => 1,
  };
  for (
    const name of ["strftime", "system", "exit", "_mktime_js", "_localtime_js", "_gmtime_js", "_tzset_js"]
      .concat(
        ["openat", "fcntl64", "ioctl", "dup3", "unlinkat", "rmdir", "renameat", "readlinkat"].map((call) =>
          `__syscall_${call}`
        ),
      )
  ) {
    env[name] = absent;
  }
  const wasi: WebAssembly.ModuleImports = {};
  for (const name of ["fd_write", "fd_read", "fd_close", "fd_seek"]) wasi[name] = absent;
  // The interpreter calls these at its start to read environment variables. They report none without writing anything:
  // the two counts that they should write are in fresh memory and already zero.
  wasi.environ_sizes_get = () => 0;
  wasi.environ_get = () => 0;
  return { env, wasi_snapshot_preview1: wasi };
}
