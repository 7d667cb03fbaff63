import * as emb from 'tfjs-embeddings';

const { tpu } = emb;

describe('classes of emb.tpu', () => {
  const brands: readonly (readonly [name: string, cls: unknown])[] = [
    ...Object.entries(tpu)
      .filter(([name, value]) => typeof value === 'function' && /^[A-Z]/.test(name))
      .map(([name, cls]) => [name === 'PartitionedCsrFormatTensor' ? name : `tpu.${name}`, cls] as const),
    ['tpu.Optimizer', Object.getPrototypeOf(tpu.SGD)],
  ];

  it('are many', () => {
    expect(brands.length).toBeGreaterThan(15);
  });

  for (const [name, cls] of brands) {
    it(`${name} knows the instances of other copies of the package`, () => {
      const copy = { [Symbol.for(`tfjs-embeddings.${name}`)]: true };
      expect(copy instanceof (cls as typeof Object)).toBeTrue();
      expect({} instanceof (cls as typeof Object)).toBeFalse();
    });
  }
});
