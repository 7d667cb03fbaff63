/** Ranking and retrieval. Importing this file gives `compile` the names of its losses. */
import { watchSteps } from '../tfjs/training/model_steps.js';
import { nameLosses } from './losses/index.js';

watchSteps();
nameLosses();

export * as losses from './losses/index.js';
