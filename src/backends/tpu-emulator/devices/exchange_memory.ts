/** The exchange memory of devices in line: an array that is replaced when it grows. */
import type { ExchangeMemory } from './device.js';

export class InlineExchange implements ExchangeMemory {
  floats = new Float32Array(0);
  ints = new Int32Array(this.floats.buffer);

  reserve(words: number): void {
    if (this.floats.length >= words) return;
    this.floats = new Float32Array(words);
    this.ints = new Int32Array(this.floats.buffer);
  }
}
