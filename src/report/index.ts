/**
 * Reports of the emulator. Importing this file makes `emb.tpuEmulator().report()` work; in Node the main entry does it.
 *
 * @example
 * import * as emb from 'tfjs-embeddings';
 * import 'tfjs-embeddings/report';
 * console.log(String(emb.tpuEmulator().report({generation: 'v5p', chips: 64})));
 */
import { provideReports } from './report_maker.js';
import { makeReport } from './report.js';

provideReports(makeReport);

export { GENERATION_NAMES as generationNames } from './generations.js';
export type { ReportCluster, ReportNetworkArgs } from './cluster.js';
export type { Report, ReportArgs } from './report.js';
export type { ReportData } from './report_data.js';
