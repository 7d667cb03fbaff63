/** Pipelines of models: saved with them, and there again when they are loaded. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import { perProcess } from '../../base/per_process.js';
import type { RaggedTensor } from '../../ids/ragged_tensor.js';
import { asOwn } from '../../tfjs/engine/own_functions.js';
import { Pipeline } from './pipeline.js';

declare module '@tensorflow/tfjs' {
  interface LayersModel {
    /** What turns columns into the inputs of the model; it is saved with the model. */
    pipeline: ModelPipeline | null;
  }
  /** The pipeline of a model, an `emb.preprocessing.Pipeline`. An interface, so that copies of the package agree. */
  interface ModelPipeline {
    apply(rows: object): Record<string, tf.Tensor | RaggedTensor>;
    getConfig(): object;
  }
}

/** Where metadata hold it. */
const KEY = 'tfjsEmbeddingsPipeline';

interface WithMetadata {
  userDefinedMetadata?: object | null;
}

const attached = (): WeakMap<object, Pipeline | null> => perProcess('attached pipelines', () => new WeakMap());

/**
 * Makes a pipeline part of a model: `model.save` and `savedModel.export` write it beside the user's metadata, as it is
 * at that time, and a loaded model has it as `model.pipeline`. The same as `model.pipeline = pipeline`.
 *
 * @param model - A layers model.
 * @param pipeline - The pipeline; null takes one away.
 * @returns The model.
 * @throws TypeError for what is no model or no pipeline.
 *
 * @example
 * emb.attach(model, pipeline);
 * await model.save('file://clicks');
 * const loaded = await tf.loadLayersModel('file://clicks/model.json');
 * loaded.predict(loaded.pipeline!.apply([{ user: 'a', tags: ['x'] }]));
 */
export function attach<M extends tf.LayersModel>(model: M, pipeline: Pipeline | null): M {
  if (!(model instanceof tf.LayersModel)) throw new ArgumentTypeError('model', 'a layers model', model);
  if (pipeline !== null && !(pipeline instanceof Pipeline)) {
    throw new ArgumentTypeError('pipeline', 'a Pipeline or null', pipeline);
  }
  const holder = model as unknown as WithMetadata;
  let own = withoutPipeline(holder.userDefinedMetadata);
  attached().set(model, pipeline);
  // tfjs writes this field, whatever the user sets it to before.
  Object.defineProperty(model, 'userDefinedMetadata', {
    configurable: true,
    enumerable: true,
    get: asOwn(() => {
      const now = attached().get(model) ?? null;
      return now === null ? own : { ...own, [KEY]: now.getConfig() };
    }),
    set: (metadata: object | null | undefined) => (own = withoutPipeline(metadata)),
  });
  return model;
}

function withoutPipeline(metadata: object | null | undefined): object | null | undefined {
  if (!isRecord(metadata) || !(KEY in metadata)) return metadata;
  const { [KEY]: _pipeline, ...others } = metadata;
  return others;
}

/** The pipeline of a model; one that was saved with it is made when it is first asked for. */
function pipelineOf(model: tf.LayersModel): Pipeline | null {
  const known = attached().get(model);
  if (known !== undefined) return known;
  const { userDefinedMetadata } = model as unknown as WithMetadata;
  const saved: unknown = isRecord(userDefinedMetadata) ? userDefinedMetadata[KEY] : undefined;
  if (!isRecord(saved)) return null;
  const pipeline = Pipeline.fromConfig(saved);
  attach(model, pipeline);
  return pipeline;
}

/** Gives models their `pipeline`; may be called again. */
export function givePipelines(): void {
  if (Object.hasOwn(tf.LayersModel.prototype, 'pipeline')) return;
  Object.defineProperty(tf.LayersModel.prototype, 'pipeline', {
    configurable: true,
    get(this: tf.LayersModel) {
      return pipelineOf(this);
    },
    set(this: tf.LayersModel, pipeline: tf.ModelPipeline | null) {
      attach(this, pipeline as Pipeline | null);
    },
  });
}
