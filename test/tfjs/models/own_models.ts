/** Models of tfjs's layers alone that specs treat as models of this package. */
import * as tf from '@tensorflow/tfjs';
import { adopt, adopting } from '../../../src/tfjs/models/own_models.js';

/** Makes a model one of ours. */
export const own: <M extends tf.LayersModel>(model: M) => M = adopt;

/** `tf.sequential` and `tf.model`, whose models are ours. */
export const ours = {
  sequential: (args?: tf.SequentialArgs): tf.Sequential => adopting(() => tf.sequential(args)),
  model: (args: Parameters<typeof tf.model>[0]): tf.LayersModel => adopting(() => tf.model(args)),
};
