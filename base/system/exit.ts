// What runs when this process exits, in Deno and in Node.

interface Runtime {
  readonly addEventListener?: (name: "unload", listener: () => void) => void;
  readonly process?: { on(name: "exit", listener: () => void): void };
}

const registered = new Set<() => void>();

/** Calls a function once when this process exits on its own. The function cannot wait for anything. */
export function onExit(work: () => void): void {
  if (registered.has(work)) return;
  registered.add(work);
  const runtime = globalThis as Runtime;
  if (runtime.addEventListener !== undefined) runtime.addEventListener("unload", work);
  // In Deno, reading `process` loads the Node layer.
  else runtime.process?.on("exit", work);
}
