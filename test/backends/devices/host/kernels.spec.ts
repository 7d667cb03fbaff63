/** Kernels of the host on tables that lie on devices. */
import * as tf from '@tensorflow/tfjs';
import { running } from '../../../../src/backends/emulator/register.js';
import { wholeOn } from '../../../../src/partition/table_layout.js';
import { HOSTS, describeEmulator } from '../../emulator/describe_emulator.js';
import { numbersOf, place } from '../../emulator/tables.js';

describeEmulator(
  'local copies of tables',
  { chips: 2, coresPerChip: 1 },
  () => {
    it('are freed, also where a later one cannot be read', () => {
      const size = { rows: 2, columns: 2 };
      const [a, b] = [0, 1].map((device) => place(wholeOn(device, size), Float32Array.of(1, 2, 3, 4)));
      // No op around it, whose scope would clean up.
      const add = (): tf.Tensor => tf.engine().runKernel(tf.Add, { a: a!, b: b! }) as unknown as tf.Tensor;
      const sum = add();
      expect(numbersOf(sum)).toEqual([2, 4, 6, 8]);
      sum.dispose();
      const before = [tf.memory().numTensors, tf.memory().numDataBuffers, tf.backend().numDataIds()];
      const read = spyOn(running()!.tensors.get(b!.dataId)!, 'read').and.throwError('cannot be read');
      expect(add).toThrowError('cannot be read');
      expect([tf.memory().numTensors, tf.memory().numDataBuffers, tf.backend().numDataIds()]).toEqual(before);
      read.and.callThrough();
      tf.dispose([a!, b!]);
    });

    it('are made beside inputs that a kernel has not been given', () => {
      const table = place(wholeOn(1, { rows: 2, columns: 2 }), Float32Array.of(1, 2, 3, 4));
      tf.tidy(() => {
        for (const missing of [undefined, null]) {
          const inputs = { a: table, b: tf.ones([2, 2]), missing } as unknown as tf.NamedTensorMap;
          expect(numbersOf(tf.engine().runKernel(tf.Add, inputs) as unknown as tf.Tensor)).toEqual([2, 3, 4, 5]);
        }
      });
      table.dispose();
    });
  },
  HOSTS,
);
