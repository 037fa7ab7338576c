// The backend of a run: found on first use, diagnosed with no-op commands, then used to wrap.

import { failure, type Outcome, type Problem, success, thrownText } from "../../base/problem.ts";
import { backends } from "../backends/builtin.ts";
import { detect, type FoundBackend } from "../backends/detect.ts";
import { type BackendDiagnosis, diagnoseBackend } from "../backends/diagnose.ts";
import { forgetFailure, readCachedFailure, saveFailure } from "../backends/cached_failure.ts";
import { isOfMachine, readMachine } from "../backends/machine.ts";
import { EMPTY_COMMAND, forgetProbe, probe } from "../backends/probe.ts";
import type { BackendEntry, BackendRegistry } from "../backends/registry.ts";
import type { ResolvedPolicy } from "../policy/policy.ts";
import { emptyPolicy, withoutVanishedSockets } from "../protect/mountable.ts";
import type { BackendConfig, BackendCoverage, BackendPreparation, MountablePolicy } from "../types.ts";
import type { RunContext } from "./context.ts";
import type { PolicySnapshots } from "./policy_snapshots.ts";
import type { SandboxOptions } from "./options.ts";

export class BackendInUse {
  /** `auto`, `required`, or the name of a backend. */
  readonly mode: string;
  readonly #context: RunContext;
  readonly #snapshots: PolicySnapshots;
  readonly #registry: BackendRegistry;
  readonly #ignoreCache: boolean;
  /** Reduced settings of backends that did not work with the person's settings. */
  readonly #retried = new Map<string, BackendConfig>();
  #detected: { generation: number; answer: Promise<Outcome<FoundBackend>> } | undefined;

  constructor(
    context: RunContext,
    snapshots: PolicySnapshots,
    options: Pick<SandboxOptions, "registry" | "ignoreCache">,
  ) {
    this.#context = context;
    this.#snapshots = snapshots;
    this.#registry = options.registry ?? backends;
    this.#ignoreCache = options.ignoreCache ?? false;
    this.mode = context.settings.backend;
  }

  /**
   * Returns the backend that wraps commands. It exists on this machine and was probed under this policy. The result is
   * cached until backends are registered or removed; a failure that may be temporary is not cached.
   */
  async find(): Promise<Outcome<BackendEntry>> {
    const found = await this.#find();
    return found.ok ? success(found.value.entry) : found;
  }

  /** Why calls wait although a backend works; null if they need not, or if none works. */
  async whyCallsWait(): Promise<Problem | null> {
    const found = await this.#find();
    return found.ok ? found.value.whyCallsWait : null;
  }

