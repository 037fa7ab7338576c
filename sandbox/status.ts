// What the sandbox is at this moment, as one value and as text for a person (sandbox section 10).

import { canBeSeen } from "../base/files.ts";
import type { Outcome, Problem } from "../base/problem.ts";
import type { BackendEntry } from "./backends/registry.ts";
import type { ResourceLimits } from "../config/settings/sandbox.ts";
import type { DroppedEntry } from "./policy/writable.ts";
import type { RunSandbox } from "./sandbox.ts";

/** How tools are confined. */
export interface SandboxStatus {
  /** Whether the settings want a sandbox. */
  readonly enabled: boolean;
  /** `auto`, `required`, or the name of a backend. */
  readonly mode: string;
  /** What becomes of a command now: with a backend, without one, or without a policy. */
  readonly commands: "confined" | "unconfined" | "refused";
  /** The backend that wraps commands, or null. */
  readonly backend: string | null;
  /** What the backend says of itself. */
  readonly description: string | null;
  /** Version of the program behind the backend. */
  readonly version: string | null;
  /** Whether an empty command ran under this policy, and the result confines something. */
  readonly available: boolean;
  /** Why not, when `available` is false. */
  readonly error: Problem | null;
  /** How far commands reach over the network. */
  readonly network: "allowed" | "blocked" | "list";
  /** The listed hosts; empty unless `network` is `list`. */
  readonly hosts: readonly string[];
  /** Whether commands may gain rights. */
  readonly privileged: boolean;
  /** The writable paths, their entries, and whether they are there. */
  readonly writable: readonly { readonly path: string; readonly entry: string; readonly exists: boolean }[];
  /** Entries without effect. */
  readonly dropped: readonly DroppedEntry[];
  /** Real paths that stay read-only inside writable ones; missing ones are watched, not mounted. */
  readonly protected: readonly { readonly path: string; readonly exists: boolean }[];
  /** What this program itself runs from, protected too where commands could write to it. */
  readonly program: readonly string[];
  /** Real paths that cannot be read. */
  readonly hidden: readonly { readonly path: string; readonly exists: boolean }[];
  /** Sockets of the host: covered ones and ones that stay. */
  readonly sockets: {
    /** Sockets, and folders of them, that commands cannot reach. */
    readonly masked: readonly string[];
    /** Sockets that stay reachable because the policy lists them. */
    readonly kept: readonly string[];
    /** Whether local sockets are refused altogether. */
    readonly blocked: boolean;
  };
  /** The limits that are set. */
  readonly limits: ResourceLimits;
  /** What is in force beyond the policy, and what is not, in sentences. */
  readonly hardening: readonly string[];
  /** Things to tell a person. */
  readonly notices: readonly Problem[];
}

/** Describes a sandbox; runs the probe when it is enabled. */
export async function sandboxStatus(sandbox: RunSandbox): Promise<SandboxStatus> {
  const answer = await sandbox.available();
  const backend = sandbox.enabled ? await sandbox.backend() : null;
  const entry = backend?.ok ? backend.value : null;
  const commands = fateOf(sandbox, backend);
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
      blocked: resolved?.block_unix_sockets ?? false,
    },
    limits: resolved?.limits ?? {},
    hardening: entry === null
      ? []
      : hardening(sandbox, sandbox.hardeningOf(entry), resolved?.allow_privileged),
    // The reason of an answer stands above already.
    notices: sandbox.notices().filter(({ message }) => answer.ok || message !== answer.problem.message),
  };
}

/** The same question as a command's: wrapped, bare, or not at all (sandbox section 5). */
function fateOf(sandbox: RunSandbox, backend: Outcome<BackendEntry> | null): SandboxStatus["commands"] {
  if (backend === null) return "unconfined";
  if (backend.ok) return backend.value.confines === false ? "unconfined" : "confined";
  return sandbox.mode === "auto" && backend.problem.code === "backend-unavailable" ? "unconfined" : "refused";
}

/** 0 when the sandbox is usable or switched off on purpose, 1 when it is wanted and does not work (cli section 7). */
export function statusExitCode(status: SandboxStatus): 0 | 1 {
  return status.enabled && !status.available ? 1 : 0;
}

/**
 * The status as lines of plain text, the verdict first. What holds for commands stands only where they are confined; of
 * the rest the program's own tools keep what a disabled sandbox does not lift.
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
    lines.push("commands  run with all your rights: files, network, sockets and privileges");
    lines.push("  what follows holds for the tools of this program only");
  } else lines.push("commands  do not run", "  what follows holds for the other tools of this program");
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
    ...dropped.map(({ entry, reason }) => `  left out: ${entry} because ${reason}`),
  ];
}

/** Sockets and limits, which only a backend keeps. */
function confinementLines({ sockets: { masked, kept, blocked }, limits }: SandboxStatus): string[] {
  const set = Object.entries(limits).map(([name, value]) => `${name} ${value}`);
  return [
    `sockets${blocked ? "   all refused" : ""}`,
    ...masked.map((path) => `  ${path}  masked`),
    ...kept.map((path) => `  ${path}  kept`),
    ...(masked.length + kept.length === 0 && !blocked ? ["  none found to mask"] : []),
    `limits    ${set.length === 0 ? "none" : set.join(", ")}`,
  ];
}

function describeAvailability({ enabled, available, commands, error }: SandboxStatus): string {
  if (!enabled) return "sandbox   off";
  if (available) return "sandbox   on, and it works";
  const effect = commands === "unconfined"
    ? "commands would run bare"
    : commands === "confined"
    ? "commands are wrapped all the same"
    : "commands are refused";
  return `sandbox   on, but not usable (${effect}): ${error?.message ?? "the reason is not known."}`;
}

function backendLine({ backend, version, mode, description }: SandboxStatus): string {
  if (backend === "container") return `${description ?? backend}  (mode ${mode})`;
  const name = backend === null ? "none" : version === null ? backend : `${backend} ${version}`;
  return `${name}  (mode ${mode})`;
}

function hardening(sandbox: RunSandbox, ofBackend: readonly string[], privileged = false): string[] {
  return [
    ...(sandbox.host.root && privileged
      ? ["This is the superuser with its privileges: the sandbox is no barrier."]
      : []),
    ...ofBackend,
    ...(sandbox.host.container ? ["This machine looks like a container."] : []),
  ];
}
