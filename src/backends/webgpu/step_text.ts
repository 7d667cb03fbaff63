/** The shaders of a step: what one thread does to a number of a row, or to two in a word of float16. */
import { HYPER_FIELDS, type Hyper } from '../../rules/hyper.js';
import { SLOT_NAMES, UPDATES, type UpdateName } from '../../rules/rules.js';
import { POWER, updateText } from './row_updates.js';
import { QUOTIENT, ROW_OF, valueText } from './shader_text.js';

/** What a step is made of: each is a shader of its own. */
export interface StepForm {
  readonly optimizer: UpdateName;
  readonly storage: 'float32' | 'float16';
  readonly hyper: Hyper;
}

/** Names under which slots are bound. */
export function slotNames(optimizer: UpdateName): string[] {
  return SLOT_NAMES[optimizer].map((_, i) => `slot${i}`);
}

/** Numbers of a step as uniforms; those that are words of a key are whole. */
export function hyperFloats(hyper: Hyper): Record<string, number> {
  return Object.fromEntries(
    HYPER_FIELDS.filter((field) => !field.startsWith('roundingKey')).map((field) => [field, hyper[field]]),
  );
}

function clippedText({ clipGradientMin, clipGradientMax }: Hyper): string {
  // By comparisons, which leave what is no number as it is.
  return `
fn clipped(g : f32) -> f32 {
  var value = g;
  ${clipGradientMin === -Infinity ? '' : 'if (value < uniforms.clipGradientMin) { value = uniforms.clipGradientMin; }'}
  ${clipGradientMax === Infinity ? '' : 'if (value > uniforms.clipGradientMax) { value = uniforms.clipGradientMax; }'}
  return value;
}
`;
}

function limitedText({ clipWeightMin, clipWeightMax, constraint }: Hyper): string {
  return `
fn limited(w : f32) -> f32 {
  var value = w;
  ${clipWeightMin === -Infinity ? '' : 'if (value < uniforms.clipWeightMin) { value = uniforms.clipWeightMin; }'}
  ${clipWeightMax === Infinity ? '' : 'if (value > uniforms.clipWeightMax) { value = uniforms.clipWeightMax; }'}
  ${constraint === 1 ? 'if (value < 0.0) { value = 0.0; }' : ''}
  return value;
}
`;
}

/** Tells apart the shaders of steps that limit gradients or weights. */
export function limitsKey({
  clipGradientMin,
  clipGradientMax,
  clipWeightMin,
  clipWeightMax,
  constraint,
}: Hyper): string {
  const flags = [
    clipGradientMin !== -Infinity,
    clipGradientMax !== Infinity,
    clipWeightMin !== -Infinity,
    clipWeightMax !== Infinity,
  ];
  return flags.map(Number).join('') + (constraint === 1 ? 'p' : '');
}

/** `updated(row, column, gradient)`: the new value of an element of the table `name`; steps the slots. */
function updatedText({ optimizer }: StepForm, decay: 'weightDecay' | 'idleDecay'): string {
  const isPerRow = UPDATES[optimizer].isPerRow === true;
  const names = slotNames(optimizer);
  const place = isPerRow ? 'row' : 'at';
  const read = (i: number): string => {
    if (names[i] === undefined) return '0.0';
    return `${names[i]}${isPerRow ? '' : 'Written'}[${place}]`;
  };
  const write = isPerRow ? [] : names.map((name, i) => `${name}Written[at] = e.s${i};`);
  return `
struct Element { w : f32, s0 : f32, s1 : f32, s2 : f32 }
fn stepped(element : Element, g : f32) -> Element {
  var e = element;
  let h = uniforms;
  ${updateText(optimizer)}
  return e;
}
fn updated(row : i32, c : i32, g : f32) -> f32 {
  let at = row * uniforms.dim + c;
  let before = valueAt(row, c);
  var e = Element(before - uniforms.${decay} * before, ${read(0)}, ${read(1)}, ${read(2)});
  e = stepped(e, g);
  ${write.join('\n  ')}
  return e.w;
}
`;
}