  #find(): Promise<Outcome<FoundBackend>> {
    const { generation } = this.#registry;
    if (this.#detected?.generation !== generation) {
      const answer = detect(this.#registry, this.mode, (entry) => this.#diagnose(entry)).then((found) => {
        // Backends that were tried later may have set this differently.
        if (found.ok) this.#snapshots.repairs = found.value.entry.repairs === true;
        return found;
      });
      const detected = this.#detected = { generation, answer };
      answer.then((found) => {
        // A failure that may be temporary is not cached, so the next call tries again.
        const passing = !found.ok && found.problem.code === "backend-setup";
        if (passing && this.#detected === detected) this.#detected = undefined;
      });
    }
    return this.#detected!.answer;
  }

  /**
   * Discards the snapshot, the backend and the recorded probe, so that the next command gets new ones. Call this after
   * the set-up of a command failed.
   */
  async failed({ fingerprint }: BackendPreparation, command: readonly string[]): Promise<void> {
    this.#snapshots.forget();
    this.#detected = undefined;
    await forgetProbe(fingerprint, command, this.#context.host);
  }

  /**
   * Wraps a command under a policy. Fails with the backend's problem, or with `backend-failed` if the backend throws.
   */
  async wrap(
    entry: BackendEntry,
    resolved: ResolvedPolicy,
    mountable: MountablePolicy,
    inner: readonly string[],
    config = this.configOf(entry),
  ): Promise<Outcome<BackendPreparation>> {
    try {
      if (entry.prepare) return await entry.prepare(mountable, config, inner, this.#context.host);
      const argv = entry.wrap(resolved, config, inner);
      return argv.ok ? success(silent(argv.value)) : argv;
    } catch (thrown) {
      return failure("backend-failed", `The sandbox backend ${entry.name} failed: ${thrownText(thrown)}`);
    }
  }

  /** What the backend does not cover of the policy; null if it covers all. */
  async coverage(entry: BackendEntry): Promise<Outcome<BackendCoverage | null>> {
    const { policy } = this.#context;
    if (!policy.ok) return policy;
    if (entry.coverage === undefined) return success(null);
    const snapshot = this.#snapshots.lastHolding(true) ?? this.#snapshots.take(policy.value);
    return await entry.coverage(snapshot.policy);
  }

  /** The settings of a backend: the person's, or the reduced ones it works with. */
  configOf({ name }: BackendEntry): BackendConfig {
    return this.#retried.get(name) ?? this.#context.settings.backends[name] ?? {};
  }

  /** Tests a backend, and asks what it covers of the policy. */
  async #diagnose(entry: BackendEntry): Promise<BackendDiagnosis> {
    this.#snapshots.repairs = entry.repairs === true;
    const diagnosis = await this.#test(entry);
    if (diagnosis.kind !== "works") return diagnosis;
    const coverage = await this.coverage(entry);
    if (!coverage.ok) return { kind: "unknown", problem: coverage.problem };
    return { ...diagnosis, repairs: coverage.value?.kind === "repaired" };
  }

  /**
   * Checks that the backend is present, then runs the no-op command under this policy. If that fails, runs it under
   * the empty policy.
   */
  async #test(entry: BackendEntry): Promise<BackendDiagnosis> {
    const { policy, host } = this.#context;
    if (!policy.ok) return { kind: "unknown", problem: policy.problem };
    const resolved = policy.value;
    const config = this.configOf(entry);
    const present = await entry.available(config, host);
    if (!present.ok) return { kind: "cannot", problem: present.problem };
    if (entry.probe) {
      const answer = await entry.probe(resolved, config);
      return answer.ok ? { kind: "works", config } : { kind: "unknown", problem: answer.problem };
    }
    const empty = emptyPolicy(resolved.allow_privileged);
    const programOf = () => this.#programOf(entry, empty, config);
    const cached = this.#ignoreCache ? null : await readCachedFailure(entry.name, programOf, host);
    if (cached !== null) return { kind: "cannot", problem: cached };
    const diagnosis = await diagnoseBackend(config, {
      real: async (config) => {
        const { policy } = this.#snapshots.lastHolding(true) ?? this.#snapshots.take(resolved);
        const answer = await this.#try(entry, resolved, withoutVanishedSockets(policy), config);
        // The snapshot may have caused the failure, so it is discarded.
        if (!answer.ok) this.#snapshots.forget();
        return answer;
      },
      empty: (config) => this.#try(entry, { ...resolved, ...empty }, empty, config),
      less: (config, problem) => entry.retry?.(config, problem) ?? null,
      ofMachine: (words) => isOfMachine(words, readMachine()),
    });
    if (diagnosis.kind === "works") this.#retried.set(entry.name, diagnosis.config);
    if (diagnosis.kind === "cannot") await saveFailure(entry.name, programOf, diagnosis.problem, host);
    else if (this.#ignoreCache) await forgetFailure(entry.name, host);
    return diagnosis;
  }

  async #try(
    entry: BackendEntry,
    resolved: ResolvedPolicy,
    mountable: MountablePolicy,
    config: BackendConfig,
  ): Promise<Outcome<void>> {
    const preparation = await this.wrap(entry, resolved, mountable, EMPTY_COMMAND, config);
    if (!preparation.ok) return preparation;
    return await probe(preparation.value, this.#context.host, { again: this.#ignoreCache });
  }

  /** The program of a backend that can report its own set-up; null for others, whose failures are not cached. */
  async #programOf(
    entry: BackendEntry,
    empty: MountablePolicy,
    config: BackendConfig,
  ): Promise<string | null> {
    if (!entry.prepare) return null;
    const prepared = await entry.prepare(empty, config, EMPTY_COMMAND, this.#context.host);
    if (!prepared.ok) return null;
    await prepared.value.dispose();
    const [program = ""] = prepared.value.fingerprint;
    return program.startsWith("/") ? program : null;
  }
}

/** The preparation for a backend that only has `wrap`. It cannot tell its own failures from those of the command. */
function silent(argv: readonly string[]): BackendPreparation {
  return {
    argv,
    fingerprint: argv,
    setupFailure: () => Promise.resolve(null),
    dispose: () => Promise.resolve(),
  };
}
