/** Rows of each codec in WGSL: how a number is read, and how a step writes what it makes of numbers. */
import type { Codec, Storage } from '../../codecs/codec.js';

interface CodecText {
  /** The body of `valueAt(row, c)` of a table that is bound as `name`. */
  value(name: string): string;
  /** Writes what `value(column)` gives, to the columns of one word; `cell` counts words. */
  store(value: (column: string) => string): string;
  /** Functions that `store` calls. */
  readonly helpers: string;
}

/** Threefry-2x32 as in `counter_random`, and rounding as in `codecs/half`, in WGSL. */
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

const NEVER = (): never => {
  throw new Error('rows of this codec take no steps');
};

const TEXTS: Readonly<Record<Storage, CodecText>> = {
  float32: {
    value: (name) => `return ${name}[row * uniforms.dim + c];`,
    store: (value) => `result[row * uniforms.dim + cell] = ${value('cell')};`,
    helpers: '',
  },
  float16: {
    value: (name) => `
      let pair = unpack2x16float(bitcast<u32>(${name}[row * uniforms.words + c / 2]));
      return select(pair.x, pair.y, (c & 1) == 1);`,
    store: (value) => `
    let a = ${value('(2 * cell)')};
    var b = 0.0;
    if (2 * cell + 1 < uniforms.dim) { b = ${value('(2 * cell + 1)')}; }
    result[row * uniforms.words + cell] = packedWord(row, cell, a, b);`,
    helpers: ROUNDING,
  },
  int8: {
    value: (name) => `
      let first = row * uniforms.words;
      let tail = first + (uniforms.dim + 3) / 4;
      let code = (bitcast<u32>(${name}[first + c / 4]) >> u32(8 * (c & 3))) & 255u;
      return bitcast<f32>(${name}[tail]) * f32(code) + bitcast<f32>(${name}[tail + 1]);`,
    store: NEVER,
    helpers: '',
  },
};

export function codecText({ name }: Codec): CodecText {
  return TEXTS[name];
}

/** `valueAt(row, column)` of a table of a codec, which is bound as `name`. */
export function valueText(codec: Codec, name: string): string {
  return `fn valueAt(row : i32, c : i32) -> f32 {${codecText(codec).value(name)}}\n`;
}
