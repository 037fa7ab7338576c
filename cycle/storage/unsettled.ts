// The state that journal entries lead to about commands and the document they could have written. Pure.

import { isObject } from "../../base/is_object.ts";
import type { Approval, Exposure, Suspects } from "../types.ts";

/** Entries about it; approvals change it too. */
export type UnsettledEntry =
  | ({ readonly kind: "exposed" } & Exposure)
  | { readonly kind: "settled"; readonly suspects: Suspects | null };

export interface Unsettled {
  /** Recorded before commands began, and not settled since. */
  readonly exposure: Exposure | null;
  /** What a command could have written, and nobody confirmed. */
  readonly suspects: Suspects | null;
}

export const NOTHING_UNSETTLED: Unsettled = { exposure: null, suspects: null };

/** The state after one more entry. */
export function afterEntry(
  state: Unsettled,
  entry: UnsettledEntry | ({ readonly kind: "approval"; readonly id: string } & Approval),
): Unsettled {
  switch (entry.kind) {
    case "exposed": {
      const { kind: _, ...exposure } = entry;
      return { ...state, exposure };
    }
    case "settled":
      return { exposure: null, suspects: entry.suspects };
    case "approval":
      return { exposure: withApproval(state.exposure, entry), suspects: without(state.suspects, entry.id) };
  }
}

/** The entries that lead to a state. */
export function entriesOf({ exposure, suspects }: Unsettled): UnsettledEntry[] {
  return [
    ...(suspects === null ? [] : [{ kind: "settled" as const, suspects }]),
    ...(exposure === null ? [] : [{ kind: "exposed" as const, ...exposure }]),
  ];
}

/** Approvals that this program records while commands run need no confirmation. */
function withApproval(
  exposure: Exposure | null,
  { id, hash, asked }: Approval & { readonly id: string },
): Exposure | null {
  if (exposure === null) return null;
  const { [id]: _, ...others } = exposure.approved;
  return { ...exposure, approved: asked === true ? others : { ...others, [id]: hash } };
}

/** A person who decides about a call, or is asked about it again, has seen its text. */
function without(suspects: Suspects | null, id: string): Suspects | null {
  if (suspects === null) return null;
  const { [id]: _, ...calls } = suspects.calls;
  return Object.keys(calls).length === 0 && suspects.block === null ? null : { ...suspects, calls };
}

/** Whether a value read from a file is one of these entries. */
export function isUnsettledEntry(value: Readonly<Record<string, unknown>>): boolean {
  switch (value.kind) {
    case "exposed":
      return typeof value.name === "string" && typeof value.leads === "string" && isHashes(value.approved) &&
        typeof value.block === "string" && (value.file === null || isObject(value.file));
    case "settled":
      return value.suspects === null || isSuspects(value.suspects);
    default:
      return false;
  }
}

function isSuspects(value: unknown): boolean {
  return isObject(value) && typeof value.why === "string" && isHashes(value.calls) &&
    (value.block === null || typeof value.block === "string");
}

function isHashes(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((hash) => typeof hash === "string");
}
