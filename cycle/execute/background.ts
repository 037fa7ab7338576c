// Background work: promises that nobody awaits where they are made.

/** Background work that somebody can wait for. */
export class Background {
  readonly #works = new Set<Promise<void>>();
  #fault: { readonly thrown: unknown } | null = null;

  /** Lets work go on. What it throws is a fault of the program and comes out at `quiet`. */
  spawn(work: Promise<void>): void {
    const watched: Promise<void> = work
      .catch((thrown: unknown) => {
        this.#fault ??= { thrown };
      })
      .finally(() => this.#works.delete(watched));
    this.#works.add(watched);
  }

  /**
   * Settles when all work is done, and what began meanwhile.
   *
   * @throws the first that any of it threw
   */
  async quiet(): Promise<void> {
    while (this.#works.size > 0) await Promise.all(this.#works);
    if (this.#fault !== null) throw this.#fault.thrown;
  }
}
