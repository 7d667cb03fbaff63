/**
 * What every step computes by, whatever its model: kernels of TensorFlow and gradients as they were when a step was
 * first checked, the engine, the backend, and the classes of tensors. Users may put others there.
 */
import { types } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import { BACKEND_NAME } from '../../backends/tensorflow/node_backend.js';
import { perProcess } from '../../base/per_process.js';
import { isOwn } from '../../tfjs/engine/own_functions.js';
import { knownClass, takeClasses, type Class } from './known_classes.js';
import { sameProperties } from './same_properties.js';

const CLASSES: readonly Class[] = [tf.engine().constructor as never, tf.Tensor, tf.Variable, tf.LayerVariable];

/** An entry of a registry, which tfjs calls by its function. */
type Config = Partial<Pick<tf.KernelConfig, 'kernelFunc'> & Pick<tf.GradConfig, 'gradFunc'>>;

interface Registry {
  /** What tfjs knows now. */
  readonly now: ReadonlyMap<string, Config>;
  readonly what: string;
  readonly isOfSteps: (key: string) => boolean;
  /** What it was, and the function that it had. */
  readonly known: Map<string, readonly [Config, unknown]>;
}

const functionOf = ({ kernelFunc, gradFunc }: Config): unknown => kernelFunc ?? gradFunc;

/** tfjs shares its registries under these names among all copies of itself. */
function registryOf(name: string): ReadonlyMap<string, Config> {
  const shared = (globalThis as unknown as { _tfGlobals?: Map<string, Map<string, Config>> })._tfGlobals;
  const found = shared?.get(name);
  if (found === undefined) throw new Error(`This version of TensorFlow.js has no ${name}.`);
  return found;
}

const registries = (): readonly Registry[] =>
  perProcess('known kernels', () => {
    const ofBackend = (key: string): boolean => key.startsWith(`${BACKEND_NAME}_`);
    return [
      { now: registryOf('kernelRegistry'), what: 'kernel', isOfSteps: ofBackend, known: new Map() },
      { now: registryOf('gradRegistry'), what: 'gradient', isOfSteps: () => true, known: new Map() },
    ];
  });

/** What a backend hands its ops to, as it was when the backend was first seen. */
interface Bound {
  readonly binding: object;
  readonly isSame: (binding: object) => boolean;
}

const bound = (): WeakMap<object, Bound> => perProcess('known bindings', () => new WeakMap());

/** Snapshots what a backend is bound to, unless it is known already. */
function takeBackend(backend: tf.KernelBackend): void {
  takeClasses([backend.constructor as never]);
  if (bound().has(backend)) return;
  const { binding } = backend as unknown as { binding: Readonly<Record<string, unknown>> };
  const names = Object.getOwnPropertyNames(binding);
  const values = names.map((name) => binding[name]);
  bound().set(backend, { binding, isSame: sameProperties(names, values) });
}

/** Snapshots what is there; what is known already stays. */
export function snapshotTfjs(): void {
  takeClasses(CLASSES);
  if (tf.getBackend() === BACKEND_NAME) takeBackend(tf.backend());
  for (const { now, isOfSteps, known } of registries()) {
    for (const [key, config] of now)
      if (isOfSteps(key) && !known.has(key)) known.set(key, [config, functionOf(config)]);
  }
}

/** The first kernel or gradient that was replaced; null: none. */
function replacedKernel(): string | null {
  for (const { now, what, known } of registries()) {
    for (const [key, [config, run]] of known) {
      const found = now.get(key);
      if (found === config && functionOf(found) === run) continue;
      if (found === undefined || found === config || !isOwn(found)) return `the ${what} ${key} was replaced`;
      known.set(key, [found, functionOf(found)]);
    }
  }
  return null;
}

/** The first function of an object that is neither one of its class nor of this package; null: none. */
function strangeFunction(holder: object, what: string): string | null {
  const ofClass = Object.getPrototypeOf(holder) as Readonly<Record<string, unknown>>;
  for (const name of Object.getOwnPropertyNames(holder)) {
    const { value, get } = Object.getOwnPropertyDescriptor(holder, name)!;
    const found: unknown = get ?? value;
    if (typeof found === 'function' && !isOwn(found) && found !== ofClass[name])
      return `${what} has a function ${name} of its own`;
  }
  return null;
}

/** The first class of an object, or of what that derives from, that is not as it was, in a sentence; null: none. */
export function replacedMethod(prototype: object, what: string): string | null {
  for (const each of knownClass(prototype)?.withBases() ?? []) {
    const replaced = each.changed();
    if (replaced !== null) return `${what} is of the class ${each.name}, whose ${replaced} was replaced`;
  }
  return null;
}

/** The part of tfjs that was patched since this package was loaded, in a sentence; null: none. */
export function findTfjsPatch(): string | null {
  for (const { prototype } of CLASSES) {
    const replaced = replacedMethod(prototype, 'what it computes by');
    if (replaced !== null) return replaced;
  }
  return replacedKernel() ?? strangeFunction(tf.engine(), 'the engine of tfjs') ?? strangeInBackend();
}

function strangeInBackend(): string | null {
  if (tf.getBackend() !== BACKEND_NAME) return null;
  const backend = tf.backend();
  if (types.isProxy(backend)) return 'the backend is a Proxy';
  takeBackend(backend);
  const prototype = Object.getPrototypeOf(backend) as object;
  if (knownClass(prototype) === undefined) return 'the backend is of a class that is not known';
  const [known, { binding }] = [bound().get(backend)!, backend as unknown as { binding: object }];
  if (binding !== known.binding || !known.isSame(binding)) return 'what the backend is bound to was replaced';
  return replacedMethod(prototype, 'the backend') ?? strangeFunction(backend, 'the backend');
}
