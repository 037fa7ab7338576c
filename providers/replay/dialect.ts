// The interface of an API that a replay server imitates: path, request view and reply frames.

import { isObject } from "../../base/is_object.ts";
import type { RequestView } from "./expect.ts";
import type { ScriptedReply } from "./script.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export interface Asked {
  readonly path: string;
  /** The exact body of the request, as text. */
  readonly text: string;
  readonly body: JsonObject;
  readonly headers: Headers;
}

/** The imitated APIs other than Anthropic's. */
export type DialectName = "chat" | "google" | "openai";

export interface Dialect {
  readonly name: DialectName;
  /** True if the path belongs to the API's method. */
  serves(path: string): boolean;
  modelOf(asked: Asked): string;
  view(body: JsonObject): RequestView;
  /**
   * Returns the frames of a reply to a request, each a whole server-sent event; `number` counts the server's replies
   * from 1.
   */
  frames(scripted: ScriptedReply, asked: Asked, number: number): readonly string[];
  errorBody(status: number, message: string): JsonObject;
}

/** Splits a text into pieces as small as a model sends, never within a character. */
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

/** Joins the texts of a content, which is a string or a list of parts. */
export function joinTexts(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content).filter(isObject).map(({ text }) => typeof text === "string" ? text : "").join("");
}