/** Threefry-2x32 as in `counter_random`, and rounding as in `packed/rounding`, in WGSL. */
const ROUNDING = `
fn mixed(x : vec2<u32>, by : u32) -> vec2<u32> {
  let a = x.x + x.y;
  return vec2<u32>(a, ((x.y << by) | (x.y >> (32u - by))) ^ a);
}
fn fourRounds(x : vec2<u32>, r : vec4<u32>) -> vec2<u32> {
  return mixed(mixed(mixed(mixed(x, r.x), r.y), r.z), r.w);
}
/** The random words of two columns. */
fn randomWords(row : i32, pair : i32) -> vec2<u32> {
  let k0 = bitcast<u32>(uniforms.key0);
  let k1 = bitcast<u32>(uniforms.key1);
  let k2 = k0 ^ k1 ^ 0x1bd11bdau;
  let even = vec4<u32>(13u, 15u, 26u, 6u);
  let odd = vec4<u32>(17u, 29u, 16u, 24u);
  var x = vec2<u32>(bitcast<u32>(row) + k0, bitcast<u32>(pair) + k1);
  x = fourRounds(x, even) + vec2<u32>(k1, k2 + 1u);
  x = fourRounds(x, odd) + vec2<u32>(k2, k0 + 2u);
  x = fourRounds(x, even) + vec2<u32>(k0, k1 + 3u);
  x = fourRounds(x, odd) + vec2<u32>(k1, k2 + 4u);
  return fourRounds(x, even) + vec2<u32>(k2, k0 + 5u);
}
/** A float32 as the bits of a half, up or down by chance. */
fn rounded(value : f32, random : u32) -> u32 {
  let bits = bitcast<u32>(value);
  let sign = (bits >> 16u) & 0x8000u;
  let size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) { return 0x7e00u; }
  if (size == 0x7f800000u) { return sign | 0x7c00u; }
  if (size >= 0x477fe000u) { return sign | 0x7bffu; }
  if (size >= 0x38800000u) {
    // What float32 has more of the fraction decides: 13 bits.
    let above = (size & 0x1fffu) + (random >> 19u);
    return sign | ((((size >> 13u) - (112u << 10u))) + select(0u, 1u, above >= 0x2000u));
  }
  // Below 2^-14 halves are 2^-24 apart, and 21 bits decide. A float32 is its fraction times a power of two.
  let exponent = size >> 23u;
  if (exponent == 0u) { return sign; }
  let fraction = (size & 0x7fffffu) | 0x800000u;
  let shift = 126u - exponent;
  var below = 0u;
  var share = 0u;
  if (shift < 24u) {
    below = fraction >> shift;
    share = fraction & ((1u << shift) - 1u);
  } else {
    share = fraction;
  }
  if (shift > 21u) {
    let less = shift - 21u;
    share = select(0u, share >> less, less < 24u);
  } else {
    share = share << (21u - shift);
  }
  let above = share + (random >> 11u);
  return sign | (below + select(0u, 1u, above >= (1u << 21u)));
}
/** The word of two columns. */
fn packedWord(row : i32, pair : i32, a : f32, b : f32) -> i32 {
  let random = randomWords(uniforms.firstRow + row, pair);
  return bitcast<i32>(rounded(a, random.x) | (rounded(b, random.y) << 16u));
}
`;

/** Numbers of the rounding key as uniforms. */
export function keyInts(hyper: Hyper): Record<string, number> {
  const { roundingKey0, roundingKey1, roundingKey2, roundingKey3 } = hyper;
  return { key0: roundingKey0 | (roundingKey1 << 16), key1: roundingKey2 | (roundingKey3 << 16) };
}

/** Writes what `value(column)` gives, one column or the two of a word; `cell` counts columns, or words. */
function storeText(storage: StepForm['storage'], value: (column: string) => string): string {
  if (storage === 'float32') return `result[row * uniforms.dim + cell] = ${value('cell')};`;
  return `
    let a = ${value('(2 * cell)')};
    var b = 0.0;
    if (2 * cell + 1 < uniforms.dim) { b = ${value('(2 * cell + 1)')}; }
    result[row * uniforms.words + cell] = packedWord(row, cell, a, b);`;
}

const roundingText = (storage: StepForm['storage']): string => (storage === 'float16' ? ROUNDING : '');

