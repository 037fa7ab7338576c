// A command as approval sees it: simple commands with words, redirections and what is substituted into them.

/** A word of a command, quotes and backslashes removed. */
export interface ShellWord {
  /** As it stands in the command. */
  readonly text: string;
  /** The one text it comes to; null while only the shell knows. */
  readonly value: string | null;
  /** What becomes of a word that only the shell knows: exactly one word, or any number. */
  readonly count: "one" | "many";
}

/** A redirection. */
export interface ShellRedirect {
  /** As it stands in the command. */
  readonly text: string;
  /** `>`, `>>`, `<`, `>&`, …; null for what is no plain redirection, such as a here-document. */
  readonly operator: string | null;
  /** The descriptor before it; null when none stands there. */
  readonly descriptor: number | null;
  /** Where it leads; null when there is no such word. */
  readonly target: ShellWord | null;
}

/** A variable that is set before a command, or alone. */
export interface ShellAssignment {
  readonly text: string;
  readonly name: string;
}

/** One simple command. */
export interface ShellCommand {
  /** As it stands, redirections included. */
  readonly text: string;
  readonly assignments: readonly ShellAssignment[];
  /** The program and its arguments; empty when there is none, or when this is no simple command. */
  readonly words: readonly ShellWord[];
  readonly redirects: readonly ShellRedirect[];
  /** What is substituted into its words, in order. */
  readonly inner: readonly ShellScript[];
  /** Why no approval may go by this reading, as the end of "it holds …"; null when it may. */
  readonly opaque: string | null;
}

/** One pipeline of a list. */
export interface ShellStep {
  /** What stands between it and the step before. */
  readonly join: "start" | "&&" | "||" | ";";
  /** Whether it runs in the background, alone or with the steps it is joined to. */
  readonly background: boolean;
  /** Its commands; several are a pipe. */
  readonly commands: readonly ShellCommand[];
}

/** A list of pipelines: a whole command, or what stands inside a substitution. */
export interface ShellScript {
  readonly steps: readonly ShellStep[];
}

/** What was read of a command for approvals. */
export interface StrictReading {
  readonly script: ShellScript;
  /** Why no approval may go by it as a whole, as the end of "it holds …"; null when it may. */
  readonly opaque: string | null;
}

/** A command that may run in some way, for rules that ask or deny. */
export interface PossibleCommand {
  readonly text: string;
  readonly words: readonly ShellWord[];
  /** Whether it is only guessed that these words are a command: they stand among the arguments of another one. */
  readonly guessed: boolean;
}

/** Everything that a command may run. */
export interface LooseReading {
  readonly commands: readonly PossibleCommand[];
  /** Whether some of it could not be read, so that it may run other commands too. */
  readonly unread: boolean;
}
