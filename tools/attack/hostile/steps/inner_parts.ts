/** Inner parts of tfjs, of layers and of optimizers that somebody replaces, removes or locks between steps. */
import * as tf from '@tensorflow/tfjs';
import type * as emb from 'tfjs-embeddings/node';
import { layer, put, type Fields, type HostileStep, type Training } from './hostile_step.js';
import { WIDTH, type ModelName } from './models.js';

type Act = HostileStep['act'];
type Batch = NonNullable<HostileStep['batch']>;
const both = (name: string, model: ModelName, act: Act): HostileStep[] =>
  (['first', 'later'] as const).map((when) => ({ name, model, when, act }));
const always = (name: string, model: ModelName, act: Act): HostileStep => ({ name, model, when: 'always', act });
const fed = (name: string, model: ModelName, batch: Batch): HostileStep => ({
  name,
  model,
  when: 'first',
  act: () => undefined,
  batch,
});

const variable = (model: tf.LayersModel, at = 0): tf.Variable =>
  (model.weights.at(at) as unknown as { val: tf.Variable }).val;
const fields = (holder: object): Fields => holder as Fields;
const registered = (): Record<string, tf.Variable> => tf.engine().registeredVariables;

/** Sets a plain field until the training is over. */
const set = (training: Training, holder: object, name: PropertyKey, value: unknown): void =>
  put(training, holder, name, { value, writable: true, enumerable: true });

type Execute = (name: string, ...rest: unknown[]) => unknown;

/** Runs another op in the place of softplus in the second half of the steps. */
function otherwise({ factor }: Training, holder: object, method: string): Execute {
  const execute = fields(holder)[method] as Execute;
  return (name, ...rest) => execute.call(holder, name === 'Softplus' && factor() !== 1 ? 'Softsign' : name, ...rest);
}

/** What stands before an object, with a method of its own; what is set stays with it. */
function before(holder: object, method: string, execute: Execute): object {
  const own: Fields = { [method]: execute };
  return new Proxy(holder, {
    get: (target, name) => (name in own ? own[name] : (Reflect.get(target, name, target) as unknown)),
    set: (_, name, value) => Reflect.set(own, name, value),
  });
}

const EXECUTE = 'executeSingleOutput';
const ofTfjs: readonly HostileStep[] = [
  ...both('a backend behind a Proxy', 'normalized', (training) =>
    set(training, tf.engine(), 'backendInstance', before(tf.backend(), EXECUTE, otherwise(training, tf.backend(), EXECUTE)))),
  ...both('a backend that derives from the backend', 'normalized', (training) => {
    const own = { [EXECUTE]: otherwise(training, tf.backend(), EXECUTE) };
    set(training, tf.engine(), 'backendInstance', Object.assign(Object.create(tf.backend()) as object, own));
  }),
  ...both('what the backend is bound to, behind a Proxy', 'normalized', (training) => {
    const { binding } = fields(tf.backend()) as { binding: object };
    set(training, tf.backend(), 'binding', before(binding, 'executeOp', otherwise(training, binding, 'executeOp')));
  }),
  ...both('the executeOp that the backend is bound to', 'normalized', (training) => {
    const { binding } = fields(tf.backend()) as { binding: Fields };
    const { executeOp } = binding;
    binding['executeOp'] = otherwise(training, binding, 'executeOp');
    training.ends.push(() => void (binding['executeOp'] = executeOp));
  }),
  ...both('a kernel that was removed', 'normalized', ({ ends }) => {
    const stock = tf.getKernel('Softplus', 'tensorflow');
    tf.unregisterKernel('Softplus', 'tensorflow');
    ends.push(() => tf.registerKernel(stock));
  }),
  ...both('a gradient that was removed', 'normalized', ({ ends }) => {
    const stock = tf.getGradient('Softplus');
    tf.unregisterGradient('Softplus');
    ends.push(() => tf.registerGradient(stock));
  }),
  ...both('a kernel whose function was put into its config', 'normalized', (training) => {
    const config = tf.getKernel('Softplus', 'tensorflow');
    const { kernelFunc } = config;
    set(training, config, 'kernelFunc', (args: never) => {
      const result = kernelFunc(args) as tf.TensorInfo;
      return tf.tidy(() => tf.engine().makeTensorFromTensorInfo(result).mul(training.factor()));
    });
  }),
  ...both('a gradient whose function was put into its config', 'normalized', (training) => {
    const config = tf.getGradient('Softplus');
    const { gradFunc } = config;
    set(training, config, 'gradFunc', (...args: Parameters<tf.GradFunc>) => {
      const made = gradFunc(...args) as Record<string, () => tf.Tensor>;
      return Object.fromEntries(Object.entries(made).map(([name, f]) => [name, () => tf.tidy(() => f().mul(training.factor()))]));
    });
  }),
  ...both('a global function that computes', 'normalized', (training) => {
    const { sqrt } = Math;
    set(training, Math, 'sqrt', (x: number) => sqrt(x) * training.factor());
  }),
  ...both('the assign of all variables', 'tables', (training) => {
    const { assign } = tf.Variable.prototype;
    set(training, tf.Variable.prototype, 'assign', function (this: tf.Variable, value: tf.Tensor) {
      assign.call(this, tf.tidy(() => tf.mul(value, training.factor())) as never);
    });
  }),
]; // prettier-ignore

