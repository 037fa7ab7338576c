// The tool hosts of one document: one for each target, started at the first call, ended soon after the last.

import type { Environment } from "../../base/environment.ts";
import { failure, type Outcome, success } from "../../base/problem.ts";
import { makeOutsidePlace, writableRoots } from "../../sandbox/outside/place.ts";
import type { Running, Sandbox } from "../../sandbox/types.ts";
import { isConfined, isWrapped, prepareUnsandboxed } from "../../sandbox/process/unsandboxed.ts";
import { HostProcess, inputPipe, newMessagePrefix, type StartedHost } from "./host_process.ts";
import { ALL_RIGHTS, findDeno, hostCommand, rightsOf } from "./runtime.ts";

/** Where a tool runs: in the sandbox, or with the person's full rights. */
export type HostTarget = "sandbox" | "host";

/** Inputs for starting hosts. */
export interface HostPlace {
  readonly environment: Environment;
  readonly sandbox: Sandbox;
  /** Absolute path of the hosts' working folder. */
  readonly cwd: string;
  /** Returns the environment variables, filtered as for commands; called when a host starts. */
  env(target: HostTarget): Readonly<Record<string, string>>;
}

/** A place, and the names that files import from the package that they are written for. */
interface NamedPlace extends HostPlace {
  readonly names: ReadonlySet<string>;
}

/**
 * Milliseconds for which an idle host is kept. A host is a command that may change files. While it runs, file tools
 * wait and the document is written in place, so it must not outlive its calls by much.
 */
const KEPT = 300;

interface Slot {
  /** Number of names that the host knows. */
  readonly names: number;
  readonly host: Promise<Outcome<HostProcess>>;
  timer?: ReturnType<typeof setTimeout>;
  /** Number of uses that have not ended. */
  uses: number;
}

/** Starts hosts, and keeps them while they are used and for a moment after. */
export class Hosts {
  readonly #place: NamedPlace;
  readonly #names = new Set<string>();
  readonly #slots = new Map<string, Slot>();
  readonly #ending = new Set<Promise<void>>();

  constructor(place: HostPlace) {
    this.#place = { ...place, names: this.#names };
  }

  /** Adds names that a file imports from the package that it is written for. Call this before a host loads the file. */
  addNames(names: Iterable<string>): void {
    for (const name of names) this.#names.add(name);
  }

