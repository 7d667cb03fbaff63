import { perProcess } from '../../src/base/per_process.js';

describe('perProcess', () => {
  it('keeps what was made first, under its key and no other', () => {
    const first = perProcess('spec one', () => ({ count: 1 }));
    first.count++;
    expect(perProcess('spec one', () => ({ count: 7 }))).toBe(first);
    expect(first.count).toBe(2);
    expect(perProcess('spec two', () => ({ count: 7 })).count).toBe(7);
  });

  it('makes nothing twice, not even nothing', () => {
    let made = 0;
    const make = (): undefined => void made++;
    expect(perProcess('spec three', make)).toBeUndefined();
    expect(perProcess('spec three', make)).toBeUndefined();
    expect(made).toBe(1);
  });

  it('is shared by copies of the package, which have no module in common', () => {
    const kept = (globalThis as unknown as Record<symbol, Map<string, unknown>>)[Symbol.for('tfjs-embeddings')]!;
    kept.set('spec of another copy', 'theirs');
    expect(perProcess('spec of another copy', () => 'ours')).toBe('theirs');
  });
});
