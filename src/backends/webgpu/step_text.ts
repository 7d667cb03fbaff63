/** The shaders of a step: what one thread does to a number of a row, or to all in a word of it. */
import type { Codec } from '../../codecs/codec.js';
import { HYPER_FIELDS, type Hyper } from '../../rules/hyper.js';
import { isRowSlot, SLOT_NAMES, UPDATES, type UpdateName } from '../../rules/rules.js';
import { POWER, updateText } from './row_updates.js';
import { codecText, valueText } from './codec_text.js';
import { QUOTIENT, ROW_OF } from './shader_text.js';

/** What a step is made of: each is a shader of its own. */
export interface StepForm {
  readonly optimizer: UpdateName;
  readonly codec: Codec;
  readonly hyper: Hyper;
}

/** Names under which slots are bound. */
export function slotNames(optimizer: UpdateName): string[] {
  return SLOT_NAMES[optimizer].map((_, i) => `slot${i}`);
}

/** Those that threads of the table's elements write; slots of one number per row are stepped before them. */
export function writtenSlots(optimizer: UpdateName): string[] {
  return slotNames(optimizer).filter((_, i) => !isRowSlot(optimizer, i));
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
  const names = slotNames(optimizer);
  const read = (i: number): string => {
    if (names[i] === undefined) return '0.0';
    return isRowSlot(optimizer, i) ? `${names[i]}[row]` : `${names[i]}Written[at]`;
  };
  const write = writtenSlots(optimizer).map((name, i) => `${name}Written[at] = e.s${i};`);
  return `
struct Element { w : f32, s0 : f32, s1 : f32, s2 : f32, s3 : f32 }
fn stepped(element : Element, g : f32) -> Element {
  var e = element;
  let h = uniforms;
  ${updateText(optimizer)}
  return e;
}
fn updated(row : i32, c : i32, g : f32) -> f32 {
  let at = row * uniforms.dim + c;
  let before = valueAt(row, c);
  var e = Element(before - uniforms.${decay} * before, ${[0, 1, 2, 3].map(read).join(', ')});
  e = stepped(e, g);
  ${write.join('\n  ')}
  return e.w;
}
`;
}

/** Numbers of the rounding key as uniforms. */
export function keyInts(hyper: Hyper): Record<string, number> {
  const { roundingKey0, roundingKey1, roundingKey2, roundingKey3 } = hyper;
  return { key0: roundingKey0 | (roundingKey1 << 16), key1: roundingKey2 | (roundingKey3 << 16) };
}

/** Steps the touched rows; `sums` are their gradients. Into the table, or into `sums` where rows are constrained after. */
export function touchedText(form: StepForm, isConstrained: boolean): string {
  const { codec, hyper } = form;
  const text = codecText(codec);
  const sums = isConstrained ? 'result' : 'sums';
  const value = (c: string): string => `limited(updated(row, ${c}, clipped(${sums}[k * uniforms.dim + ${c}])))`;
  // A row that is constrained is written column by column into the sums.
  const store = isConstrained ? `result[k * uniforms.dim + cell] = ${value('cell')};` : text.store(value);
  return `${QUOTIENT}${POWER}${ROW_OF}${valueText(codec, isConstrained ? 'table' : 'result')}
    ${clippedText(hyper)}${limitedText(hyper)}${updatedText(form, 'weightDecay')}${isConstrained ? '' : text.helpers}
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
export function constrainedText(codec: Codec, rows: 'touched' | 'idle'): string {
  const { store, helpers } = codecText(codec);
  const ofTouched = 'if (k >= uniforms.count) { return; } let row = rowOf(plan[k]); if (row < 0) { return; }';
  return `${rows === 'touched' ? ROW_OF : IS_TOUCHED}${helpers}
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
        ${store((c) => `(sums[first + ${c}] * scale)`)}
      }
    }`;
}

/** Steps the rows that are not touched with a gradient of zero, where that moves them; into another buffer where they are constrained after. */
export function idleText(form: StepForm, isConstrained: boolean): string {
  const { codec, hyper } = form;
  const text = codecText(codec);
  const isMoved = UPDATES[form.optimizer].movesIdleRows === true;
  const value = (c: string): string => `limited(${isMoved ? `updated(row, ${c}, 0.0)` : `valueAt(row, ${c})`})`;
  const store = isConstrained ? `result[index] = ${value('cell')};` : text.store(value);
  return `${QUOTIENT}${POWER}${IS_TOUCHED}${valueText(codec, isConstrained ? 'table' : 'result')}
    ${limitedText(hyper)}${isMoved ? updatedText(form, 'idleDecay') : ''}${isConstrained ? '' : text.helpers}
    fn run(index : i32) {
      let row = index / uniforms.cells;
      ${UNLESS_IDLE}
      let cell = index % uniforms.cells;
      ${store}
    }`;
}

/** Steps a slot of one number per row: the mean of squares of a row's gradient, or the count of its steps. */
export function rowSlotText({ optimizer, hyper }: StepForm): string {
  const ofTouched = `${ROW_OF}${clippedText(hyper)}
    fn run(k : i32) {
      if (k >= uniforms.count) { return; }
      let row = rowOf(plan[k]);
      if (row < 0) { return; }`;
  if (optimizer !== 'rowWiseAdagrad') return `${ofTouched}\n      result[row] += 1.0;\n    }`;
  return `${ofTouched}
      var squares = 0.0;
      for (var c = 0; c < uniforms.dim; c++) {
        let g = clipped(sums[k * uniforms.dim + c]);
        squares += g * g;
      }
      result[row] += squares / f32(uniforms.dim);
    }`;
}

/** Counts a step of the rows that are not touched. */
export function idleCountText(): string {
  return `${IS_TOUCHED}
    fn run(row : i32) {
      ${UNLESS_IDLE}
      result[row] += 1.0;
    }`;
}
