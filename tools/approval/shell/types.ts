// Types of a parsed command: simple commands with words, redirections and substitutions.

/** A word of a command, quotes and backslashes removed. */
export interface ShellWord {
  /** Source text of the word. */
  readonly text: string;
  /** Single value of the word; null if only the shell can expand it. */
  readonly value: string | null;
  /** What a word that only the shell can expand becomes: exactly one word, or any number. */
  readonly count: "one" | "many";
}

export interface ShellRedirect {
  /** Source text of the redirection. */
  readonly text: string;
  /** `>`, `>>`, `<`, `>&`, …; null for anything but a plain redirection, such as a here-document. */
  readonly operator: string | null;
  /** The descriptor before the operator; null if there is none. */
  readonly descriptor: number | null;
  /** Target of the redirection; null if there is no such word. */
  readonly target: ShellWord | null;
}

/** A variable that is set before a command, or alone. */
export interface ShellAssignment {
  readonly text: string;
  readonly name: string;
}

export interface ShellCommand {
  /** Source text of the command, redirections included. */
  readonly text: string;
  readonly assignments: readonly ShellAssignment[];
  /** The program and its arguments; empty if there is no program, or if this is not a simple command. */
  readonly words: readonly ShellWord[];
  readonly redirects: readonly ShellRedirect[];
  /** Substitutions in the words of the command, in order. */
  readonly inner: readonly ShellScript[];
  /** Reason why this reading cannot support an approval, as the end of "it holds …"; null if it can. */
  readonly opaque: string | null;
}

/** One pipeline of a list. */
export interface ShellStep {
  /** The separator between this step and the step before. */
  readonly join: "start" | "&&" | "||" | ";";
  /** True if the step runs in the background, alone or together with the steps to which `&&` or `||` joins it. */
  readonly background: boolean;
  /** Commands of the step; several commands form a pipe. */
  readonly commands: readonly ShellCommand[];
}

/** A list of pipelines: a whole command, or the content of a substitution. */
export interface ShellScript {
  readonly steps: readonly ShellStep[];
}

/** Result of reading a command for approvals. */
export interface StrictReading {
  readonly script: ShellScript;
  /**
   * If the reading as a whole contains something that prevents an approval, this is what it contains, as the end of "it
   * holds …"; otherwise null.
   */
  readonly opaque: string | null;
}

/** A command that may run, for rules that ask or deny. */
export interface PossibleCommand {
  readonly text: string;
  readonly words: readonly ShellWord[];
  /** True if these words are arguments of another command, so that it is only a guess that they are a command. */
  readonly guessed: boolean;
}

/** Everything that a command may run. */
export interface LooseReading {
  readonly commands: readonly PossibleCommand[];
  /** True if a part could not be read and may run other commands too. */
  readonly unread: boolean;
}
