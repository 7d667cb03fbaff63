import { densePlace, placeOf } from '../../src/ids/id_place.js';
import { parseIds, type IdsInput } from '../../src/ids/parse_ids.js';

const places = (ids: IdsInput): (string | null)[] => {
  const batch = parseIds(ids);
  const { length } = batch.values as Int32Array;
  return Array.from({ length }, (_, position) => placeOf(batch, position));
};

describe('placeOf', () => {
  it('tells the index in dense ids of any rank', () => {
    expect(places(7)).toEqual([null]);
    expect(places([7, 8])).toEqual(['[0]', '[1]']);
    expect(
      places([
        [1, 2, 3],
        [4, 5, 6],
      ]),
    ).toEqual([
      // prettier-ignore
      '[0, 0]',
      '[0, 1]',
      '[0, 2]',
      '[1, 0]',
      '[1, 1]',
      '[1, 2]',
    ]);
    expect(densePlace([2, 3, 4], 23)).toBe('[1, 2, 3]');
    expect(densePlace([2, 3, 4], 5)).toBe('[0, 1, 1]');
  });

  it('tells row and position in it in ragged ids, beside rows that are empty', () => {
    expect(places([[], [1, 2], [], [], [3], []])).toEqual([
      'row 1, position 0',
      'row 1, position 1',
      'row 4, position 0',
    ]);
  });

  it('tells the row of each axis where ragged ids have several', () => {
    expect(places([[[1], [2, 3]], [], [[], [4]]])).toEqual([
      'row [0, 0], position 0',
      'row [0, 1], position 0',
      'row [0, 1], position 1',
      'row [2, 1], position 0',
    ]);
    expect(places([[[[1]], [[2], [3, 4]]]])[3]).toBe('row [0, 1, 1], position 1');
  });

  it('tells the index in sparse ids, whatever their position among the entries', () => {
    const indices = [[0, 7], [2, 0], [2, 40]]; // prettier-ignore
    expect(places({ indices, values: [5, 5, 5], denseShape: [3, 41] })).toEqual([
      'index [0, 7]',
      'index [2, 0]',
      'index [2, 40]',
    ]);
  });
});
