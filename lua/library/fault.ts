// Details attached to our own Lua errors, for the code that reports them.

/** Detail of an error: a name was read that was never defined. */
export class UndefinedName {
  constructor(readonly variable: string) {}
}

/** Detail of an error: an `include` failed. */
export class IncludeFault {
  constructor(
    /** Code of the diagnostic, e.g. `file_not_found`. */
    readonly code: string,
    /** True if the file itself is missing. At the top level, only the including expression fails then. */
    readonly mild: boolean,
    /** The undefined name that an included template read. */
    readonly variable?: string,
  ) {}
}
