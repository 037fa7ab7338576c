// Details attached to our own Lua errors, for the code that reports them.

/** A name was read that was never defined. */
export class UndefinedName {
  constructor(readonly variable: string) {}
}

/** An `include` failed. */
export class IncludeFault {
  constructor(
    /** Code of the diagnostic, e.g. `file_not_found`. */
    readonly code: string,
    /** The file itself is missing; at the top level only the including expression fails then. */
    readonly mild: boolean,
    /** The undefined name that an included template read. */
    readonly variable?: string,
  ) {}
}
