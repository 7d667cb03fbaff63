import { compare, recordText, type Frozen } from './record.js';

const RECORD: Frozen = {
  'cpu native, avx2': { adam: { 'float32 8 sum': 'aaaaaaaaaaaa', 'float32 7 sum': 'bbbbbbbbbbbb' } },
  'types of node': { names: { embeddingLookup: 'cccccccccccc', 'tpu.SGD': 'dddddddddddd' } },
};

/** The record with something else in it. */
function changed(key: string, group: string, cases: Record<string, string>): Frozen {
  return { ...RECORD, [key]: { ...RECORD[key], [group]: cases } };
}

describe('the comparison with the frozen record', () => {
  it('finds nothing where all is the same', () => {
    const { compared, differences, added, notCompared } = compare(RECORD, RECORD);
    expect(compared).toBe(4);
    expect([differences, added, notCompared]).toEqual([[], [], []]);
  });

  it('notices a changed hash', () => {
    const found = changed('cpu native, avx2', 'adam', {
      'float32 8 sum': 'aaaaaaaaaaaa',
      'float32 7 sum': 'eeeeeeeeeeee',
    });
    expect(compare(RECORD, found).differences).toEqual([
      { what: 'cpu native, avx2 / adam / float32 7 sum', was: 'bbbbbbbbbbbb', is: 'eeeeeeeeeeee' },
    ]);
  });

  it('notices an exported name that is lost, and tells added ones apart', () => {
    const found = changed('types of node', 'names', { embeddingLookup: 'cccccccccccc', 'tpu.Adam': 'ffffffffffff' });
    const { differences, added } = compare(RECORD, found);
    expect(differences).toEqual([{ what: 'types of node / names / tpu.SGD', was: 'dddddddddddd', is: null }]);
    expect(added).toEqual(['types of node / names / tpu.Adam']);
  });

  it('says of a key that the record lacks that it was not compared', () => {
    const found = { ...RECORD, 'cpu native, avx512': RECORD['cpu native, avx2']! };
    const { compared, differences, notCompared } = compare(RECORD, found);
    expect(compared).toBe(4);
    expect(differences).toEqual([]);
    expect(notCompared).toEqual(['cpu native, avx512: the record has no such key']);
  });

  it('misses a key that was due, and says so of one that was not', () => {
    const found = { 'types of node': RECORD['types of node']! };
    expect(compare(RECORD, found).differences.map(({ what, is }) => [what, is])).toEqual([
      ['cpu native, avx2 / adam / float32 8 sum', null],
      ['cpu native, avx2 / adam / float32 7 sum', null],
    ]);
    const { differences, notCompared } = compare(RECORD, found, [], (key) => key !== 'cpu native, avx2');
    expect(differences).toEqual([]);
    expect(notCompared).toEqual(['cpu native, avx2: was not run here']);
  });

  it('takes a case that failed as a difference, in a record or not', () => {
    const failure = 'failed: ValueError: no such row';
    const found = { ...RECORD, wasm: { adam: { 'float32 8 sum': failure } } };
    expect(compare(RECORD, found).differences).toEqual([
      { what: 'wasm / adam / float32 8 sum', was: null, is: failure },
    ]);
  });

  it('takes differences that are meant as such, and no others', () => {
    const found = changed('cpu native, avx2', 'adam', {
      'float32 8 sum': 'eeeeeeeeeeee',
      'float32 7 sum': 'eeeeeeeeeeee',
    });
    const reason = 'sums are rounded once';
    const one = [{ what: 'cpu native, avx2 / adam / float32 8 sum', now: 'eeeeeeeeeeee', reason }];
    const { differences, deliberate } = compare(RECORD, found, one);
    expect(differences.map(({ what }) => what)).toEqual(['cpu native, avx2 / adam / float32 7 sum']);
    expect(deliberate.map((each) => each.reason)).toEqual([reason]);
    expect(compare(RECORD, found, [{ what: 'cpu native, avx2 / adam', reason }]).differences).toEqual([]);
    // Another hash than the one that was meant, and half a name.
    const wrong = [
      { what: 'cpu native, avx2 / adam / float32 8 sum', now: '000000000000', reason },
      { what: 'cpu native, avx2 / ad', reason },
    ];
    const missed = compare(RECORD, found, wrong);
    expect(missed.differences.length).toBe(2);
    expect(missed.unused).toEqual(wrong);
  });

  it('writes a record that reads back', () => {
    expect(JSON.parse(recordText(RECORD))).toEqual(RECORD);
  });
});
