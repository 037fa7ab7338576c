// State about commands and the parts of the document they could have written, computed from journal entries. Pure.

import { isObject } from "../../base/is_object.ts";
import type { Approval, TamperCheck, TamperedParts } from "../types.ts";

/** Entries that change this state; approvals change it too. */
export type UnsettledEntry =
  | ({ readonly kind: "exposed" } & TamperCheck)
  | { readonly kind: "settled"; readonly suspects: TamperedParts | null };

export interface Unsettled {
  /** State that was recorded before commands started and not settled since; else null. */
  readonly exposure: TamperCheck | null;
  /** Parts that a command could have written and that nobody confirmed. */
  readonly suspects: TamperedParts | null;
}

export const NOTHING_UNSETTLED: Unsettled = { exposure: null, suspects: null };

export function afterEntry(
  state: Unsettled,
  entry: UnsettledEntry | ({ readonly kind: "approval"; readonly id: string } & Approval),
): Unsettled {
  switch (entry.kind) {
    case "exposed": {
      const { kind: _, ...tamperCheck } = entry;
      return { ...state, exposure: tamperCheck };
    }
    case "settled":
      return { exposure: null, suspects: entry.suspects };
    case "approval":
      return { exposure: withApproval(state.exposure, entry), suspects: without(state.suspects, entry.id) };
  }
}

/** Returns the entries that lead to a state. */
export function entriesOf({ exposure: tamperCheck, suspects: tampered }: Unsettled): UnsettledEntry[] {
  return [
    ...(tampered === null ? [] : [{ kind: "settled" as const, suspects: tampered }]),
    ...(tamperCheck === null ? [] : [{ kind: "exposed" as const, ...tamperCheck }]),
  ];
}

/** Approvals that this program records while commands run need no confirmation. */
function withApproval(
  tamperCheck: TamperCheck | null,
  { id, hash, permits = hash, asked }: Approval & { readonly id: string },
): TamperCheck | null {
  if (tamperCheck === null) return null;
  const { [id]: _, ...others } = tamperCheck.approved;
  return { ...tamperCheck, approved: asked === true ? others : { ...others, [id]: permits } };
}

/** A person who decides a call, or is asked about it again, has seen its text. */
function without(tampered: TamperedParts | null, id: string): TamperedParts | null {
  if (tampered === null) return null;
  const { [id]: _, ...calls } = tampered.calls;
  return Object.keys(calls).length === 0 && tampered.block === null ? null : { ...tampered, calls };
}

/** The state after more parts were found that a command could have written. */
export function withSuspects(state: Unsettled, more: TamperedParts | null): Unsettled {
  if (more === null) return state;
  const before = state.suspects;
  const calls = { ...before?.calls, ...more.calls };
  return { ...state, suspects: { why: more.why, calls, block: more.block ?? before?.block ?? null } };
}

export function isReachEntry(value: Readonly<Record<string, unknown>>): boolean {
  if (value.kind === "left") return value.suspects === null || isTamperedParts(value.suspects);
  const { owner, approved } = value;
  return isHashes(approved) && isObject(owner) && typeof owner.pid === "number" &&
    typeof owner.started === "string";
}

export function isUnsettledEntry(value: Readonly<Record<string, unknown>>): boolean {
  switch (value.kind) {
    case "exposed":
      return typeof value.name === "string" && typeof value.leads === "string" && isHashes(value.approved) &&
        typeof value.block === "string" && (value.file === null || isObject(value.file)) &&
        (value.owners === undefined || (Array.isArray(value.owners) && value.owners.every(isOwner)));
    case "settled":
      return value.suspects === null || isTamperedParts(value.suspects);
    default:
      return false;
  }
}

function isOwner(value: unknown): boolean {
  return isObject(value) && typeof value.id === "string" && typeof value.machine === "string" &&
    isObject(value.owner) && typeof value.owner.pid === "number" && typeof value.owner.started === "string";
}

function isTamperedParts(value: unknown): boolean {
  return isObject(value) && typeof value.why === "string" && isHashes(value.calls) &&
    (value.block === null || typeof value.block === "string");
}

function isHashes(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((hash) => typeof hash === "string");
}