/** Steps the touched rows; `sums` are their gradients. Into the table, or into `sums` where rows are constrained after. */
export function touchedText(form: StepForm, isConstrained: boolean): string {
  const { storage, hyper } = form;
  const sums = isConstrained ? 'result' : 'sums';
  const value = (c: string): string => `limited(updated(row, ${c}, clipped(${sums}[k * uniforms.dim + ${c}])))`;
  // A row that is constrained is written column by column into the sums.
  const store = isConstrained ? `result[k * uniforms.dim + cell] = ${value('cell')};` : storeText(storage, value);
  return `${QUOTIENT}${POWER}${ROW_OF}${valueText(storage, isConstrained ? 'table' : 'result')}
    ${clippedText(hyper)}${limitedText(hyper)}${updatedText(form, 'weightDecay')}${isConstrained ? '' : roundingText(storage)}
    fn run(index : i32) {
      let k = index / uniforms.cells;
      if (k >= uniforms.count) { return; }
      let cell = index % uniforms.cells;
      let row = rowOf(plan[k]);
      if (row < 0) { return; }
      ${store}
    }`;
}

/** Whether an id is among those of the step. */
const IS_TOUCHED = `
fn isTouched(id : i32) -> bool {
  var low = 0;
  var high = uniforms.count;
  while (low < high) {
    let middle = (low + high) / 2;
    let entry = plan[middle];
    if (entry == id) { return true; }
    if (select(entry, ~entry, entry < 0) < id) { low = middle + 1; } else { high = middle; }
  }
  return low < uniforms.count && plan[low] == id;
}`;

/** Leaves a shader for rows without ids where \`row\` is none. */
const UNLESS_IDLE = 'if (row >= uniforms.rows || isTouched(uniforms.firstRow + row)) { return; }';

/**
 * Writes rows that were stepped into `sums`, their norms within the limits. `idle`: those without ids, each of which has a
 * place in `sums`.
 */
export function constrainedText(storage: StepForm['storage'], rows: 'touched' | 'idle'): string {
  const ofTouched = 'if (k >= uniforms.count) { return; } let row = rowOf(plan[k]); if (row < 0) { return; }';
  return `${rows === 'touched' ? ROW_OF : IS_TOUCHED}${roundingText(storage)}
    fn run(k : i32) {
      ${rows === 'touched' ? ofTouched : `let row = k; ${UNLESS_IDLE}`}
      let first = k * uniforms.dim;
      var squares = 0.0;
      for (var c = 0; c < uniforms.dim; c++) { squares += sums[first + c] * sums[first + c]; }
      let norm = sqrt(squares);
      var limit = norm;
      if (limit < uniforms.constraintMin) { limit = uniforms.constraintMin; }
      if (limit > uniforms.constraintMax) { limit = uniforms.constraintMax; }
      let desired = uniforms.constraintRate * limit + (1.0 - uniforms.constraintRate) * norm;
      let scale = desired / (1e-7 + norm);
      for (var cell = 0; cell < uniforms.cells; cell++) {
        ${storeText(storage, (c) => `(sums[first + ${c}] * scale)`)}
      }
    }`;
}

/** Steps the rows that are not touched with a gradient of zero, where that moves them; into another buffer where they are constrained after. */
export function idleText(form: StepForm, isConstrained: boolean): string {
  const { storage, hyper } = form;
  const isMoved = UPDATES[form.optimizer].movesIdleRows === true;
  const value = (c: string): string => `limited(${isMoved ? `updated(row, ${c}, 0.0)` : `valueAt(row, ${c})`})`;
  const store = isConstrained ? `result[index] = ${value('cell')};` : storeText(storage, value);
  return `${QUOTIENT}${POWER}${IS_TOUCHED}${valueText(storage, isConstrained ? 'table' : 'result')}
    ${limitedText(hyper)}${isMoved ? updatedText(form, 'idleDecay') : ''}${isConstrained ? '' : roundingText(storage)}
    fn run(index : i32) {
      let row = index / uniforms.cells;
      ${UNLESS_IDLE}
      let cell = index % uniforms.cells;
      ${store}
    }`;
}

/** Steps a slot of one number per row: the mean of squares of a row's gradient. */
export function rowSlotText(hyper: Hyper): string {
  return `${ROW_OF}${clippedText(hyper)}
    fn run(k : i32) {
      if (k >= uniforms.count) { return; }
      let row = rowOf(plan[k]);
      if (row < 0) { return; }
      var squares = 0.0;
      for (var c = 0; c < uniforms.dim; c++) {
        let g = clipped(sums[k * uniforms.dim + c]);
        squares += g * g;
      }
      result[row] += squares / f32(uniforms.dim);
    }`;
}
