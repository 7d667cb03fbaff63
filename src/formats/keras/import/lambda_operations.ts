/** Functions of TensorFlow between the layers of Keras 2 (TFOpLambda, SlicingOpLambda), as the operations that Keras 3 has. */
import { described } from '../../../base/errors.js';
import { isRecord } from '../../../base/options.js';
import { layerError } from '../layer_error.js';
import type { CallJson } from './nodes.js';
import type { Json, LayerJson } from './topology.js';

/** The operation, TensorFlow's names of the operands after the first one, and those of its settings. */
type Rule = readonly [operation: string, operands?: readonly string[], settings?: Readonly<Record<string, string>>];

const BOTH: readonly string[] = ['y'];
const REDUCED = { axis: 'axis', keepdims: 'keepdims' };
const ALONG = { axis: 'axis' };

const RULES: Readonly<Record<string, Rule>> = {
  '__operators__.add': ['Add', BOTH],
  '__operators__.getitem': ['GetItem', ['slice_spec']],
  'math.add': ['Add', BOTH],
  'math.subtract': ['Subtract', BOTH],
  'math.multiply': ['Multiply', BOTH],
  'math.truediv': ['TrueDivide', BOTH],
  'math.divide': ['TrueDivide', BOTH],
  'math.floordiv': ['FloorDivide', BOTH],
  'compat.v1.floor_div': ['FloorDivide', BOTH],
  'math.floormod': ['Mod', BOTH],
  'math.pow': ['Power', BOTH],
  'math.maximum': ['Maximum', BOTH],
  'math.minimum': ['Minimum', BOTH],
  'math.equal': ['Equal', BOTH],
  'math.not_equal': ['NotEqual', BOTH],
  'math.greater': ['Greater', BOTH],
  'math.greater_equal': ['GreaterEqual', BOTH],
  'math.less': ['Less', BOTH],
  'math.less_equal': ['LessEqual', BOTH],
  'math.logical_and': ['LogicalAnd', BOTH],
  'math.logical_or': ['LogicalOr', BOTH],
  'math.logical_not': ['LogicalNot'],
  'math.negative': ['Negative'],
  'math.abs': ['Abs'],
  'math.sign': ['Sign'],
  'math.square': ['Square'],
  'math.sqrt': ['Sqrt'],
  'math.rsqrt': ['Rsqrt'],
  'math.reciprocal': ['Reciprocal'],
  'math.exp': ['Exp'],
  'math.log': ['Log'],
  'math.log1p': ['Log1p'],
  'math.sin': ['Sin'],
  'math.cos': ['Cos'],
  'math.tanh': ['Tanh'],
  'math.sigmoid': ['Sigmoid'],
  'math.softplus': ['Softplus'],
  'math.erf': ['Erf'],
  'math.floor': ['Floor'],
  'math.ceil': ['Ceil'],
  'nn.relu': ['Relu'],
  'nn.relu6': ['Relu6'],
  'nn.elu': ['Elu'],
  'nn.selu': ['Selu'],
  'nn.gelu': ['Gelu', [], { approximate: 'approximate' }],
  'nn.softmax': ['Softmax', [], ALONG],
  'nn.log_softmax': ['LogSoftmax', [], ALONG],
  'math.reduce_sum': ['Sum', [], REDUCED],
  'math.reduce_mean': ['Mean', [], REDUCED],
  'math.reduce_max': ['Max', [], REDUCED],
  'math.reduce_min': ['Min', [], REDUCED],
  'math.reduce_prod': ['Prod', [], REDUCED],
  'math.reduce_std': ['Std', [], REDUCED],
  'math.reduce_variance': ['Var', [], REDUCED],
  'math.reduce_any': ['Any', [], REDUCED],
  'math.reduce_all': ['All', [], REDUCED],
  'math.reduce_logsumexp': ['Logsumexp', [], REDUCED],
  'math.cumsum': ['Cumsum', [], ALONG],
  'math.l2_normalize': ['Normalize', [], ALONG],
  'linalg.l2_normalize': ['Normalize', [], ALONG],
  'linalg.matmul': ['Matmul', ['b']],
  cast: ['Cast', [], { dtype: 'dtype' }],
  clip_by_value: ['Clip', [], { clip_value_min: 'x_min', clip_value_max: 'x_max' }],
  concat: ['Concatenate', [], ALONG],
  'compat.v1.gather': ['Take', ['indices'], ALONG],
  'compat.v1.squeeze': ['Squeeze', [], ALONG],
  'compat.v1.transpose': ['Transpose', [], { perm: 'axes' }],
  expand_dims: ['ExpandDims', [], ALONG],
  identity: ['Copy'],
  gather: ['Take', ['indices'], ALONG],
  one_hot: ['OneHot', [], { depth: 'num_classes' }],
  ones_like: ['OnesLike'],
  repeat: ['Repeat', [], { repeats: 'repeats', axis: 'axis' }],
  reshape: ['Reshape', [], { shape: 'newshape' }],
  reverse: ['Flip', [], ALONG],
  squeeze: ['Squeeze', [], ALONG],
  stack: ['Stack', [], ALONG],
  stop_gradient: ['StopGradient'],
  tanh: ['Tanh'],
  tile: ['Tile', [], { multiples: 'repeats' }],
  transpose: ['Transpose', [], { perm: 'axes' }],
  where: ['Where', ['x', 'y']],
  zeros_like: ['ZerosLike'],
};

