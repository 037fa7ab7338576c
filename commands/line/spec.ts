// What a command and an option are, as the table of commands writes them.

export interface Option {
  /** Long name without dashes. */
  readonly name: string;
  readonly short?: string;
  /** What the value is called in help; without it the option is a switch. */
  readonly value?: string;
  /** Values that are not text. `count` is a whole number, `seconds` and `amount` may have a fraction. */
  readonly type?: "count" | "seconds" | "amount";
  /** The switch also exists as `--no-NAME`, the value then is false. */
  readonly negatable?: boolean;
  /** With this switch the command asks about no document. */
  readonly standalone?: boolean;
  /** May be given several times. */
  readonly many?: boolean;
  /** What holds when the option is not given, where that is worth a word. */
  readonly default?: string;
  readonly help: string;
}

/**
 * What a command does with a document: `filter` gives it back changed, `report` prints something about it, `none`
 * takes no document from standard input.
 */
export type CommandKind = "filter" | "report" | "none";

export interface Command {
  /** One or two words. */
  readonly name: string;
  /** Positional arguments as help shows them. */
  readonly usage: string;
  readonly summary: string;
  readonly details?: string;
  readonly kind: CommandKind;
  /** Fewest and most positional arguments. */
  readonly arity: readonly [number, number];
  /** The first word may as well name a call, where no file has that name and a document is piped in. */
  readonly takesTarget?: boolean;
  /** Everything after `--` is a command line of its own. */
  readonly takesCommand?: boolean;
  readonly options: readonly Option[];
  readonly example: string;
}

/** Commands that belong together, as the overview lists them. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly Command[];
}
