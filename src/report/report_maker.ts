/** What makes reports of the emulator: a part of the package that pages need not load. */
import { RuntimeError, described } from '../base/errors.js';
import { perProcess } from '../base/per_process.js';
import type { Report, ReportArgs } from './report.js';
import type { ReportSource } from '../backends/devices/report_source.js';

export type MakeReport = (source: ReportSource, options?: ReportArgs) => Report;

const known = (): { make: MakeReport | null } => perProcess('report', () => ({ make: null }));

/** Lets the emulator make reports, in every copy of this package. */
export function provideReports(make: MakeReport): void {
  known().make ??= make;
}

/** Throws RuntimeError where the entry was not imported. */
export function reportMaker(): MakeReport {
  const { make } = known();
  if (make !== null) return make;
  const note =
    'In a page: import \'tfjs-embeddings/report\', or <script type="module" src="…/tfjs-embeddings/dist/report.mjs">.';
  throw new RuntimeError('report', "the entry 'tfjs-embeddings/report', imported", described('none'), note);
}
