import { occurrenceRounds } from '../../src/ids/occurrence_rounds.js';

describe('occurrenceRounds', () => {
  const ids = Int32Array.of(7, 3, 7, 7, 3, 5);

  it('repeats no id within a round, and keeps the order of occurrences', () => {
    expect(occurrenceRounds(ids, ids.keys())).toEqual([[0, 1, 5], [2, 4], [3]]);
  });

  it('takes positions in the order that is given, and those alone', () => {
    expect(occurrenceRounds(ids, [3, 5, 0])).toEqual([[3, 5], [0]]);
  });

  it('has no rounds without ids', () => {
    expect(occurrenceRounds(new Int32Array(0), [])).toEqual([]);
  });
});