  /**
   * Runs work with a host of a target, which stays alive at least until the work ends. Fails with the reason if no host
   * can be started.
   */
  async use<T>(target: HostTarget, work: (host: HostProcess) => Promise<T>): Promise<Outcome<T>> {
    const slot = await this.#slot(target);
    try {
      const host = await slot.host;
      return host.ok ? success(await work(host.value)) : host;
    } finally {
      slot.uses--;
      if (slot.uses === 0) slot.timer = setTimeout(() => this.#drop(target, slot), KEPT);
    }
  }

  /** Runs work with a separate host, which ends with the work. */
  async once<T>(target: HostTarget, work: (host: HostProcess) => Promise<T>): Promise<Outcome<T>> {
    const host = await startHost(target, this.#place);
    if (!host.ok) return host;
    try {
      return success(await work(host.value));
    } finally {
      await host.value.end();
    }
  }

  async close(): Promise<void> {
    for (const [target, slot] of [...this.#slots]) this.#drop(target as HostTarget, slot);
    await Promise.all(this.#ending);
  }

  async #slot(target: HostTarget): Promise<Slot> {
    const known = this.#slots.get(target);
    if (known !== undefined && known.names !== this.#names.size && known.uses === 0) {
      this.#drop(target, known);
    } else if (known !== undefined && known.names === this.#names.size) {
      known.uses++;
      clearTimeout(known.timer);
      const host = await known.host;
      if (host.ok && host.value.isOpen) return known;
      known.uses--;
      this.#drop(target, known);
      return await this.#slot(target);
    }
    const slot: Slot = { names: this.#names.size, host: startHost(target, this.#place), uses: 1 };
    this.#slots.set(target, slot);
    const host = await slot.host;
    // If the host did not start, a later call tries again. If the host ends, a later call starts another one.
    if (!host.ok) this.#forget(target, slot);
    else void host.value.ended.then(() => this.#drop(target, slot));
    return slot;
  }

  #drop(target: HostTarget, slot: Slot): void {
    clearTimeout(slot.timer);
    this.#forget(target, slot);
    const ending = slot.host.then(async (host) => {
      if (host.ok) await host.value.end();
    }).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #forget(target: HostTarget, slot: Slot): void {
    if (this.#slots.get(target) === slot) this.#slots.delete(target);
  }
}

async function startHost(target: HostTarget, place: NamedPlace): Promise<Outcome<HostProcess>> {
  const { writer, stream } = inputPipe();
  const started = target === "host"
    ? startUnwrapped(place, stream)
    : await startWrapped(place, stream) ?? await startWrapped(place, stream);
  if (started === null) {
    return failure("sandbox-outdated", "The sandbox changed while a tool host was starting.");
  }
  return started.ok ? success(new HostProcess(started.value, writer)) : started;
}

function startUnwrapped(
  { environment, sandbox, cwd, env, names }: NamedPlace,
  stdin: ReadableStream<Uint8Array>,
): Outcome<StartedHost> {
  const roots = writableRoots(sandbox);
  const made = makeOutsidePlace("tool files", env("host"), environment, roots);
  if (!made.ok) return made;
  const own = made.value;
  const deno = findDeno({ ...environment, variables: own.variables }, roots);
  if (!deno.ok) return deno;
  const word = newMessagePrefix();
  const command = hostCommand(deno.value, ALL_RIGHTS, { word, cwd, names });
  const prepared = prepareUnsandboxed(command, false, environment);
  // The runtime reads settings in the folder where it starts. The host then changes to the folder of the tools.
  const running = prepared.start({ cwd: own.cwd, env: own.variables, stdin });
  if (!running.ok) {
    void prepared.dispose();
    return running;
  }
  return success({
    running: running.value,
    word,
    failedSetUp: () => Promise.resolve(null),
    dispose: () => prepared.dispose(),
  });
}

/**
 * Starts a host in the sandbox. Returns null if the sandbox changed before the host started; the host did not run then.
 */
async function startWrapped(
  { environment, sandbox, cwd, env, names }: NamedPlace,
  stdin: ReadableStream<Uint8Array>,
): Promise<Outcome<StartedHost> | null> {
  const policy = sandbox.policy();
  if (!policy.ok) return policy;
  const deno = findDeno(environment, sandbox.enabled ? policy.value.rw_paths : []);
  if (!deno.ok) return deno;
  const available = await sandbox.available();
  const wrapped = sandbox.enabled && isWrapped(available);
  const word = newMessagePrefix();
  // A sandbox that does not confine a superuser leaves the runtime to refuse what the policy forbids.
  const rights = rightsOf(policy.value, wrapped && isConfined(available));
  const prepared = await sandbox.prepare(hostCommand(deno.value, rights, { word, cwd, names }));
  if (!prepared.ok) return prepared;
  const { value } = prepared;
  // The host's rights were chosen for this sandbox state, so it must not start under another.
  const running: Outcome<Running> = value.wrapped === wrapped
    ? value.start({ cwd, env: env("sandbox"), stdin })
    : failure("sandbox-outdated", "The sandbox was switched on or off while a tool host was starting.");
  if (!running.ok) {
    await value.dispose();
    return running.problem.code === "sandbox-outdated" ? null : running;
  }
  return success({
    running: running.value,
    word,
    failedSetUp: async (stderr) => {
      const { signal } = await running.value.status;
      const failed = await value.setupFailure(stderr, signal);
      return failed === null ? null : `Sandbox: ${failed.forModel}`;
    },
    dispose: () => value.dispose(),
  });
}
