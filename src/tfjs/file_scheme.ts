/**
 * Takes over `file://`. Node only.
 *
 * tfjs refuses two handlers for one URL. Where tfjs-node is loaded, before or after this package, its handler stays the
 * one that tfjs finds, and what it does is done here.
 */
import * as tf from '@tensorflow/tfjs';
import { resolve } from 'node:path';
import { perProcess } from '../base/per_process.js';
import { OPEN_MODEL } from '../base/platform.js';
import { MODELS, override } from './models/own_models.js';

const SCHEME = 'file://';
/** Under this name a handler tells which path it saves to. */
const PATH = Symbol.for('tfjs-embeddings.path');

type Url = string | string[];

type LoadedWeights = [tf.io.WeightsManifestEntry[], ArrayBuffer];

/** What happens to models under `file://`. */
export interface ModelFiles {
  /** Loads the model of a `model.json`. */
  load(path: string): Promise<tf.io.ModelArtifacts>;
  /** Opens the model of a `model.json`, whose weights are read as they are asked for. */
  open(path: string): Promise<object | null>;
  /** Loads the weights that a manifest lists, from the folder of this path. */
  loadWeights(path: string, manifest: tf.io.WeightsManifestConfig): Promise<LoadedWeights>;
  /** Saves into a folder what tfjs has put together. */
  saveArtifacts(folder: string, artifacts: tf.io.ModelArtifacts): Promise<tf.io.SaveResult>;
  /** Saves a model into a folder before tfjs has put anything together. */
  saveModel(folder: string, model: tf.LayersModel, config?: tf.io.SaveConfig): Promise<tf.io.SaveResult>;
}

class FolderHandler implements tf.io.IOHandler {
  readonly [PATH]: string;
  readonly #files: ModelFiles;

  constructor(path: string, files: ModelFiles) {
    this[PATH] = path;
    this.#files = files;
  }

  save(artifacts: tf.io.ModelArtifacts): Promise<tf.io.SaveResult> {
    return this.#files.saveArtifacts(this[PATH], artifacts);
  }

  load(): Promise<tf.io.ModelArtifacts> {
    return this.#files.load(this[PATH]);
  }

  [OPEN_MODEL](): Promise<object | null> {
    return this.#files.open(this[PATH]);
  }
}

/** tfjs-node's handler. Two paths are those of a graph and of the manifest of its weights. */
interface StockHandler {
  path: string | [string, string];
  save(artifacts: tf.io.ModelArtifacts): Promise<tf.io.SaveResult>;
  load(): Promise<tf.io.ModelArtifacts>;
  loadWeights(manifest: tf.io.WeightsManifestConfig, path: string): Promise<LoadedWeights>;
}

function isStock(handler: object): handler is StockHandler {
  return 'MODEL_JSON_FILENAME' in handler && 'path' in handler;
}

/** Puts `files` behind the handlers of tfjs-node, those of `tf.io.fileSystem(path)` included. */
function takeOver(handler: StockHandler, files: ModelFiles): void {
  const handlers = Object.getPrototypeOf(handler) as StockHandler;
  if (PATH in handlers) return;
  const { save, load } = handlers;
  Object.defineProperty(handlers, PATH, {
    get(this: StockHandler) {
      return typeof this.path === 'string' ? this.path : null;
    },
  });
  Object.defineProperty(handlers, OPEN_MODEL, {
    value(this: StockHandler): Promise<object | null> {
      return typeof this.path === 'string' ? files.open(this.path) : Promise.resolve(null);
    },
  });
  handlers.save = function (artifacts) {
    return typeof this.path === 'string' ? files.saveArtifacts(this.path, artifacts) : save.call(this, artifacts);
  };
  handlers.load = function () {
    return typeof this.path === 'string' ? files.load(this.path) : load.call(this);
  };
  handlers.loadWeights = (manifest, path) => files.loadWeights(path, manifest);
}

/** While others are asked for their handlers. */
let isAsking = false;

/** A handler for a URL that no other package has one for. */
function route(url: Url, handlersOf: (url: Url) => tf.io.IOHandler[], files: ModelFiles): tf.io.IOHandler | null {
  if (isAsking || ![url].flat().every((each) => typeof each === 'string' && each.startsWith(SCHEME))) return null;
  isAsking = true;
  try {
    const others = handlersOf(url);
    for (const handler of others) if (isStock(handler)) takeOver(handler, files);
    if (others.length > 0 || typeof url !== 'string') return null;
    // As tfjs-node reads it: what follows is a path, with nothing encoded.
    return new FolderHandler(resolve(url.slice(SCHEME.length)), files);
  } finally {
    isAsking = false;
  }
}

/** The folder into which `save` of a model would write; null where another handler would. */
function folderOf(target: unknown): string | null {
  if (typeof target === 'string') {
    const handlers = tf.io.getSaveHandlers(target);
    return handlers.length === 1 ? folderOf(handlers[0]) : null;
  }
  return typeof target === 'object' && target !== null && PATH in target ? (target[PATH] as string | null) : null;
}

/** Makes models save themselves into a folder: tfjs would first put all weights into one buffer. */
function saveWithoutArtifacts(files: ModelFiles): void {
  override(MODELS.graphs, 'save', (save: tf.LayersModel['save']): tf.LayersModel['save'] => {
    return async function (this: tf.LayersModel, target, config) {
      const folder = folderOf(target);
      return folder === null ? save.call(this, target, config) : files.saveModel(folder, this, config);
    };
  });
}

/**
 * Makes `model.save('file://folder')` and `tf.loadLayersModel('file://folder/model.json')` those of `files`. Once per
 * copy of tfjs: false where it was done before.
 */
export function takeOverFileScheme(files: ModelFiles): boolean {
  const { registerSaveRouter, registerLoadRouter, getSaveHandlers, getLoadHandlers } = tf.io;
  const registered = perProcess('file handlers', () => new WeakSet<object>());
  if (registered.has(registerSaveRouter)) return false;
  registered.add(registerSaveRouter);
  // tfjs takes null for "not mine"; its types do not say so.
  registerSaveRouter((url) => route(url, getSaveHandlers, files) as tf.io.IOHandler);
  registerLoadRouter((url) => route(url, getLoadHandlers, files) as tf.io.IOHandler);
  saveWithoutArtifacts(files);
  // Where tfjs-node is there already, its handlers are taken over at once.
  getSaveHandlers(SCHEME);
  return true;
}
