/** A round of what `npm run attack -- --only devices` does for as long as one likes. */
import type { Finding } from '../attack.js';
import { deviceFaults } from './device_faults.js';

describe('trainings on devices that fail', () => {
  it('go on from the last save with the numbers of one without faults', async () => {
    const findings: Finding[] = [];
    let rounds = 0;
    await deviceFaults.run({
      rounds: 1,
      seed: 4,
      progress: (done) => (rounds = done),
      found: (finding) => findings.push(finding),
    });
    expect(findings).toEqual([]);
    expect(rounds).toBe(1);
  }, 300_000);
});
