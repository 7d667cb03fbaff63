/** Casts, against what TensorFlow 2.21 gives on x86. */
import * as tf from '@tensorflow/tfjs';
import * as emb from '../../../../src/node.js';
import { describeForBackends } from '../../../helpers/backends.js';
import { expectNoLeakAsync } from '../../../helpers/tensors.js';
import { loadGraph, placeholder } from '../small_graph.js';

const FLOATS = [-1.5, -0.5, 1.9, 255.9, 300.7, -129, 32768, 70000, -70000, 3e9, -3e9, 1e20, NaN, Infinity, -Infinity];
/** What of them is beyond int32 and becomes its least number first. */
const BEYOND = 6;
const LEAST = -2_147_483_648;
const FROM_FLOATS: Readonly<Record<string, readonly number[]>> = {
  DT_INT8: [-1, 0, 1, -1, 44, 127, 0, 112, -112, ...new Array<number>(BEYOND).fill(0)],
  DT_UINT8: [255, 0, 1, 255, 44, 127, 0, 112, 144, ...new Array<number>(BEYOND).fill(0)],
  DT_INT16: [-1, 0, 1, 255, 300, -129, -32768, 4464, -4464, ...new Array<number>(BEYOND).fill(0)],
  DT_UINT16: [65535, 0, 1, 255, 300, 65407, 32768, 4464, 61072, ...new Array<number>(BEYOND).fill(0)],
  DT_INT32: [-1, 0, 1, 255, 300, -129, 32768, 70000, -70000, ...new Array<number>(BEYOND).fill(LEAST)],
};

const WHOLE = [0, 127, 128, 200, 256, -1, -129, 32768, 65535, 65536, 70000, LEAST, 2_147_483_647];
const BITS: Readonly<Record<string, (value: bigint) => bigint>> = {
  DT_INT8: (value) => BigInt.asIntN(8, value),
  DT_UINT8: (value) => BigInt.asUintN(8, value),
  DT_INT16: (value) => BigInt.asIntN(16, value),
  DT_UINT16: (value) => BigInt.asUintN(16, value),
  DT_INT32: (value) => value,
  DT_INT64: (value) => value,
};

