// Syntax nodes as flat numbers.
//
// Four numbers per node, parents before children: type, from, to, and the index after its last descendant. Lezer's own
// buffers have this layout, so converting nodes to buffers only moves numbers. Many messages share one list.

/**
 * Lengths of the first list and of the longest list. Each list is longer than the one before it, so an edit allocates
 * little memory and a document has few lists.
 */
const FIRST_LIST = 1 << 8;
const LAST_LIST = 1 << 14;

/** The nodes `first..end` of a list. Their offsets count from a base that the owner of the range knows. */
export interface NodeRange {
  readonly list: Int32Array;
  readonly first: number;
  readonly end: number;
}

/** Collects nodes in one range after another. */
export class Nodes {
  #list = new Int32Array(FIRST_LIST);
  #first = 0;
  #filled = 0;
  #base = 0;

  /** Begins a range; offsets are stored relative to `base`. */
  begin(base: number): void {
    this.#first = this.#filled;
    this.#base = base;
  }

  /** Returns the current range. */
  finish(): NodeRange {
    return { list: this.#list, first: this.#first, end: this.#filled };
  }

  leaf(term: number, from: number, to: number): void {
    this.close(this.open(term, from), to);
  }

  /** Adds a node with one child of the same range. */
  pair(term: number, child: number, from: number, to: number): void {
    const node = this.open(term, from);
    this.leaf(child, from, to);
    this.close(node, to);
  }

  /**
   * Begins a node and returns the index of the node in the range. Nodes that are added until `close` is called become
   * its descendants.
   */
  open(term: number, from: number): number {
    if (this.#filled + 4 > this.#list.length) this.#renew();
    const index = this.#filled;
    this.#list[index] = term;
    this.#list[index + 1] = from - this.#base;
    this.#filled = index + 4;
    return index - this.#first;
  }

  close(place: number, to: number): void {
    const index = this.#first + place;
    this.#list[index + 2] = to - this.#base;
    this.#list[index + 3] = this.#filled;
  }

  /** Starts a new list and moves the current range there. Finished ranges stay in the old list. */
  #renew(): void {
    const begun = this.#filled - this.#first;
    const list = new Int32Array(Math.max(2 * begun, Math.min(2 * this.#list.length, LAST_LIST)));
    for (let index = 0; index < begun; index += 4) {
      const old = this.#first + index;
      list[index] = this.#list[old]!;
      list[index + 1] = this.#list[old + 1]!;
      list[index + 2] = this.#list[old + 2]!;
      list[index + 3] = this.#list[old + 3]! - this.#first;
    }
    this.#list = list;
    this.#first = 0;
    this.#filled = begun;
  }
}
