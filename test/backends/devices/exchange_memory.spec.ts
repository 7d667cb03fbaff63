import { InlineExchange, SharedExchange, SharedView } from '../../../src/backends/devices/exchange_memory.js';
import { expectError } from '../../helpers/errors.js';

describe('the exchange memory', () => {
  for (const [name, make] of [
    ['in line', () => new InlineExchange()],
    ['as a memory of WebAssembly', () => new SharedExchange()],
    ['as a buffer of JavaScript', () => new SharedExchange(null)],
  ] as const) {
    it(`grows, and floats and ints are the same words (${name})`, () => {
      const exchange = make();
      for (const words of [10, 20_000, 100, 300_001]) {
        exchange.reserve(words);
        expect(exchange.floats.length).toBeGreaterThanOrEqual(words);
        exchange.ints[words - 1] = 0x3f800000;
        expect(exchange.floats[words - 1]).toBe(1);
        expect(exchange.ints.length).toBe(exchange.floats.length);
      }
    });

    it(`grows by more than a little, so that it seldom grows (${name})`, () => {
      const exchange = make();
      exchange.reserve(2 ** 20);
      exchange.reserve(2 ** 20 + 1);
      const { length } = exchange.floats;
      expect(length).toBeGreaterThanOrEqual(1.25 * 2 ** 20);
      const { floats } = exchange;
      exchange.reserve(length);
      expect(exchange.floats).toBe(floats);
    });

    it(`keeps its first words where it is told to (${name})`, () => {
      const exchange = make();
      exchange.reserve(100);
      for (let i = 0; i < 100; i++) exchange.ints[i] = i;
      for (const words of [50, 20_000, 300_001]) {
        exchange.reserve(words, 60);
        expect(Array.from(exchange.ints.subarray(0, 60))).toEqual(Array.from({ length: 60 }, (_, i) => i));
      }
    });

    it(`that no machine has is an error, and leaves what there is (${name})`, () => {
      const exchange = make();
      exchange.reserve(100);
      const { length } = exchange.floats;
      for (const words of [2 ** 30 + 1, 2 ** 45, 2 ** 60]) {
        expectError(() => exchange.reserve(words), 'RuntimeError', 'exchange memory', `${words * 4} bytes`);
      }
      expect(exchange.floats.length).toBe(length);
      exchange.reserve(1000);
      expect(exchange.floats.length).toBeGreaterThanOrEqual(1000);
    });
  }

  it('stays the same memory while WebAssembly grows it, and no array buffer of the process', () => {
    const exchange = new SharedExchange();
    const other = new SharedView(exchange.source);
    const { source } = exchange;
    const before = process.memoryUsage().arrayBuffers;
    exchange.reserve(2 ** 24);
    expect(exchange.source).toBe(source);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 20);
    other.see(2 ** 24);
    exchange.ints[2 ** 24 - 1] = 5;
    expect(other.ints[2 ** 24 - 1]).toBe(5);
  });

  it('is another buffer where JavaScript grows it', () => {
    const exchange = new SharedExchange(null);
    const { source } = exchange;
    exchange.reserve(1000);
    expect(exchange.source).toBe(source);
    exchange.reserve(100_000);
    expect(exchange.source).not.toBe(source);
  });

  it('is seen as it is where it is a buffer of JavaScript, which is sent anew when it grows', () => {
    const view = new SharedView(new SharedArrayBuffer(400));
    for (const words of [1, 100, 101]) {
      view.see(words);
      expect(view.floats.length).toBe(100);
    }
    view.source = new SharedArrayBuffer(800);
    expect([view.floats.length, view.ints.length]).toEqual([200, 200]);
  });

  it('that cannot be had is an error that says how much', () => {
    const small = new SharedExchange(new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true }));
    small.reserve(32_768);
    expectError(() => small.reserve(32_769), 'RuntimeError', 'exchange memory', '131076 bytes');
  });
});
