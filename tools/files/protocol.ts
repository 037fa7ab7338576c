// How a run and its helper talk: frames of a length and JSON, both ways over the helper's pipes.

import { concat } from "../../base/bytes.ts";
import type { PathView } from "../../sandbox/types.ts";
import type { PackedError } from "../../base/disk/failures.ts";

/** The first frame to the helper. */
export interface Greeting {
  /** What of the file system tools see. */
  readonly view: PathView;
  /** Device numbers of the system's own file systems, which the helper cannot ask for. */
  readonly systemDevices: readonly number[];
  /** Absolute path of rg, or null. */
  readonly rg: string | null;
}

/** Every other frame to the helper. */
export type ToHelper =
  | { readonly id: number; readonly operation: string; readonly request: object }
  | { readonly cancel: number };

/** Frames from the helper. */
export type FromHelper =
  /** It has begun: the wall stands. */
  | { readonly ready: true }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: PackedError }
  /** From now on this work must not be ended in the middle. */
  | { readonly id: number; readonly overwriting: true };

/** Longer ones are none of ours. */
const MOST_BYTES = 1024 * 1024 * 1024;
const HEAD = 4;

const encoder = new TextEncoder();

/** A value as a frame. */
export function frameOf(value: object): Uint8Array<ArrayBuffer> {
  return framed(encoder.encode(JSON.stringify(value)));
}

/** Bytes as a frame. */
export function framed(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(HEAD + bytes.length);
  new DataView(frame.buffer).setUint32(0, bytes.length);
  frame.set(bytes, HEAD);
  return frame;
}

/** Puts frames together again. */
export class FrameReader {
  #parts: Uint8Array[] = [];
  #buffered = 0;

  /** The values of the frames that are whole by now. Throws where what comes is no frame of ours. */
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
    // Copied once for a frame, not once for each piece of it.
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
