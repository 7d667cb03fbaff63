import { IdPlaces } from '../../../src/ranking/ann/id_places.js';
import { Random } from '../../helpers/random.js';

describe('places of ids', () => {
  it('are those of a map, whatever comes and goes', () => {
    const random = new Random(41);
    const [places, map] = [new IdPlaces(), new Map<number, number>()];
    // Few ids that come and go often, then many that share their lower bits.
    for (const draw of [
      () => random.whole(0, 90),
      () => 65536 * random.whole(0, 32768),
      () => random.whole(0, 2 ** 31),
    ]) {
      for (let i = 0; i < 20_000; i++) {
        const id = draw();
        if (random.chance(0.45)) {
          places.delete(id);
          map.delete(id);
        } else {
          places.set(id, i);
          map.set(id, i);
        }
        if (places.get(id) !== (map.get(id) ?? -1)) fail(`id ${id}`);
      }
      expect(places.size).toBe(map.size);
    }
    for (const [id, place] of map) if (places.get(id) !== place) fail(`id ${id}`);
    expect(places.get(2 ** 31 - 1)).toBe(map.get(2 ** 31 - 1) ?? -1);
  });
});
