// Signatures that bind thinking to the account and the model that made it, as the APIs do.

import { quickHash } from "../../base/hash.ts";
import { isObject } from "../../base/is_object.ts";
import type { Asked } from "./dialect.ts";

/** What such a signature says. */
export interface BoundSignature {
  readonly replay: "sealed";
  /** Name of the thinking, which makes the signature unique. */
  readonly name: string;
  readonly model: string;
  readonly account: string;
}

/** Returns the account of a request: its Vertex AI project, or a digest of its key. */
export function requestAccount({ path, headers }: Pick<Asked, "path" | "headers">): string {
  const project = /\/projects\/([^/]+)\//.exec(path)?.[1];
  return project ?? keyDigest(headers);
}

/** Returns a digest of a request's key, which is the same for the same key. */
export function keyDigest(headers: Headers): string {
  const names = ["x-api-key", "x-goog-api-key", "authorization"];
  return quickHash(names.map((name) => headers.get(name) ?? "").join(" "));
}

/** Writes the signature of thinking in the reply to a request. */
export function writeSealed(name: string, model: string, asked: Pick<Asked, "path" | "headers">): string {
  const sealed: BoundSignature = { replay: "sealed", name, model, account: requestAccount(asked) };
  return btoa(JSON.stringify(sealed));
}

/** Reads such a signature; null if it is another one. */
export function readSealed(signature: unknown): BoundSignature | null {
  try {
    const value: unknown = JSON.parse(atob(String(signature)));
    return isObject(value) && value.replay === "sealed" ? value as unknown as BoundSignature : null;
  } catch {
    // A signature from the script or a real API cannot be checked.
    return null;
  }
}