describeForBackends(
  'Cast in graphs',
  () => {
    beforeAll(() => void emb.converter.registerOps());

    async function run(x: tf.Tensor, source: string, target: string): Promise<{ dtype: string; values: number[] }> {
      const attr = { SrcT: { type: source }, DstT: { type: target } };
      const cast = { name: 'cast', op: 'Cast', input: ['x'], attr };
      const model = await loadGraph([placeholder('x', { type: source }), cast]);
      try {
        const result = model.execute({ x }, 'cast') as tf.Tensor;
        const { dtype } = result;
        const data = result.dataSync();
        if (dtype === 'int32') expect(data).toBeInstanceOf(Int32Array);
        const values = Array.from(data);
        result.dispose();
        return { dtype, values };
      } finally {
        tf.dispose(x);
        model.dispose();
      }
    }
    const castFloats = async (values: readonly number[], target: string, source = 'DT_FLOAT'): Promise<number[]> =>
      (await run(tf.tensor1d([...values]), source, target)).values;
    const castWhole = async (values: readonly number[], target: string): Promise<number[]> =>
      (await run(tf.tensor1d([...values], 'int32'), 'DT_INT32', target)).values;
    const expectRefused = (running: Promise<unknown>, part: RegExp): PromiseLike<void> =>
      expectAsync(running).toBeRejectedWithError(emb.ValueError, part);

    for (const [type, expected] of Object.entries(FROM_FLOATS)) {
      it(`cuts floats to ${type}`, async () => {
        await expectNoLeakAsync(async () => {
          const { dtype, values } = await run(tf.tensor1d(FLOATS), 'DT_FLOAT', type);
          expect(dtype).toBe('int32');
          expect(values.map((value) => value + 0)).toEqual([...expected]);
        });
      });
    }

    for (const [type, bits] of Object.entries(BITS)) {
      it(`takes the lower bits of int32 as ${type}`, async () => {
        await expectAsync(castWhole(WHOLE, type)).toBeResolvedTo(WHOLE.map((value) => Number(bits(BigInt(value)))));
      });
    }

    it('refuses what int32 cannot hold of wider types', async () => {
      await expectAsync(castFloats([-2.9, 2e9, LEAST], 'DT_INT64')).toBeResolvedTo([-2, 2_000_000_000, LEAST]);
      await expectAsync(castFloats([2.9, 2e9], 'DT_UINT32')).toBeResolvedTo([2, 2_000_000_000]);
      await expectAsync(castFloats([2.9, 2e9], 'DT_UINT64')).toBeResolvedTo([2, 2_000_000_000]);
      for (const value of [3e9, NaN, Infinity, -Infinity]) {
        for (const type of ['DT_INT64', 'DT_UINT32', 'DT_UINT64']) {
          await expectRefused(castFloats([1, value], type), new RegExp(`fit int32.*received ${value}`));
        }
      }
      await expectRefused(castFloats([-3e9], 'DT_INT64'), /received -3000000000/);
      await expectRefused(castFloats([-3e9], 'DT_UINT32'), /received -3000000000/);
      await expectRefused(castWhole([-1], 'DT_UINT32'), /received 4294967295/);
      await expectRefused(castWhole([-1], 'DT_UINT64'), /received 18446744073709552000/);
    });

    it('rounds to halves, ties to even', async () => {
      const given = [65504, 65519, 65520, 2049, 2051, -2051, 2 ** -24, 2 ** -25, 1.5 * 2 ** -24, 0.1, NaN, -Infinity];
      const halves = [
        65504,
        65504,
        Infinity,
        2048,
        2052,
        -2052,
        2 ** -24,
        0,
        2 ** -23,
        0.0999755859375,
        NaN,
        -Infinity,
      ];
      await expectAsync(castFloats(given, 'DT_HALF')).toBeResolvedTo(halves);
      expect((await castFloats([-0, -(2 ** -25)], 'DT_HALF')).every((value) => Object.is(value, -0))).toBeTrue();
    });

    it('rounds to bfloat16, ties to even', async () => {
      const largest = 3.3895313892515355e38;
      const given = [257, 259, -259, 0.1, largest, 3.4e38, 1e-40, NaN, Infinity];
      // The last but two has fewer bits than others.
      const near = [256, 260, -260, 0.10009765625, largest, Infinity, 2 ** -133, NaN, Infinity];
      await expectAsync(castFloats(given, 'DT_BFLOAT16')).toBeResolvedTo(near);
    });

    it('rounds what halves are cast to floats, as an op gave them', async () => {
      await expectAsync(castFloats([2049, 0.1], 'DT_FLOAT', 'DT_HALF')).toBeResolvedTo([2048, 0.0999755859375]);
      await expectAsync(castFloats([257], 'DT_DOUBLE', 'DT_BFLOAT16')).toBeResolvedTo([256]);
      await expectAsync(castFloats([2049], 'DT_INT32', 'DT_HALF')).toBeResolvedTo([2048]);
      await expectAsync(castFloats([2049], 'DT_DOUBLE')).toBeResolvedTo([2049]);
    });

    it('knows truth, which all but 0 is', async () => {
      const truth = await run(tf.tensor1d([NaN, Infinity, -0, 1e-30, 0, 256]), 'DT_FLOAT', 'DT_BOOL');
      expect(truth).toEqual({ dtype: 'bool', values: [1, 1, 0, 1, 0, 1] });
      const truths = (): tf.Tensor => tf.tensor1d([true, false], 'bool');
      for (const type of ['DT_UINT8', 'DT_INT32', 'DT_INT64']) {
        expect(await run(truths(), 'DT_BOOL', type)).toEqual({ dtype: 'int32', values: [1, 0] });
      }
      for (const type of ['DT_HALF', 'DT_FLOAT']) {
        expect(await run(truths(), 'DT_BOOL', type)).toEqual({ dtype: 'float32', values: [1, 0] });
      }
    });

    it('refuses strings, and types that nobody casts to', async () => {
      const texts = run(tf.tensor1d(['1']), 'DT_STRING', 'DT_INT32');
      await expectAsync(texts).toBeRejectedWithError(TypeError, /`x`: expected numbers or truth values/);
      for (const type of ['DT_QINT8', 'DT_STRING']) {
        await expectRefused(castFloats([1], type), new RegExp(`\`DstT\`.*received "${type}"`));
      }
    });
  },
  ['cpu native', 'wasm', 'tensorflow'],
);
