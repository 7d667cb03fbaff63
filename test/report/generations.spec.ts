/** Published figures. */
import { FIGURE_NAMES, GENERATIONS, GENERATION_NAMES, generationName } from '../../src/report/generations.js';

describe('Figures of TPU generations', () => {
  it('has every figure of every generation, each with a source', () => {
    expect(GENERATION_NAMES).toEqual(['v2', 'v3', 'v4', 'v5e', 'v5p', 'v6e', 'v7']);
    for (const name of GENERATION_NAMES) {
      for (const figure of FIGURE_NAMES) {
        const { value, source, note } = GENERATIONS[name]![figure];
        const what = `${figure} of ${name}`;
        expect(source.title.length).withContext(what).toBeGreaterThan(10);
        expect(source.url)
          .withContext(what)
          .toMatch(
            /^https:\/\/(docs\.cloud\.google\.com\/tpu\/docs\/[\w-]+|arxiv\.org\/abs\/[\d.]+|ieeexplore\.ieee\.org\/document\/\d+)$/,
          );
        if (value === null)
          expect(note)
            .withContext(what)
            .toMatch(/\w+ \w+/);
        else
          expect(Number.isFinite(value) && value > 0)
            .withContext(what)
            .toBeTrue();
      }
      expect(Object.keys(GENERATIONS[name]!).sort()).toEqual(['aliases', ...FIGURE_NAMES].sort());
    }
  });

  it('keeps orders of magnitude', () => {
    for (const name of GENERATION_NAMES) {
      const { hbmBytes, hbmBandwidth, linkBandwidth, links, podChips } = GENERATIONS[name]!;
      expect(hbmBytes.value).withContext(name).toBeGreaterThanOrEqual(16e9);
      expect(hbmBytes.value).withContext(name).toBeLessThan(1e12);
      // A chip reads its memory faster than it sends, by less than a factor of 20.
      const ratio = hbmBandwidth.value! / (linkBandwidth.value! * links.value!);
      expect(ratio).withContext(name).toBeGreaterThan(1);
      expect(ratio).withContext(name).toBeLessThan(20);
      expect([4, 6]).withContext(name).toContain(links.value!);
      expect(podChips.value).withContext(name).toBeGreaterThanOrEqual(256);
    }
    expect(GENERATIONS['v5p']!.hbmBandwidth.value).toBe(2765e9);
    expect(GENERATIONS['v7']!.hbmBytes.value).toBe(192 * 2 ** 30);
  });

  it('has the figures of the pages and papers that it names', () => {
    const [gib, gb] = [2 ** 30, 1e9];
    const found = GENERATION_NAMES.map((name) => [
      name,
      ...FIGURE_NAMES.map((figure) => GENERATIONS[name]![figure].value),
    ]);
    expect(found).toEqual([
      ['v2', 16 * gib, 700 * gb, 62.5 * gb, 4, 2, null, 256],
      ['v3', 32 * gib, 900 * gb, 70 * gb, 4, 2, 2, 1024],
      ['v4', 32 * gib, 1200 * gb, 50 * gb, 6, 2, 4, 4096],
      ['v5e', 16 * gb, 819 * gb, 50 * gb, 4, 1, null, 256],
      ['v5p', 95 * gib, 2765 * gb, 100 * gb, 6, 2, 4, 8960],
      ['v6e', 32 * gib, 1638 * gb, 100 * gb, 4, 1, 2, 256],
      ['v7', 192 * gib, 7380 * gb, 100 * gb, 6, 2, 4, 9216],
    ]);
  });

  it('knows other names', () => {
    expect(
      [
        'v5p',
        'V5P',
        'TPU v5p',
        'tpu-v5p',
        'Trillium',
        'Ironwood',
        'tpu7x',
        'v5litepod',
        'Cloud TPU v4',
        'tpu_v3',
        'TPUv2',
      ].map(generationName),
    ).toEqual([...['v5p', 'v5p', 'v5p', 'v5p', 'v6e', 'v7', 'v7', 'v5e', 'v4', 'v3', 'v2']]);
    expect(GENERATION_NAMES.map((name) => GENERATIONS[name]!.aliases)).toEqual([
      [],
      [],
      ['v4p'],
      ['v5lite', 'v5litepod'],
      [],
      ['trillium', 'v6'],
      ['ironwood', 'v7x', 'tpu7x'],
    ]);
    for (const unknown of ['', 'v1', 'v99', 'tpu', 'constructor', 'toString'])
      expect(generationName(unknown)).toBeNull();
  });
});
