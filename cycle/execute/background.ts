// Background work: promises that are not awaited where they are created.

export class Background {
  readonly #works = new Set<Promise<void>>();
  #fault: { readonly thrown: unknown } | null = null;

  /** Starts tracking work. An exception in it is an internal error, which `quiet` rethrows. */
  spawn(work: Promise<void>): void {
    const watched: Promise<void> = work
      .catch((thrown: unknown) => {
        this.#fault ??= { thrown };
      })
      .finally(() => this.#works.delete(watched));
    this.#works.add(watched);
  }

  /**
   * Settles when all work is done, including work that starts meanwhile.
   * @throws the first exception that any of the work threw
   */
  async quiet(): Promise<void> {
    while (this.#works.size > 0) await Promise.all(this.#works);
    if (this.#fault !== null) throw this.#fault.thrown;
  }
}
