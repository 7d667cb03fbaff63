/** Numbers that one command needs for itself, in memory that the next one uses again: fresh pages cost more than a copy. */
export class Scratch {
  private memory = new Float32Array(0);
  private used = 0;
  private wanted = 0;

  /** All that was taken is free again. */
  reset(): void {
    if (this.wanted > this.memory.length) this.memory = new Float32Array(this.wanted);
    this.used = 0;
    this.wanted = 0;
  }

  /** Room for so many ints, like `take`. */
  takeInts(length: number): Int32Array {
    const { buffer, byteOffset } = this.take(length);
    return new Int32Array(buffer, byteOffset, length);
  }

  /** Room for so many floats, until the next `reset`; it may hold anything. */
  take(length: number): Float32Array {
    this.wanted += length;
    const end = this.used + length;
    // What did not fit this time fits the next.
    if (end > this.memory.length) return new Float32Array(length);
    const taken = this.memory.subarray(this.used, end);
    this.used = end;
    return taken;
  }

  close(): void {
    this.memory = new Float32Array(0);
    this.used = 0;
    this.wanted = 0;
  }
}
