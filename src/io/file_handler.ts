/**
 * `file://` in Node: models are saved whole or not at all, and loaded from their folder alone. Node entry only.
 *
 * tfjs refuses two handlers for one URL. Where tfjs-node is loaded, before or after this package, its handler stays the
 * one that tfjs finds, and what it does is done here.
 */
import * as tf from '@tensorflow/tfjs';
import { resolve } from 'node:path';
import { perProcess } from '../per_process.js';
import { fromFile, nameFilesOfWeights } from './loaded_weights.js';
import { loadModel, loadWeights } from './model_file.js';
import { partsOf, saveModel } from './model_folder.js';
import { partsOfModel } from './saved_weights.js';

const SCHEME = 'file://';
/** Under this name a handler tells which path it saves to. */
const PATH = Symbol.for('tfjs-embeddings.path');

type Url = string | string[];

async function load(path: string): Promise<tf.io.ModelArtifacts> {
  return fromFile(path, await loadModel(path));
}

class FolderHandler implements tf.io.IOHandler {
  readonly [PATH]: string;

  constructor(path: string) {
    this[PATH] = path;
  }

  save(artifacts: tf.io.ModelArtifacts): Promise<tf.io.SaveResult> {
    return saveModel(this[PATH], partsOf(artifacts));
  }

  load(): Promise<tf.io.ModelArtifacts> {
    return load(this[PATH]);
  }
}

/** tfjs-node's handler. Two paths are those of a graph and of the manifest of its weights. */
interface StockHandler {
  path: string | [string, string];
  save(artifacts: tf.io.ModelArtifacts): Promise<tf.io.SaveResult>;
  load(): Promise<tf.io.ModelArtifacts>;
  loadWeights(
    manifest: tf.io.WeightsManifestConfig,
    path: string,
  ): Promise<[tf.io.WeightsManifestEntry[], ArrayBuffer]>;
}

function isStock(handler: object): handler is StockHandler {
  return 'MODEL_JSON_FILENAME' in handler && 'path' in handler;
}

/** Puts this package behind the handlers of tfjs-node, those of `tf.io.fileSystem(path)` included. */
function takeOver(handler: StockHandler): void {
  const handlers = Object.getPrototypeOf(handler) as StockHandler;
  if (PATH in handlers) return;
  const { save, load: loadStock } = handlers;
  Object.defineProperty(handlers, PATH, {
    get(this: StockHandler) {
      return typeof this.path === 'string' ? this.path : null;
    },
  });
  handlers.save = function (artifacts) {
    return typeof this.path === 'string' ? saveModel(this.path, partsOf(artifacts)) : save.call(this, artifacts);
  };
  handlers.load = function () {
    return typeof this.path === 'string' ? load(this.path) : loadStock.call(this);
  };
  handlers.loadWeights = (manifest, path) => loadWeights(path, manifest);
}

/** While others are asked for their handlers. */
let isAsking = false;

/** A handler for a URL that no other package has one for. */
function route(url: Url, handlersOf: (url: Url) => tf.io.IOHandler[]): tf.io.IOHandler | null {
  if (isAsking || ![url].flat().every((each) => typeof each === 'string' && each.startsWith(SCHEME))) return null;
  isAsking = true;
  try {
    const others = handlersOf(url);
    others.filter(isStock).forEach(takeOver);
    // As tfjs-node reads it: what follows is a path, with nothing encoded.
    return others.length > 0 || typeof url !== 'string' ? null : new FolderHandler(resolve(url.slice(SCHEME.length)));
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

function streamSaves(): void {
  const models = tf.LayersModel.prototype;
  const { save } = models;
  models.save = async function (this: tf.LayersModel, target, config): Promise<tf.io.SaveResult> {
    const folder = folderOf(target);
    return folder === null ? save.call(this, target, config) : saveModel(folder, await partsOfModel(this, config));
  };
}

/**
 * Makes `model.save('file://folder')` and `tf.loadLayersModel('file://folder/model.json')` those of this package; once
 * per copy of tfjs.
 */
export function registerFileHandler(): void {
  const { registerSaveRouter, registerLoadRouter, getSaveHandlers, getLoadHandlers } = tf.io;
  const registered = perProcess('file handlers', () => new WeakSet<object>());
  if (registered.has(registerSaveRouter)) return;
  registered.add(registerSaveRouter);
  // tfjs takes null for "not mine"; its types do not say so.
  registerSaveRouter((url) => route(url, getSaveHandlers) as tf.io.IOHandler);
  registerLoadRouter((url) => route(url, getLoadHandlers) as tf.io.IOHandler);
  streamSaves();
  nameFilesOfWeights();
  // Where tfjs-node is there already, its handlers are taken over at once.
  getSaveHandlers(SCHEME);
}
