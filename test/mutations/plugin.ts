/** What Stryker loads of ours. */
import { PluginKind, declareClassPlugin } from '@stryker-mutator/api/plugin';
import { DrawChecker } from './draw.js';
import { ProgressReporter } from './progress_reporter.js';
import { SpecRunner } from './spec_runner.js';

export const strykerPlugins = [
  declareClassPlugin(PluginKind.Checker, 'draw', DrawChecker),
  declareClassPlugin(PluginKind.TestRunner, 'specs', SpecRunner),
  declareClassPlugin(PluginKind.Reporter, 'count', ProgressReporter),
];
