// Slash commands that a person types in a client. They are answered here and never sent to a model.

import { codeSpan, plainWords } from "../rpc/markdown.ts";
import { joinNames } from "../../base/names.ts";
import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { ChatSession } from "../../agent/types.ts";
import { type Outcome, problemLine } from "../../base/problem.ts";
import type { PromptText } from "./prompt_text.ts";
import { RpcRefusal } from "../rpc/peer.ts";

/** The commands, as listed to clients. */
export const SLASH_COMMANDS: AvailableCommand[] = [
  { name: "status", description: "Show waiting calls and the settings that decide about them." },
  { name: "approve", description: "Approve a waiting call.", input: { hint: "id of the call" } },
  { name: "model", description: "Use another model from now on.", input: { hint: "name of the model" } },
];

export interface SlashHost {
  openReadOnly(): Promise<Outcome<ChatSession>>;
  open(): Promise<Outcome<ChatSession>>;
  choose(model: string): Promise<unknown>;
}

/** Executes a prompt that is a slash command; null for any other prompt. */
export async function slashCommand(
  { text, isTyped }: Pick<PromptText, "text" | "isTyped">,
  host: SlashHost,
): Promise<string | null> {
  // The name of a resource, which others choose, must not approve a call.
  if (!isTyped) return null;
  const [, name, rest = ""] = /^\/(status|approve|model)(?:\s+(\S+))?\s*$/.exec(text) ?? [];
  switch (name) {
    case "status":
      return await status(host);
    case "approve":
      return await approve(host, rest);
    case "model": {
      const answer = await host.choose(rest);
      return answer instanceof RpcRefusal ? answer.message : `From now on, the model is ${rest}.`;
    }
    default:
      return null;
  }
}

async function status({ openReadOnly }: SlashHost): Promise<string> {
  const opened = await openReadOnly();
  if (!opened.ok) return plainWords(opened.problem.message);
  await using session = opened.value;
  const calls = await session.calls();
  const lines = calls.map(({ status, preview, line, id, doubt }) =>
    `- ${status}: ${codeSpan(preview)} (${plainWords(id)}, line ${line})` +
    (doubt === null ? "" : `; waits for you: ${plainWords(doubt)}`)
  );
  return [
    `The document is ${codeSpan(session.path ?? "-")}.`,
    ...(lines.length === 0 ? ["No calls are waiting."] : lines),
  ].join(
    "\n",
  );
}

async function approve({ open }: SlashHost, id: string): Promise<string> {
  const opened = await open();
  if (!opened.ok) return plainWords(opened.problem.message);
  await using session = opened.value;
  const approved = await session.approve(id === "" ? { kind: "only" } : id);
  if (approved.ok) {
    return plainWords(`${joinNames(approved.value)} is approved. Send any message to continue.`);
  }
  return plainWords(problemLine(approved.problem));
}
