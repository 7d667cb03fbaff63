/**
 * `DistributedEmbedding` on generated uses: whatever the machine, the plan and the form of the ids, results are those of
 * one device. `DISTRIBUTED_CASES=2000 DISTRIBUTED_SEED=1` runs as many from that seed on.
 */
import * as tf from '@tensorflow/tfjs';
import { casesOf } from '../../forms/forms.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import type { EmulatedMachine } from '../../helpers/tpu_emulator.js';
import { problemsOf } from './comparison.js';
import { distributedCase } from './generated_case.js';
import { runCase } from './run.js';
import { useCpu } from '../setup.js';

const COUNT = casesOf('DISTRIBUTED_CASES');
const FIRST = Number(process.env['DISTRIBUTED_SEED'] ?? 1);

async function checkCase(seed: number, extra: Partial<EmulatedMachine> = {}): Promise<void> {
  const example = distributedCase(seed);
  const expected = await expectNoLeakAsync(() => runCase(example));
  const machine = { ...example.machine, ...extra };
  const problems = await problemsOf(example, machine, expected);
  if (seed % 8 === 0) problems.push(...(await problemsOf(example, { chips: 1 }, expected)));
  expect(problems.slice(0, 5)).toEqual([]);
}

describe('DistributedEmbedding on generated uses', () => {
  beforeAll(useCpu);

  const block = 20;
  for (let start = FIRST; start < FIRST + COUNT; start += block) {
    const end = Math.min(start + block, FIRST + COUNT);
    it(`gives and trains what one device does: seeds ${start} to ${end - 1}`, async () => {
      spyOn(console, 'warn');
      for (let seed = start; seed < end; seed++) {
        try {
          await checkCase(seed);
        } catch (error) {
          fail(`seed ${seed}: ${(error as Error).stack}`);
        }
      }
    });
  }

  it('gives and trains the same on workers', async () => {
    spyOn(console, 'warn');
    for (const seed of [7, 11]) await checkCase(seed, { devices: 'worker' });
    expect(tf.getBackend()).toBe('cpu');
  });
});
