// Protocol between a run and its file helper: frames of a length and JSON, both ways over the helper's pipes.

import { concat } from "../../base/bytes.ts";
import type { PathView } from "../../sandbox/types.ts";
import type { PackedError } from "../../base/disk/failures.ts";

/** The first frame to the helper. */
export interface Greeting {
  /** The part of the file system that tools see. */
  readonly view: PathView;
  /** Device numbers of the system's own file systems, which the helper cannot query. */
  readonly systemDevices: readonly number[];
  /** Absolute path of rg, or null. */
  readonly rg: string | null;
}

/** Every frame to the helper after the greeting. */
export type ToHelper =
  | { readonly id: number; readonly operation: string; readonly request: object }
  | { readonly cancel: number };

/** Frames from the helper. */
export type FromHelper =
  /** The helper has started inside the sandbox. */
  | { readonly ready: true }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: PackedError }
  /** The helper has reached the point from which on the work must not be interrupted. */
  | { readonly id: number; readonly overwriting: true };

/** Maximum length of a frame in bytes; a longer one is invalid. */
const MOST_BYTES = 1024 * 1024 * 1024;
const HEAD = 4;

const encoder = new TextEncoder();

/** Encodes a value as a frame. */
export function frameOf(value: object): Uint8Array<ArrayBuffer> {
  return encodeFrame(encoder.encode(JSON.stringify(value)));
}

/** Encodes bytes as a frame. */
export function encodeFrame(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(HEAD + bytes.length);
  new DataView(frame.buffer).setUint32(0, bytes.length);
  frame.set(bytes, HEAD);
  return frame;
}

/** Decodes frames from chunks. */
export class FrameReader {
  #parts: Uint8Array[] = [];
  #buffered = 0;

  /** Values of the frames that are complete so far. Throws if the input is not a valid frame. */
  push(chunk: Uint8Array): unknown[] {
    this.#parts.push(chunk.slice());
    this.#buffered += chunk.length;
    const values: unknown[] = [];
    for (let frame = this.#next(); frame !== null; frame = this.#next()) {
      values.push(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(frame)));
    }
    return values;
  }

  #next(): Uint8Array | null {
    if (this.#buffered < HEAD) return null;
    // Chunks are joined only when a frame is complete, because joining them at each chunk would copy a long frame many
    // times.
    if (this.#parts.length > 1 && this.#parts[0]!.length < HEAD) this.#join();
    const first = this.#parts[0]!;
    const length = new DataView(first.buffer, first.byteOffset).getUint32(0);
    if (length > MOST_BYTES) throw new Error(`a frame of ${length} bytes`);
    if (this.#buffered < HEAD + length) return null;
    if (this.#parts.length > 1) this.#join();
    const whole = this.#parts[0]!;
    this.#parts = [whole.subarray(HEAD + length)];
    this.#buffered -= HEAD + length;
    return whole.subarray(HEAD, HEAD + length);
  }

  #join(): void {
    this.#parts = [concat(this.#parts)];
  }
}
