/** Counts distinct ids with one bit per row. */
export class DistinctIds {
  private bits = new Uint32Array(0);

  /** How many different ids there are; ids outside [0, rows) do not count. */
  count(ids: Int32Array, rows: number): number {
    const words = Math.ceil(rows / 32);
    if (this.bits.length < words) this.bits = new Uint32Array(words);
    const { bits } = this;
    let distinct = 0;
    for (const id of ids) {
      if (id < 0 || id >= rows) continue;
      const bit = 1 << (id & 31);
      const word = bits[id >>> 5]!;
      if ((word & bit) !== 0) continue;
      bits[id >>> 5] = word | bit;
      distinct++;
    }
    for (const id of ids) if (id >= 0 && id < rows) bits[id >>> 5] = 0;
    return distinct;
  }
}
