// What an error of Lua was about, when it was one of ours: attached to the error, read by whoever reports it.

/** A name was read that nobody ever defined. */
export class UndefinedName {
  constructor(readonly variable: string) {}
}

/** An `include` did not work out. */
export class IncludeFault {
  constructor(
    /** Code of the diagnostic, e.g. `file_not_found`. */
    readonly code: string,
    /** The file itself is missing, which at the top level costs only the expression that asked for it. */
    readonly mild: boolean,
    /** The name, when an included template read one that is not defined. */
    readonly variable?: string,
  ) {}
}
