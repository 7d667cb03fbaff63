/**
 * What every step computes by, whatever its model: kernels of TensorFlow and gradients as they were when a step was
 * first checked, the engine, the backend, and the classes of tensors. Users may put others there.
 */
import { types } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import { BACKEND_NAME } from '../../backends/tensorflow/node_backend.js';
import { perProcess } from '../../base/per_process.js';
import { isOwn } from '../../tfjs/engine/own_functions.js';
import { KnownClasses, isKnownClass, takeClasses, type Class, type Replaced } from './known_classes.js';
import { sameProperties } from './same_properties.js';

const CLASSES: readonly Class[] = [tf.engine().constructor as never, tf.Tensor, tf.Variable, tf.LayerVariable];

/** An entry of a registry, which tfjs calls by its function. */
type Config = Partial<Pick<tf.KernelConfig, 'kernelFunc'> & Pick<tf.GradConfig, 'gradFunc'>>;

/** An entry as it was, and the function that it had. */
interface KnownEntry {
  readonly key: string;
  config: Config;
  run: unknown;
}

interface Registry {
  /** What tfjs knows now. */
  readonly now: ReadonlyMap<string, Config>;
  readonly what: string;
  readonly isOfSteps: (key: string) => boolean;
  readonly entries: KnownEntry[];
}

/** tfjs shares its registries under these names among all copies of itself. */
function registryOf(name: string): ReadonlyMap<string, Config> {
  const shared = (globalThis as unknown as { _tfGlobals?: Map<string, Map<string, Config>> })._tfGlobals;
  const found = shared?.get(name);
  if (found === undefined) throw new Error(`This version of TensorFlow.js has no ${name}.`);
  return found;
}

/** What a backend hands its ops to, as it was when the backend was first seen, and its class. */
interface KnownBackend {
  readonly binding: object;
  readonly hasSameBinding: (binding: object) => boolean;
  /** Null: that of its constructor is another one. */
  readonly prototype: object | null;
  readonly classes: KnownClasses;
}

interface KnownTfjs {
  readonly classes: KnownClasses;
  readonly registries: readonly Registry[];
  readonly backends: WeakMap<object, KnownBackend>;
}

const known = (): KnownTfjs =>
  perProcess('known tfjs', () => {
    takeClasses(CLASSES);
    const classes = new KnownClasses();
    for (const { prototype } of CLASSES) classes.add(prototype);
    const ofBackend = (key: string): boolean => key.startsWith(`${BACKEND_NAME}_`);
    const registries = [
      { now: registryOf('kernelRegistry'), what: 'kernel', isOfSteps: ofBackend, entries: [] },
      { now: registryOf('gradRegistry'), what: 'gradient', isOfSteps: () => true, entries: [] },
    ];
    return { classes, registries, backends: new WeakMap() };
  });

/** What a backend is bound to, as it was when this was first called. */
function knownBackend(backend: tf.KernelBackend): KnownBackend {
  takeClasses([backend.constructor as never]);
  const { binding } = backend as unknown as { binding: Readonly<Record<string, unknown>> };
  const names = Object.getOwnPropertyNames(binding);
  const values = names.map((name) => binding[name]);
  const found = Object.getPrototypeOf(backend) as object;
  const prototype = isKnownClass(found) ? found : null;
  const hasSameBinding = sameProperties(names, values);
  const made = { binding, hasSameBinding, prototype, classes: new KnownClasses().add(found) };
  known().backends.set(backend, made);
  return made;
}

/** Snapshots what is there; what is known already stays. */
export function snapshotTfjs(): void {
  const { registries, backends } = known();
  if (tf.getBackend() === BACKEND_NAME && !backends.has(tf.backend())) knownBackend(tf.backend());
  for (const { now, isOfSteps, entries } of registries) {
    const seen = new Set(entries.map(({ key }) => key));
    for (const [key, config] of now)
      if (isOfSteps(key) && !seen.has(key)) entries.push({ key, config, run: config.kernelFunc ?? config.gradFunc });
  }
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

/** Why a class is not as it was, in a sentence. */
export function replacedText({ className, field }: Replaced, what: string): string {
  return `${what} is of the class ${className}, whose ${field} was replaced`;
}

/** The part of tfjs that was patched since this package was loaded, in a sentence; null: none. Asked before each step. */
export function findTfjsPatch(): string | null {
  const { classes, registries, backends } = known();
  const replaced = classes.changed();
  if (replaced !== null) return replacedText(replaced, 'what it computes by');
  for (const { now, what, entries } of registries) {
    for (const entry of entries) {
      const { key, config, run } = entry;
      const found = now.get(key);
      if (found !== undefined && found === config && (found.kernelFunc ?? found.gradFunc) === run) continue;
      if (found === undefined || found === config || !isOwn(found)) return `the ${what} ${key} was replaced`;
      entry.config = found;
      entry.run = found.kernelFunc ?? found.gradFunc;
    }
  }
  const strange = strangeFunction(tf.engine(), 'the engine of tfjs');
  if (strange !== null || tf.getBackend() !== BACKEND_NAME) return strange;
  const backend = tf.backend();
  if (types.isProxy(backend)) return 'the backend is a Proxy';
  const bound = backends.get(backend) ?? knownBackend(backend);
  if (Object.getPrototypeOf(backend) !== bound.prototype) return 'the backend is of a class that is not known';
  const { binding } = backend as unknown as { binding: object };
  if (binding !== bound.binding || !bound.hasSameBinding(binding)) return 'what the backend is bound to was replaced';
  const ofBackend = bound.classes.changed();
  if (ofBackend !== null) return replacedText(ofBackend, 'the backend');
  return strangeFunction(backend, 'the backend');
}
