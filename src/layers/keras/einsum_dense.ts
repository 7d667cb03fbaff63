/** The layer `EinsumDense`: an Einstein sum of an input and a kernel, with a bias along some axes. */
import { ValueError } from '../../base/errors.js';
import type { SymbolicShape } from '../../base/layer_arguments.js';
import { einsum } from '../operations/contractions.js';
import { weightFields, type Fields, type LayerKind } from './keras_layer.js';

/** The letters of an equation for an input of a known rank, and the sizes of all of them. */
interface Read {
  readonly input: string;
  readonly kernel: string;
  readonly output: string;
  readonly sizes: ReadonlyMap<string, number | null>;
  /** Letters that stand for an ellipsis. */
  readonly elided: string;
}

const EXPECTED = `an equation of an input and a kernel, such as 'abc,cd->abd' or '...x,xy->...y'`;

function read(fields: Fields, shape: SymbolicShape): Read {
  const { equation, outputShape } = fields;
  const found = typeof equation === 'string' ? /^(.+),(.+)->(.+)$/.exec(equation.replaceAll(' ', '')) : null;
  if (found === null) throw new ValueError('equation', EXPECTED, equation);
  const [, given, kernel, result] = found as unknown as [string, string, string, string];
  const free = [...'zwvutsrqponmlkjihgfedcba'].filter((letter) => !found[0].includes(letter));
  const count = given.includes('...') ? shape.length - given.replace('...', '').length : 0;
  const elided = free.slice(0, Math.max(0, count)).join('');
  const input = given.replace('...', elided);
  const output = result.replace('...', elided);
  if (input.length !== shape.length) throw new ValueError('inputs', `rank ${input.length}`, shape);
  const sizes = new Map<string, number | null>([...input].map((letter, i) => [letter, shape[i]!]));
  const told = [outputShape].flat() as (number | null)[];
  // The shape of the result is told without the batch, and without what an ellipsis before all stands for.
  const named = told.length === output.length - 1 ? output.slice(1) : output.slice(output.length - told.length);
  [...named].forEach((letter, i) => {
    if (!sizes.has(letter) || sizes.get(letter) === null) sizes.set(letter, told[i] ?? sizes.get(letter) ?? null);
  });
  return { input, kernel, output, sizes, elided };
}

function biasShape({ output, sizes }: Read, axes: unknown): number[] | null {
  if (typeof axes !== 'string' || axes === '') return null;
  const first = Math.min(...[...axes].map((letter) => output.indexOf(letter)));
  return [...output.slice(first)].map((letter) => (axes.includes(letter) ? sizes.get(letter)! : 1));
}

export const EINSUM_DENSE: LayerKind = {
  className: 'EinsumDense',
  fields: {
    equation: '',
    outputShape: null,
    activation: null,
    biasAxes: null,
    ...weightFields('kernel', 'glorotUniform'),
    ...weightFields('bias', 'zeros'),
  },
  weights: (shape, fields) => {
    const found = read(fields, shape);
    const bias = biasShape(found, fields['biasAxes']);
    const kernel = [...found.kernel].map((letter) => found.sizes.get(letter)!);
    return bias === null ? { kernel } : { kernel, bias };
  },
  shape: (shape, fields) => {
    const { output, sizes } = read(fields, shape);
    return [...output].map((letter) => sizes.get(letter) ?? null);
  },
  compute: (x, { fields, weight, activate }) => {
    const { input, kernel, output } = read(fields, x.shape);
    const product = einsum(`${input},${kernel}->${output}`, x, weight('kernel')!);
    const bias = weight('bias');
    return activate(bias === null ? product : product.add(bias));
  },
  passesMask: false,
  fixed: { lora_rank: [null] },
};
