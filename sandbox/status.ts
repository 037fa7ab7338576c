// The current state of the sandbox, as a value and as text for a person.

import { canBeSeen } from "../base/files.ts";
import type { Outcome, Problem } from "../base/problem.ts";
import type { BackendEntry } from "./backends/registry.ts";
import type { ResourceLimits } from "../config/values.ts";
import type { DroppedEntry } from "./policy/writable.ts";
import type { RunSandbox } from "./sandbox.ts";

/** How tools are confined. */
export interface SandboxStatus {
  /** True if the settings turn the sandbox on. */
  readonly enabled: boolean;
  /** `auto`, `required`, or the name of a backend. */
  readonly mode: string;
  /** What happens to a command now: it runs with a backend, without one, or not at all. */
  readonly commands: "confined" | "unconfined" | "refused";
  /** The backend that wraps commands, or null. */
  readonly backend: string | null;
  /** The backend's description of itself. */
  readonly description: string | null;
  /** Version of the program behind the backend. */
  readonly version: string | null;
  /** True if a no-op command ran under this policy, and the backend confines something. */
  readonly available: boolean;
  /** Reason why the sandbox is not available, if `available` is false. */
  readonly error: Problem | null;
  /** What commands can reach over the network. */
  readonly network: "allowed" | "blocked" | "list";
  /** The listed hosts; empty unless `network` is `list`. */
  readonly hosts: readonly string[];
  /** True if commands may gain rights. */
  readonly privileged: boolean;
  /** The writable paths, the settings entries they come from, and whether they exist. */
  readonly writable: readonly { readonly path: string; readonly entry: string; readonly exists: boolean }[];
  /** Settings entries that have no effect. */
  readonly dropped: readonly DroppedEntry[];
  /** Real paths that stay read-only inside writable ones. Missing paths are watched, not mounted. */
  readonly protected: readonly { readonly path: string; readonly exists: boolean }[];
  /** Files this program runs from, also protected if commands could write to them. */
  readonly program: readonly string[];
  /** Real paths that cannot be read. */
  readonly hidden: readonly { readonly path: string; readonly exists: boolean }[];
  /** Sockets of the host, masked and reachable ones. */
  readonly sockets: {
    /** Sockets and folders of sockets that commands cannot reach. */
    readonly masked: readonly string[];
    /** Sockets that stay reachable because the policy lists them. */
    readonly kept: readonly string[];
    /** True if commands are refused every local socket. */
    readonly blocked: boolean;
  };
  /** The limits that are set. */
  readonly limits: ResourceLimits;
  /**
   * `exact` or `repaired`: whether the backend keeps protected files unchanged, or restores them after a command. Null if
   * no backend works.
   */
  readonly kind: "exact" | "repaired" | null;
  /** Version of the kernel interface that the backend uses; null if it uses none. */
  readonly abi: number | null;
  /** What commands can do although the policy forbids it. */
  readonly notCovered: readonly string[];
  /** Sentences that say which protections apply beyond the policy, and which do not. */
  readonly hardening: readonly string[];
  /** Notices for the person. */
  readonly notices: readonly Problem[];
}

/**
 * Describes a sandbox. Probes the backend if the sandbox is enabled.
 *
 * @param sandbox the sandbox of a run
 * @returns the state of the sandbox at this moment
 */
export async function sandboxStatus(sandbox: RunSandbox): Promise<SandboxStatus> {
  const answer = await sandbox.available();
  const backend = sandbox.enabled ? await sandbox.backend() : null;
  const entry = backend?.ok ? backend.value : null;
  const commands = fateOf(sandbox, backend);
  const coverage = entry === null ? null : await sandbox.coverageOf(entry);
  const policy = sandbox.policy();
  const resolved = policy.ok ? policy.value : null;
  const sockets = sandbox.sockets();
  const hosts = resolved?.network_allow ?? [];
  const program = sandbox.ownCode();
  return {
    enabled: sandbox.enabled,
    mode: sandbox.mode,
    commands,
    backend: entry?.name ?? null,
    description: entry?.description ?? null,
    version: entry === null ? null : await sandbox.versionOf(entry),
    available: answer.ok,
    error: answer.ok ? null : answer.problem,
    network: resolved === null || resolved.network ? "allowed" : hosts.length > 0 ? "list" : "blocked",
    hosts: resolved?.network ? [] : hosts,
    privileged: resolved?.allow_privileged ?? false,
    writable: (resolved?.writable ?? []).map(({ path, entry }) => ({ path, entry, exists: canBeSeen(path) })),
    dropped: resolved?.dropped ?? [],
    protected: sandbox.protectedPaths()
      .filter(({ path, asked, exists }) => (asked || exists) && !program.includes(path))
      .map(({ path, exists }) => ({ path, exists })),
    program,
    hidden: (resolved?.deny_read ?? []).map((path) => ({ path, exists: canBeSeen(path) })),
    sockets: {
      masked: [...sockets.runtime, ...sockets.masked],
      kept: sockets.kept,
      blocked: sandbox.refusesSockets(entry),
    },
    limits: resolved?.limits ?? {},
    kind: commands === "confined" ? coverage?.kind ?? "exact" : null,
    abi: coverage?.abi ?? null,
    notCovered: coverage?.notCovered ?? [],
    hardening: entry === null
      ? []
      : hardening(sandbox, sandbox.hardeningOf(entry), resolved?.allow_privileged),
    // The reason is left out if `error` already states it.
    notices: [...sandbox.limits(), ...sandbox.notices()].filter(({ message }) =>
      answer.ok || message !== answer.problem.message
    ),
  };
}

