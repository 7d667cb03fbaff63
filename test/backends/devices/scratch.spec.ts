import { Scratch } from '../../../src/backends/devices/exchange_memory.js';

describe('scratch memory', () => {
  it('gives pieces that do not overlap, and the same memory again after a reset', () => {
    const scratch = new Scratch();
    const take = (): [Float32Array, Int32Array, Float32Array] => {
      scratch.reset();
      return [scratch.take(5), scratch.takeInts(3), scratch.take(4)];
    };
    take();
    for (let round = 0; round < 3; round++) {
      const [a, b, c] = take();
      expect([a.length, b.length, c.length]).toEqual([5, 3, 4]);
      a.fill(1);
      b.fill(2);
      c.fill(3);
      expect([...a, ...b, ...c]).toEqual([1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3]);
      expect(new Set([a.buffer, b.buffer, c.buffer]).size).toBe(1);
      expect(take()[0].buffer).toBe(a.buffer);
    }
  });

  it('gives more than it has, and has it the next time', () => {
    const scratch = new Scratch();
    scratch.reset();
    expect(scratch.take(0).length).toBe(0);
    expect(scratch.take(10).buffer).not.toBe(scratch.take(10).buffer);
    scratch.reset();
    expect(scratch.take(10).buffer).toBe(scratch.take(10).buffer);
    scratch.close();
    scratch.reset();
    expect(scratch.take(3).length).toBe(3);
  });
});
