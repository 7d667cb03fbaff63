/** Sequences of a batch, each backwards as far as it reaches. */
import { ValueError, described } from '../../../base/errors.js';
import { copyValues, hostArray, integers, sizeOf, type HostArray } from '../host_array.js';

/** What lies behind the length of a sequence stays where it is. */
export function reverseSequence(input: HostArray, lengths: HostArray, along: number, batch: number): HostArray {
  const { shape, dtype, values } = input;
  const inRank = (axis: number, name: string): void => {
    if (axis < 0 || axis >= shape.length) throw new ValueError(name, `an axis in [0, ${shape.length})`, axis);
  };
  inRank(along, 'seq_dim');
  inRank(batch, 'batch_dim');
  if (along === batch) throw new ValueError('seq_dim', `another axis than batch_dim, ${batch}`, along);
  const [steps, rows] = [shape[along]!, shape[batch]!];
  const reach = integers(lengths, 'seq_lengths');
  if (lengths.shape.length !== 1 || reach.length !== rows) {
    throw new ValueError(
      'seq_lengths',
      `a vector of ${rows} lengths`,
      described(`shape [${lengths.shape.join(', ')}]`),
    );
  }
  const stray = reach.find((length) => length < 0 || length > steps);
  if (stray !== undefined) throw new ValueError('seq_lengths', `lengths in [0, ${steps}]`, stray);
  const result = hostArray(dtype, shape);
  const stride = (axis: number): number => sizeOf(shape.slice(axis + 1));
  const [step, row] = [stride(along), stride(batch)];
  const inner = Math.min(step, row);
  for (let at = 0; at < values.length; at += inner) {
    const place = Math.floor(at / step) % steps;
    const length = reach[Math.floor(at / row) % rows]!;
    const from = place < length ? at + (length - 1 - 2 * place) * step : at;
    copyValues(values, from, inner, result.values, at);
  }
  return result;
}
