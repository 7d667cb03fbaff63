/** A few rounds of what `npm run attack` does for as long as one likes. */
import { skipOrFail } from '../../test/helpers/backends.js';
import { KILLED_SAVES } from './killed_saves.js';

describe('processes killed while they save', () => {
  for (const { name, run } of KILLED_SAVES) {
    it(`leave a whole save (${name})`, async () => {
      if (name === 'saves-tf') {
        const reason = await import('@tensorflow/tfjs-node').then(
          () => null,
          (error: Error) => error.message,
        );
        if (reason !== null) return skipOrFail(reason);
      }
      const findings: unknown[] = [];
      let rounds = 0;
      await run({
        rounds: 1,
        seed: 1,
        progress: (done) => (rounds = done),
        found: (finding) => findings.push(finding),
      });
      expect(findings).toEqual([]);
      expect(rounds).toBe(1);
    }, 120_000);
  }
});
