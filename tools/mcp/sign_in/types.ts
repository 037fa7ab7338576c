// A sign-in at an MCP server, and where it is kept.

import type { AuthorizationServerMetadata } from "npm:@modelcontextprotocol/client@2.4.0";
import type { Problem } from "../../../base/problem.ts";
import { operands } from "../../../base/shell_word.ts";

/** What an authorization server granted to this program for one MCP server. Secret as a whole. */
export interface SignIn {
  /** The authorization server. Tokens and client go to no other. */
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  /** The MCP server, as its metadata name it; null if it has no metadata. */
  readonly resource: string | null;
  readonly client: SignInClient;
  readonly access_token: string;
  readonly refresh_token: string | null;
  /** Scopes that were granted, separated by blanks; null if unknown. */
  readonly scope: string | null;
  /** Time at which the access token expires, in milliseconds; null if unknown. */
  readonly expires_at: number | null;
}

/** How this program is known to an authorization server. */
export interface SignInClient {
  readonly client_id: string;
  readonly client_secret?: string;
}

/** Keeps the sign-in at one MCP server of one owner. */
export interface SignInStore {
  /** Returns the sign-in; null if there is none. Throws if it cannot be read. */
  read(): Promise<SignIn | null>;
  /** Replaces the sign-in. Throws if it cannot be kept. */
  write(signIn: SignIn): Promise<void>;
  /** Removes the sign-in; false if there was none. */
  remove(): Promise<boolean>;
  /** Scopes that the server asked for in addition to those granted, for the next sign-in. */
  wanted(): Promise<readonly string[]>;
  want(scopes: readonly string[]): Promise<void>;
  /** Runs work while no other process does so for the same sign-in. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** Thrown if a server can be used only after the person signed in. */
export class SignInNeeded extends Error {
  override readonly name = "SignInNeeded";
}

/** Returns the problem of a server that can be used only after the person signed in. */
export function signInProblem(name: string, { message }: Pick<Error, "message">): Problem {
  return {
    code: "mcp-sign-in-needed",
    message: `The MCP server ${name} cannot be used yet: ${message.replace(/\.$/, "")}.`,
    next: `Run: flemma auth mcp ${operands(name)}`,
  };
}
