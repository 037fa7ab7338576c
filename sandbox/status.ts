// What the sandbox is at this moment, as one value and as text for a person (sandbox section 10).

import type { Problem } from "../config/problem.ts";
import type { DroppedEntry } from "./policy.ts";
import type { RunSandbox } from "./sandbox.ts";

export interface SandboxStatus {
  readonly enabled: boolean;
  /** `auto`, `required`, or the name of a backend. */
  readonly mode: string;
  /** The backend that wraps commands, or null. */
  readonly backend: string | null;
  readonly description: string | null;
  /** Version of the program behind the backend. */
  readonly version: string | null;
  /** Whether an empty command ran under this policy, and the result confines something. */
  readonly available: boolean;
  /** Why not, when `available` is false. */
  readonly error: Problem | null;
  readonly network: "allowed" | "blocked";
  readonly privileged: boolean;
  readonly writable: readonly { readonly path: string; readonly entry: string; readonly exists: boolean }[];
  readonly dropped: readonly DroppedEntry[];
  /** Real paths that stay read-only inside writable ones; missing ones are refused to tools but not mounted. */
  readonly protected: readonly { readonly path: string; readonly exists: boolean }[];
  /** What is in force beyond the policy, in sentences. */
  readonly hardening: readonly string[];
  readonly notices: readonly Problem[];
}

/** Describes a sandbox; runs the probe when it is enabled. */
export async function sandboxStatus(sandbox: RunSandbox): Promise<SandboxStatus> {
  const answer = await sandbox.available();
  const backend = sandbox.enabled ? await sandbox.backend() : null;
  const entry = backend?.ok ? backend.value : null;
  const policy = sandbox.policy();
  const resolved = policy.ok ? policy.value : null;
  return {
    enabled: sandbox.enabled,
    mode: sandbox.mode,
    backend: entry?.name ?? null,
    description: entry?.description ?? null,
    version: entry === null ? null : await sandbox.versionOf(entry),
    available: answer.ok,
    error: answer.ok ? null : answer.problem,
    network: resolved?.network === false ? "blocked" : "allowed",
    privileged: resolved?.allow_privileged ?? false,
    writable: (resolved?.writable ?? []).map(({ path, entry }) => ({ path, entry, exists: exists(path) })),
    dropped: resolved?.dropped ?? [],
    protected: sandbox.protectedPaths()
      .filter(({ asked, exists }) => asked || exists)
      .map(({ path, exists }) => ({ path, exists })),
    hardening: entry === null ? [] : hardening(sandbox, resolved?.allow_privileged ?? false),
    notices: sandbox.notices(),
  };
}

/** 0 when the sandbox is usable or switched off on purpose, 1 when it is wanted and does not work (cli section 7). */
export function statusExitCode(status: SandboxStatus): 0 | 1 {
  return status.enabled && !status.available ? 1 : 0;
}

/** The status as lines of plain text, the verdict first. */
export function renderStatus(status: SandboxStatus): string {
  const lines = [verdict(status)];
  if (status.enabled && status.error?.next) lines.push(`  ${status.error.next}`);
  lines.push(`backend   ${backendLine(status)}`);
  lines.push(`network   ${status.network}`);
  lines.push(`privilege ${status.privileged ? "kept (allow_privileged)" : "dropped"}`);
  lines.push("writable");
  if (status.writable.length === 0) lines.push("  nothing");
  for (const { path, entry, exists } of status.writable) {
    lines.push(`  ${path}${entry === path ? "" : `  from ${entry}`}${exists ? "" : "  (missing)"}`);
  }
  for (const { entry, reason } of status.dropped) lines.push(`  left out: ${entry} because ${reason}`);
  lines.push("protected");
  if (status.protected.length === 0) lines.push("  nothing");
  for (const { path, exists } of status.protected) lines.push(`  ${path}${exists ? "" : "  (missing)"}`);
  for (const sentence of status.hardening) lines.push(`note      ${sentence}`);
  for (const { message, next } of status.notices) {
    lines.push(`notice    ${message}${next ? ` ${next}` : ""}`);
  }
  return `${lines.join("\n")}\n`;
}

function verdict({ enabled, available, mode, error }: SandboxStatus): string {
  if (!enabled) return "sandbox   off";
  if (available) return "sandbox   on, and it works";
  const effect = error?.code === "backend-unavailable" && mode === "auto"
    ? "commands would run bare"
    : error?.code === "sandbox-privileged-root"
    ? "commands are wrapped all the same"
    : "commands are refused";
  return `sandbox   on, but not usable (${effect}): ${error?.message ?? "the reason is not known."}`;
}

function backendLine({ backend, version, mode }: SandboxStatus): string {
  const name = backend === null ? "none" : version === null ? backend : `${backend} ${version}`;
  return `${name}  (mode ${mode})`;
}

function hardening(sandbox: RunSandbox, privileged: boolean): string[] {
  const sentences: string[] = [];
  if (sandbox.host.root) {
    sentences.push(
      privileged
        ? "This is the superuser with its privileges: the sandbox is no barrier."
        : "This is the superuser: all capabilities are dropped for commands.",
    );
  }
  if (sandbox.host.container) sentences.push("This machine looks like a container.");
  return sentences;
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
