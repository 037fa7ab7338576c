// Types of commands and options in the table of commands.

export interface Option {
  readonly name: string;
  readonly short?: string;
  /** Name of the value in help; an option without a value is a switch. */
  readonly value?: string;
  /**
   * How the value is parsed. If absent, it is text. `count` is a whole number; `seconds` and `amount` may have a
   * fraction; `duration` is a number of seconds, or a text such as `30m`.
   */
  readonly type?: "count" | "seconds" | "amount" | "duration";
  /** True if the switch also exists as `--no-NAME`, which sets it to false. */
  readonly negatable?: boolean;
  /** True if the command takes no document with this switch. */
  readonly standalone?: boolean;
  readonly many?: boolean;
  /** True if the command takes exactly one document with this option. */
  readonly single?: boolean;
  /** Names of options that cannot be given together with this one. */
  readonly excludes?: readonly string[];
  /** Name of the option without which this option has no meaning. */
  readonly needs?: string;
  /** The default as help shows it. */
  readonly default?: string;
  readonly help: string;
}

/**
 * How a command uses a document: `filter` prints the changed document, `report` prints something about it, `none`
 * reads no document from standard input.
 */
export type CommandKind = "filter" | "report" | "none";

export interface Command {
  /** Name of the command, one or two words. */
  readonly name: string;
  /** Positional arguments as help shows them. */
  readonly usage: string;
  readonly summary: string;
  /** The form of another command that does the same; help refers to it. */
  readonly sameAs?: string;
  /** True if the first word alone runs this command of its group, as in `flemma tools`. */
  readonly standard?: boolean;
  readonly details?: string;
  readonly kind: CommandKind;
  /** Fewest and most positional arguments. */
  readonly arity: readonly [number, number];
  /**
   * True if the first word may also name a call. The word names a call if no file has that name and a document is
   * piped in.
   */
  readonly takesTarget?: boolean;
  /** True if the words after `--` are a separate command line. */
  readonly takesCommand?: boolean;
  readonly options: readonly Option[];
  readonly example: string;
}

export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
}
