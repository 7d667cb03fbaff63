/** The worker of the page: everything that takes time runs here. */
import { expose } from 'comlink';
import { WorkerEngine } from './engine.js';

expose(new WorkerEngine());
