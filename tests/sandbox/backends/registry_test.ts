// The registry of backends: names, order, copies, generations.

import assert from "node:assert/strict";
import { success } from "../../../base/problem.ts";
import { type Backend, BackendRegistry, backends, registerBuiltinBackends } from "../../../sandbox/mod.ts";

function backend(priority?: number): Backend {
  return {
    available: () => success(undefined),
    wrap: (_policy, _config, inner) => success([...inner]),
    priority,
  };
}

Deno.test("backends are ordered by priority, then by name, whatever the order of registration", () => {
  const registry = new BackendRegistry();
  registry.register("b", backend());
  registry.register("low", backend(10));
  registry.register("a", backend(50));
  registry.register("high", backend(80));
  assert.deepEqual(registry.getAll().map(({ name, priority }) => [name, priority]), [
    ["high", 80],
    ["a", 50],
    ["b", 50],
    ["low", 10],
  ]);
});

Deno.test("registering a backend under an existing name replaces the backend and its priority", () => {
  const registry = new BackendRegistry();
  registry.register("a", backend(10));
  registry.register("b", backend(20));
  registry.register("a", backend(90));
  assert.equal(registry.count(), 2);
  assert.equal(registry.getAll()[0]?.name, "a");
});

Deno.test("a backend name with a dot is refused, and the error names it", () => {
  const registry = new BackendRegistry();
  assert.throws(() => registry.register("my.backend", backend()), /my\.backend/);
  assert.throws(() => registry.register("", backend()), TypeError);
  assert.equal(registry.count(), 0);
});

Deno.test("the list of backends is a copy, and unregister returns whether it removed a backend", () => {
  const registry = new BackendRegistry();
  registry.register("a", backend());
  registry.getAll().pop();
  assert.ok(registry.has("a"));
  assert.equal(registry.get("b"), null);
  assert.equal(registry.unregister("b"), false);
  assert.equal(registry.unregister("a"), true);
  registry.register("c", backend());
  registry.clear();
  assert.equal(registry.count(), 0);
});

Deno.test("every change of the registry increases its generation, but removing nothing does not", () => {
  const registry = new BackendRegistry();
  const seen = new Set([registry.generation]);
  registry.register("a", backend());
  seen.add(registry.generation);
  registry.register("a", backend());
  seen.add(registry.generation);
  registry.unregister("a");
  seen.add(registry.generation);
  assert.equal(seen.size, 4);
  registry.unregister("a");
  registry.clear();
  assert.ok(seen.has(registry.generation));
  registry.register("a", backend());
  seen.add(registry.generation);
  registry.clear();
  assert.ok(!seen.has(registry.generation));
});

Deno.test("bubblewrap is built in with priority 100 and is restored after its removal", () => {
  assert.equal(backends.get("bwrap")?.priority, 100);
  const registry = new BackendRegistry();
  registerBuiltinBackends(registry);
  registry.unregister("bwrap");
  registerBuiltinBackends(registry);
  assert.deepEqual(registry.getAll().map(({ name }) => name), ["bwrap", "seatbelt", "landlock", "container"]);
});
