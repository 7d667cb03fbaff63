/** Pieces of WGSL that several shaders use. */
import type { Combiner } from '../../base/types.js';
import type { BagOptions } from '../kernel_set.js';

/** a / b, and 0 where b is 0. */
const QUOTIENT = `
fn quotient(a : f32, b : f32) -> f32 {
  if (b == 0.0) { return 0.0; }
  return a / b;
}
`;

/** `divisor(first, end)` of a bag. */
function divisor(combiner: Combiner, isWeighted: boolean): string {
  if (combiner === 'sum') return 'fn divisor(first : i32, end : i32) -> f32 { return 1.0; }\n';
  const root = combiner === 'sqrtn' ? 'sqrt(total)' : 'total';
  const weight = combiner === 'sqrtn' ? 'weights[i] * weights[i]' : 'weights[i]';
  const total = isWeighted
    ? `var total = 0.0; for (var i = first; i < end; i++) { total += ${weight}; }`
    : 'let total = f32(end - first);';
  return `fn divisor(first : i32, end : i32) -> f32 { ${total} return ${root}; }\n`;
}

/** The code of bags, and what tells it apart. */
export function bagText(
  { combiner }: Pick<BagOptions, 'combiner'>,
  isWeighted: boolean,
): { key: string; text: string } {
  return { key: `${combiner}${isWeighted ? 'Weighted' : ''}`, text: QUOTIENT + divisor(combiner, isWeighted) };
}

/** `rowNorm(row)`. */
export const ROW_NORM = `
fn rowNorm(row : i32) -> f32 {
  var squares = 0.0;
  for (var c = 0; c < uniforms.dim; c++) {
    let value = valueAt(row, c);
    squares += value * value;
  }
  return sqrt(squares);
}
`;

/** The row of an id within the part that is bound; -1 where it lies elsewhere. */
export const ROW_OF = `
fn rowOf(id : i32) -> i32 {
  if (id < uniforms.firstRow || id >= uniforms.firstRow + uniforms.rows) { return -1; }
  return id - uniforms.firstRow;
}
`;

export { QUOTIENT };
