/** Ranking and retrieval. Importing this file gives `compile` the names of its losses and metrics. */
import { watchSteps } from '../tfjs/training/model_steps.js';
import { nameLosses } from './losses/index.js';
import { nameMetrics } from './metrics/index.js';

watchSteps();
nameLosses();
nameMetrics();

export * as losses from './losses/index.js';
export * as metrics from './metrics/index.js';
