/** What Stryker loads of ours. */
import { PluginKind, declareClassPlugin } from '@stryker-mutator/api/plugin';
import { ChosenChecker } from './chosen_checker.js';
import { ProgressReporter } from './progress_reporter.js';
import { SpecRunner } from './spec_runner.js';

export const strykerPlugins = [
  declareClassPlugin(PluginKind.Checker, 'chosen', ChosenChecker),
  declareClassPlugin(PluginKind.TestRunner, 'specs', SpecRunner),
  declareClassPlugin(PluginKind.Reporter, 'count', ProgressReporter),
];
