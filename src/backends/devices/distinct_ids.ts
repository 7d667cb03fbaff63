/** Counts distinct ids: with one bit per row where that is little, else with a hash table of the ids that occur. */
const HASH = 0x9e3779b1; // 2^32 divided by the golden ratio
const NONE = -1;

export class DistinctIds {
  private bits = new Uint32Array(0);
  private slots = new Int32Array(0);

  /** How many different ids there are; ids outside [0, rows) do not count. */
  count(ids: Int32Array, rows: number): number {
    // What has to be cleared beforehand is no more than what is counted.
    return rows <= 32 * ids.length ? this.byBits(ids, rows) : this.byHash(ids, rows);
  }

  private byBits(ids: Int32Array, rows: number): number {
    const words = Math.ceil(rows / 32);
    if (this.bits.length < words) this.bits = new Uint32Array(words);
    const bits = this.bits.fill(0, 0, words);
    let distinct = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (id < 0 || id >= rows) continue;
      const word = bits[id >>> 5]!;
      distinct += ~(word >>> (id & 31)) & 1;
      bits[id >>> 5] = word | (1 << (id & 31));
    }
    return distinct;
  }

  private byHash(ids: Int32Array, rows: number): number {
    const power = Math.max(4, 33 - Math.clz32(ids.length)); // less than half full
    const size = 2 ** power;
    if (this.slots.length < size) this.slots = new Int32Array(size);
    const slots = this.slots.fill(NONE, 0, size);
    let distinct = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (id < 0 || id >= rows) continue;
      let at = Math.imul(id, HASH) >>> (32 - power);
      while (slots[at] !== id && slots[at] !== NONE) at = (at + 1) & (size - 1);
      if (slots[at] === id) continue;
      slots[at] = id;
      distinct++;
    }
    return distinct;
  }
}
