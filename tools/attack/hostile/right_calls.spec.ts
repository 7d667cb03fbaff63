/** The attack on the addon knows a right call of every function: what is not listed is only called with anything. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAddon } from '../../../src/backends/native/addon.js';
import { Random } from '../../../test/helpers/random.js';
import { HostileArrays } from './arrays.js';
import { LEFT_OUT, rightCalls } from './right_calls.js';
import { spoiler } from './spoiled_calls.js';

/** What needs TensorFlow in the process, or a tensor that it shares. */
const WITHOUT_TENSORFLOW = ['buildGraph', 'unsizedPlace', 'readSharedTensor', 'writeSharedTensor'];

describe('the right calls of the attack on the addon', () => {
  const addon = loadAddon() as unknown as Record<string, (...args: unknown[]) => unknown>;
  const folder = mkdtempSync(join(tmpdir(), 'tfjs-embeddings-calls-'));
  const random = new Random(1);
  const arrays = new HostileArrays(random);
  const right = rightCalls(random, arrays, spoiler(random, arrays), folder);
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('are those of all that the addon exports', () => {
    expect([...Object.keys(right), ...Object.keys(LEFT_OUT)].sort()).toEqual(Object.keys(addon).sort());
  });

  const kernels =
    /^(embeddingBag|sparseApply|matMul|partitionCsr|extendCrc32c|exchangeFolders|findKeys|touchKeys|lowestRows|fillKeyedRows|findSlots|.*Row(File|s)|.*Reads)/;
  for (const name of Object.keys(right).filter((each) => kernels.test(each) && !WITHOUT_TENSORFLOW.includes(each))) {
    it(`of ${name} are taken, most of them`, () => {
      let taken = 0;
      for (let call = 0; call < 100; call++) {
        try {
          addon[name]!(...right[name]!());
          taken++;
        } catch (error) {
          if (!(error instanceof Error)) throw error;
        }
      }
      expect(taken).toBeGreaterThan(name === 'exchangeFolders' ? 2 : 25);
    });
  }
});
