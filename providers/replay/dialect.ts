// What a replay server must know of an API to play it: its address, how it reads and how it speaks.

import { isObject } from "../../base/is_object.ts";
import type { RequestView } from "./expect.ts";
import type { ScriptedReply } from "./script.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** A request that arrived, decoded. */
export interface Asked {
  readonly path: string;
  /** The exact body. */
  readonly text: string;
  readonly body: JsonObject;
  readonly headers: Headers;
}

/** The APIs that are played besides Anthropic's. */
export type DialectName = "chat" | "google" | "openai";

export interface Dialect {
  readonly name: DialectName;
  /** Whether a path is the one of its method. */
  serves(path: string): boolean;
  /** The model that is asked. */
  modelOf(asked: Asked): string;
  view(body: JsonObject): RequestView;
  /** The frames of a reply in order, each a whole server-sent event; `number` counts the replies of a server from 1. */
  frames(scripted: ScriptedReply, model: string, number: number): readonly string[];
  /** The body of an answer that refuses. */
  errorBody(status: number, message: string): JsonObject;
}

/** A text in pieces of about what a model sends at a time, never within a character. */
export function pieces(text: string, size = 12): readonly string[] {
  const characters = [...text];
  return Array.from(
    { length: Math.ceil(characters.length / size) },
    (_, index) => characters.slice(index * size, (index + 1) * size).join(""),
  );
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The texts of a content, which is one text or a list of parts, joined. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content).filter(isObject).map(({ text }) => typeof text === "string" ? text : "").join("");
}