const variables: readonly HostileStep[] = [
  ...both('a variable that nobody has registered', 'nested', ({ model }) => {
    delete registered()[variable(model, 1).name];
  }),
  ...both('another variable registered under the name of one', 'nested', (training) => {
    const own = variable(training.model, 1);
    const other = tf.tidy(() => tf.variable(own.mul(0.5)));
    set(training, registered(), own.name, other);
  }),
  ...both('another variable registered under the name of a table', 'tables', (training) => {
    const own = variable(training.model);
    const other = tf.tidy(() => tf.variable(own.mul(0.5)));
    set(training, registered(), own.name, other);
  }),
  ...both('two variables of one name', 'nested', ({ model }) => {
    fields(variable(model, 3))['name'] = variable(model, 1).name;
  }),
  ...both('a variable with another name', 'nested', ({ model }) => {
    fields(variable(model, 3))['name'] = 'somebody';
  }),
  ...both('a variable that is trainable by a getter', 'nested', (training) =>
    put(training, variable(training.model, 1), 'trainable', { get: () => training.factor() === 1, enumerable: true })),
  ...both('a variable on the data of another', 'nested', ({ model }) => {
    fields(variable(model, 3))['dataId'] = tf.keep(tf.tidy(() => variable(model, 1).mul(1))).dataId;
  }),
  ...both('a bias of another rank', 'sequential', ({ model }) => {
    fields(variable(model, 1))['shape'] = [1, WIDTH];
  }),
  ...both('a moving variance that is another variable', 'normalized', ({ model }) => {
    const weight = layer(model, 'batch_normalization')['movingVariance'] as { val: tf.Variable };
    weight.val = tf.tidy(() => tf.variable(weight.val.mul(2), false));
  }),
  always('a moving mean that is assigned', 'rectified', ({ model, step }) => {
    const { val } = layer(model, 'batch_normalization')['movingMean'] as { val: tf.Variable };
    if (step % 3 === 2) tf.tidy(() => val.assign(val.add(0.5)));
  }),
  always('slots that are written', 'tables', ({ model, step }) => {
    if (step % 4 !== 3) return;
    const own = new Set(model.weights.map((weight) => weight.read()));
    const slots = Object.values(registered()).filter((each) => !own.has(each) && each.rank === 2);
    tf.tidy(() => slots.forEach((slot) => slot.assign(slot.mul(0.5))));
  }),
  always('rows of a table that are written', 'tables', ({ model, step }) => {
    if (step % 4 !== 3) return;
    const { table } = layer(model, 'embedding') as unknown as { table: emb.EmbeddingTable };
    tf.tidy(() => table.variable!.assign(table.variable!.mul(tf.linspace(0.5, 1, table.variable!.shape[0]!).expandDims(1))));
  }),
]; // prettier-ignore