/** What the functions of TensorFlow have by default where Keras 3 has something else. */
const DEFAULTS: Readonly<Record<string, Json>> = {
  concat: { axis: 0 },
  'math.cumsum': { axis: 0 },
  'nn.gelu': { approximate: false },
  // The length itself is at least the square root of 1e-12.
  'math.l2_normalize': { epsilon: 1e-6 },
  'linalg.l2_normalize': { epsilon: 1e-6 },
  gather: { axis: 0 },
  'compat.v1.gather': { axis: 0 },
};

export function isLambda({ className }: LayerJson): boolean {
  return className === 'TFOpLambda' || className === 'SlicingOpLambda';
}

/** Numbers in lists as a constant of Keras 3; whole ones are int32, which meets floats as floats. */
function readOperand(value: unknown): unknown {
  if (!Array.isArray(value) || value.length === 0) return value;
  const all = value.flat(Infinity) as unknown[];
  if (!all.every((each) => typeof each === 'number' || typeof each === 'boolean')) return value;
  const dtype = typeof all[0] === 'boolean' ? 'bool' : all.every(Number.isInteger) ? 'int32' : 'float32';
  return { class_name: '__tensor__', config: { value, dtype } };
}

function readSlices(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readSlices);
  if (!isRecord(value)) return value === '...' ? { class_name: '__ellipsis__', config: {} } : value;
  return 'start' in value ? { class_name: '__slice__', config: value } : value;
}

/** A layer and a call as Keras 3 would write them, and which operands are transposed before. */
interface Translated {
  readonly layer: LayerJson;
  readonly call: CallJson;
  readonly turned: readonly number[];
}

/** What Keras 3 would write in place of the function. Throws ValueError, which names the layer, for other functions. */
export function asOperation(layer: LayerJson, { args, kwargs }: CallJson): Translated {
  const name = layer.config['function'];
  const known = typeof name === 'string' && Object.hasOwn(RULES, name);
  if (!known) {
    const expected = `one of the functions ${Object.keys(RULES).join(', ')}`;
    throw layerError(layer, 'function', expected, name ?? described('none'));
  }
  const [className, operands = [], settings = {}] = RULES[name]!;
  const config: Record<string, unknown> = { name: layer.name, ...DEFAULTS[name] };
  const given = [...args];
  const turned: number[] = [];
  for (const [key, value] of Object.entries(kwargs)) {
    const place = operands.indexOf(key);
    if (place >= 0) {
      given[place + 1] = key === 'slice_spec' ? readSlices(value) : readOperand(value);
    } else if (Object.hasOwn(settings, key)) config[settings[key]!] = value;
    else if (key === 'transpose_a' || key === 'transpose_b') {
      if (value === true) turned.push(key === 'transpose_a' ? 0 : 1);
    } else if (key !== 'name' && value !== null && value !== false && value !== 0) {
      throw layerError(layer, `inbound_nodes.${key}`, 'nothing: the operation here has no such argument', value);
    }
  }
  const call = { args: given, kwargs: {}, tellsMask: false };
  return { layer: { ...layer, className, config, module: 'keras.src.ops' }, call, turned };
}
