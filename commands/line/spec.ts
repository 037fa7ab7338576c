// Types of commands and options in the table of commands.

export interface Option {
  readonly name: string;
  readonly short?: string;
  /** Name of the value in help; without it the option is a switch. */
  readonly value?: string;
  /**
   * How the value is parsed; text by default. `count` is a whole number; `seconds` and `amount` may have a
   * fraction.
   */
  readonly type?: "count" | "seconds" | "amount";
  /** The switch also exists as `--no-NAME`, which sets false. */
  readonly negatable?: boolean;
  /** With this switch the command takes no document. */
  readonly standalone?: boolean;
  readonly many?: boolean;
  /** With this option the command takes one document. */
  readonly single?: boolean;
  /** Names of options that cannot be given too. */
  readonly excludes?: readonly string[];
  /** Name of the option without which this one has no meaning. */
  readonly needs?: string;
  /** The default as help shows it. */
  readonly default?: string;
  readonly help: string;
}

/**
 * How a command uses a document: `filter` prints it changed, `report` prints something about it, `none` reads
 * no document from standard input.
 */
export type CommandKind = "filter" | "report" | "none";

export interface Command {
  /** One or two words. */
  readonly name: string;
  /** Positional arguments as help shows them. */
  readonly usage: string;
  readonly summary: string;
  /** The form of another command that does the same; help refers to it. */
  readonly sameAs?: string;
  /** The first word alone runs this command of its group: `flemma tools`. */
  readonly standard?: boolean;
  readonly details?: string;
  readonly kind: CommandKind;
  /** Fewest and most positional arguments. */
  readonly arity: readonly [number, number];
  /** The first word may also name a call, if no file has that name and a document is piped in. */
  readonly takesTarget?: boolean;
  /** The words after `--` are a separate command line. */
  readonly takesCommand?: boolean;
  readonly options: readonly Option[];
  readonly example: string;
}

export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
}