const optimizers: readonly HostileStep[] = [
  ...both('a rate that is put into the settings', 'tables', ({ optimizer }) => void (fields(optimizer.settings)['learningRate'] = 0.2)),
  ...both('a function that is put into the settings', 'tables', ({ optimizer, factor }) => {
    fields(optimizer.settings)['learningRate'] = () => 0.1 * factor();
  }),
  ...both('a rate behind a getter of the settings', 'tables', (training) =>
    put(training, training.optimizer.settings, 'learningRate', { get: () => 0.1 * training.factor(), enumerable: true })),
  ...both('a rate of the optimizer itself', 'tables', (training) =>
    put(training, training.optimizer, 'learningRate', { get: () => 0.3 * training.factor() })),
  ...both('settings that cannot be changed any more', 'tables', ({ optimizer }) => void Object.freeze(optimizer.settings)),
  ...both('a model that is compiled anew with its optimizer and another loss', 'tables', ({ model, optimizer }) =>
    model.compile({ optimizer, loss: 'binaryCrossentropy', metrics: ['mse'] })),
]; // prettier-ignore

const layers: readonly HostileStep[] = [
  ...both('an activation that is gone', 'tables', ({ model }) => void delete layer(model, 'dense')['activation']),
  ...both('an output that is another', 'merged', ({ model }) => {
    model.outputs[0] = (layer(model, 'dot')['inboundNodes'] as { outputTensors: tf.SymbolicTensor[] }[])[0]!.outputTensors[0]!;
  }),
  ...both('an input of a symbol that is another', 'merged', ({ model }) => {
    const symbolOf = (kind: string): Fields =>
      (layer(model, kind)['inboundNodes'] as { outputTensors: Fields[] }[])[0]!.outputTensors[0]!;
    (symbolOf('add')['inputs'] as unknown[])[0] = (symbolOf('multiply')['inputs'] as unknown[])[0];
  }),
  ...both('numbers of nodes and tensors of a symbol', 'merged', ({ model }) => {
    const symbol = (layer(model, 'add')['inboundNodes'] as { outputTensors: Fields[] }[])[0]!.outputTensors[0]!;
    Object.assign(symbol, { nodeIndex: 3, tensorIndex: 1 });
  }),
  ...both('a model and layers that are frozen objects', 'sequential', ({ model }) => {
    model.layers.forEach((each) => Object.freeze(each));
    Object.seal(model);
  }),
  ...both('the shape of the noise of a dropout', 'dropped', ({ model }) => void (layer(model, 'dropout')['noiseShape'] = [12, 1])),
  ...both('the computeMask of a layer', 'lstm', (training) => {
    const mask = (ids: tf.Tensor): tf.Tensor => tf.tidy(() => tf.greater(ids, 10 * training.factor()));
    set(training, layer(training.model, 'embedding'), 'computeMask', mask);
  }),
  ...both('the supportsMasking of a layer', 'lstm', ({ model }) => void (layer(model, 'lstm')['supportsMasking'] = false)),
  ...both('steps of a recurrent layer that are unrolled', 'lstm', ({ model }) => void (layer(model, 'lstm')['unroll'] = true)),
  ...both('an implementation of a cell', 'gru', ({ model }) => void ((layer(model, 'gru')['cell'] as Fields)['implementation'] = 1)),
]; // prettier-ignore

const own = new WeakMap<tf.LayersModel, tf.Variable>();
const batches: readonly HostileStep[] = [
  fed('a variable of the caller that is assigned between steps', 'sequential', ({ model }, x, y) => {
    const held = own.get(model) ?? tf.variable(x, false);
    own.set(model, held);
    held.assign(x as never);
    return [held, y];
  }),
  fed('targets that are a slice of the inputs', 'sequential', (_, x) => [x, x.slice([0, 0], [-1, 1])]),
  fed('a batch that another backend made', 'sequential', ({ step }, x, y) => {
    const values = x.dataSync();
    const given = tf.tensor(Float32Array.from(values, (value) => value * (1 + step / 10)), x.shape);
    return [given, y];
  }),
]; // prettier-ignore

export const INNER_PARTS: readonly HostileStep[] = [...ofTfjs, ...variables, ...optimizers, ...layers, ...batches];
