import type { Attack } from './attack.js';
import { runAttacks } from './run_attacks.js';

/** Finds something in the rounds that draw these seeds. */
function attackThatFinds(name: string, ...bad: number[]): Attack {
  return {
    name,
    describe: '',
    run({ rounds, seed, progress, found }) {
      for (let round = 0; round < rounds; round++) {
        if (bad.includes(seed + round)) found({ seed: seed + round, what: `fell for ${seed + round}` });
        progress(round + 1);
      }
      return Promise.resolve();
    },
  };
}

describe('runAttacks', () => {
  it('counts the findings of each attack', async () => {
    const attacks = [attackThatFinds('one', 5, 7, 9), attackThatFinds('two')];
    expect(await runAttacks(attacks, { rounds: 3, seed: 5 }, () => undefined)).toEqual({
      seed: 5,
      rounds: 3,
      attacks: { one: 2, two: 0 },
      findings: 2,
    });
  });

  it('says how far it is, and how to repeat what it found', async () => {
    const said: string[] = [];
    await runAttacks([attackThatFinds('one', 6)], { rounds: 2, seed: 5 }, (line) => said.push(line));
    expect(said).toEqual([
      'one: 1 of 2 rounds, 0 findings',
      'one: FOUND fell for 6',
      '  npm run attack -- --only one --rounds 1 --seed 6',
      'one: 2 of 2 rounds, 1 findings',
    ]);
  });

  it('fails where an attack itself is at fault', async () => {
    const broken: Attack = { name: 'broken', describe: '', run: () => Promise.reject(new Error('no such program')) };
    await expectAsync(runAttacks([broken], { rounds: 1, seed: 1 }, () => undefined)).toBeRejectedWithError(
      'no such program',
    );
  });
});
