/** Where the rows of ids lie. */

/** In place of an id. */
const FREE = -1;
const GONE = -2;

/** A hash table from int32 ids >= 0 to places, eight bytes an entry, at most half full. */
export class IdPlaces {
  #size = 0;
  /** Ids that were there, whose entries still lie between others. */
  #gone = 0;
  #entries = new Int32Array(32).fill(FREE); // id, place

  get size(): number {
    return this.#size;
  }

  /** The place of an id, or -1. */
  get(id: number): number {
    const at = this.#find(id);
    return this.#entries[at] === id ? this.#entries[at + 1]! : -1;
  }

  set(id: number, place: number): void {
    if (4 * (this.#size + this.#gone + 1) > this.#entries.length) this.#rehash();
    const at = this.#find(id);
    if (this.#entries[at] !== id) this.#size++;
    this.#entries[at] = id;
    this.#entries[at + 1] = place;
  }

  delete(id: number): void {
    const at = this.#find(id);
    if (this.#entries[at] !== id) return;
    this.#entries[at] = GONE;
    this.#size--;
    this.#gone++;
  }

  /** Where an id lies, or where the free entry is that its search ends at. */
  #find(id: number): number {
    const mask = this.#entries.length / 2 - 1;
    let at = (Math.imul(id, 0x9e3779b1) >>> 7) & mask;
    while (this.#entries[2 * at] !== id && this.#entries[2 * at] !== FREE) at = (at + 1) & mask;
    return 2 * at;
  }

  #rehash(): void {
    const before = this.#entries;
    let room = 32;
    while (room < 8 * (this.#size + 1)) room *= 2;
    this.#entries = new Int32Array(room).fill(FREE);
    this.#gone = 0;
    for (let i = 0; i < before.length; i += 2) {
      if (before[i]! < 0) continue;
      const at = this.#find(before[i]!);
      this.#entries[at] = before[i]!;
      this.#entries[at + 1] = before[i + 1]!;
    }
  }
}
