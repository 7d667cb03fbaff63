/** Rows that may differ from what they were, each once: what a step costs is the rows that it touches. */
export class ChangedRows {
  /** Whether any row may. */
  isAll = false;
  readonly #isThere: Uint8Array;
  #rows = new Int32Array(256);
  #count = 0;

  /** @param rows - Of the table. */
  constructor(rows: number) {
    this.#isThere = new Uint8Array(rows);
  }

  add(row: number): void {
    if (this.#isThere[row] === 1) return;
    this.#isThere[row] = 1;
    if (this.#count === this.#rows.length) {
      const longer = new Int32Array(2 * this.#count);
      longer.set(this.#rows);
      this.#rows = longer;
    }
    this.#rows[this.#count++] = row;
  }

  /** Adds rows that a step touched: every third number, from the first on. */
  addTouched(touched: Int32Array): void {
    for (let at = 0; at < touched.length; at += 3) this.add(touched[at]!);
  }

  has(row: number): boolean {
    return this.#isThere[row] === 1;
  }

  /** Those that were added, ascending. */
  sorted(): Int32Array {
    return this.#rows.slice(0, this.#count).sort();
  }

  clear(): void {
    for (let i = 0; i < this.#count; i++) this.#isThere[this.#rows[i]!] = 0;
    this.#count = 0;
    this.isAll = false;
  }
}
