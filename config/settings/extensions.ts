// Settings of what adds to the tools: servers and skills.

/** A server of tools; with a command it is started, with an address it is asked over HTTP. */
export interface McpServer {
  /** The program. */
  readonly command?: string | null;
  /** Its arguments. @default none */
  readonly args?: readonly string[] | null;
  /** Variables added to its environment. @default none */
  readonly env?: Readonly<Record<string, string>> | null;
  /** Where it works. @default the document's folder */
  readonly cwd?: string | null;
  /** The address. */
  readonly url?: string | null;
  /** Headers of requests. @default none */
  readonly headers?: Readonly<Record<string, string>> | null;
  /** Whether its tools are offered. @default true */
  readonly enabled?: boolean;
  /** Patterns of the names of its tools that are offered. @default all */
  readonly include?: readonly string[] | null;
  /** The same for those that are left out. @default none */
  readonly exclude?: readonly string[] | null;
  /** Seconds of one call. @default 60 */
  readonly timeout?: number;
  /** Seconds until it must have started. @default 10 */
  readonly start_timeout?: number;
  /** Whether it is started in the sandbox. @default true */
  readonly sandbox?: boolean;
}

/** Which skills the model is told of, and where else they lie. */
export interface SkillSettings {
  /** Whether the model is told of any. */
  readonly enabled: boolean;
  /** Names, in which `*` stands for any characters. */
  readonly names: readonly string[];
  /** The same for those that are left out all the same. */
  readonly excluded: readonly string[];
  /** Further folders with a folder for each; relative to the folder of the person's settings. */
  readonly dirs: readonly string[];
}