/**
 * Decides whether commands run in the sandbox, run without a sandbox, or do not run. The decision is the same as that
 * of `prepare`.
 */
function fateOf(sandbox: RunSandbox, backend: Outcome<BackendEntry> | null): SandboxStatus["commands"] {
  if (backend === null) return "unconfined";
  if (backend.ok) return backend.value.confines === false ? "unconfined" : "confined";
  return sandbox.mode === "auto" && backend.problem.code === "backend-unavailable" ? "unconfined" : "refused";
}

/** Exit code: 0 if the sandbox works or is switched off on purpose, 1 if it is enabled but does not work. */
export function statusExitCode(status: SandboxStatus): 0 | 1 {
  return status.enabled && !status.available ? 1 : 0;
}

/**
 * Renders the status as plain text, availability first. Rows about commands appear only if commands are confined. The
 * other rows then describe what the program's own tools enforce, even with the sandbox off.
 */
export function renderStatus(status: SandboxStatus): string {
  const lines = [describeAvailability(status)];
  if (status.enabled && status.error?.next) lines.push(`  ${status.error.next}`);
  lines.push(`backend   ${backendLine(status)}`);
  const confined = status.commands === "confined";
  if (confined) {
    lines.push(`network   ${status.network}${status.hosts.length > 0 ? `: ${status.hosts.join(", ")}` : ""}`);
    lines.push(`privilege ${status.privileged ? "kept (allow_privileged)" : "dropped"}`);
  } else if (status.commands === "unconfined") {
    lines.push("commands  run unsandboxed, with all your files, network, sockets and privileges");
    lines.push("  the rest applies only to flemma's own tools");
  } else lines.push("commands  do not run", "  the rest applies to flemma's other tools");
  if (status.enabled) lines.push(...writableLines(status));
  lines.push("protected");
  if (status.protected.length === 0) lines.push("  nothing");
  for (const { path, exists } of status.protected) lines.push(`  ${path}${exists ? "" : "  (missing)"}`);
  if (status.enabled) {
    const hidden = status.hidden.filter(({ exists }) => exists);
    lines.push("hidden");
    if (hidden.length === 0) lines.push("  nothing");
    for (const { path } of hidden) lines.push(`  ${path}`);
  }
  lines.push(`program${confined ? "   protected too" : ""}`);
  for (const path of status.program) lines.push(`  ${path}`);
  if (confined) lines.push(...confinementLines(status));
  if (status.notCovered.length > 0) {
    lines.push(
      "not covered",
      ...status.notCovered.map((line) => `  ${line}`),
    );
  }
  for (const sentence of status.hardening) lines.push(`hardening ${sentence}`);
  for (const { message, next } of status.notices) {
    lines.push(`notice    ${message}${next ? ` ${next}` : ""}`);
  }
  return `${lines.join("\n")}\n`;
}

function writableLines({ writable, dropped }: SandboxStatus): string[] {
  return [
    "writable",
    ...(writable.length === 0 ? ["  nothing"] : []),
    ...writable.map(({ path, entry, exists }) =>
      `  ${path}${entry === path ? "" : `  from ${entry}`}${exists ? "" : "  (missing)"}`
    ),
    ...dropped.map(({ entry, reason }) => `  ignored: ${entry} because ${reason}`),
  ];
}

/** Renders the sockets and limits, which only a backend enforces. */
function confinementLines({ sockets: { masked, kept, blocked }, limits }: SandboxStatus): string[] {
  const set = Object.entries(limits).map(([name, value]) => `${name} ${value}`);
  return [
    `sockets${blocked ? "   all blocked" : ""}`,
    ...masked.map((path) => `  ${path}  masked`),
    ...kept.map((path) => `  ${path}  kept`),
    ...(masked.length + kept.length === 0 && !blocked ? ["  none found to mask"] : []),
    `limits    ${set.length === 0 ? "none" : set.join(", ")}`,
  ];
}

function describeAvailability({ enabled, available, commands, error }: SandboxStatus): string {
  if (!enabled) return "sandbox   off";
  if (available) return "sandbox   on and working";
  if (error?.code === "backend-repairs") return `sandbox   on, but calls wait: ${error.message}`;
  const effect = commands === "unconfined"
    ? "commands would run unsandboxed"
    : commands === "confined"
    ? "commands are still sandboxed"
    : "commands are refused";
  return `sandbox   on, but not usable (${effect}): ${error?.message ?? "the reason is unknown."}`;
}

function backendLine({ backend, version, mode, description, kind, abi }: SandboxStatus): string {
  if (backend === "container") return `${description ?? backend}  (mode ${mode})`;
  const name = backend === null ? "none" : version === null ? backend : `${backend} ${version}`;
  const details = [`mode ${mode}`, ...(abi === null ? [] : [`${kind}, ABI ${abi}`])];
  return `${name}  (${details.join(", ")})`;
}

function hardening(sandbox: RunSandbox, ofBackend: readonly string[], privileged = false): string[] {
  return [
    ...(sandbox.host.root && privileged
      ? ["Commands run as root with its privileges: the sandbox confines nothing."]
      : []),
    ...ofBackend,
    ...(sandbox.host.container ? ["This machine looks like a container."] : []),
  ];
}
