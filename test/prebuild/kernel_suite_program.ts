/**
 * The suite of kernels with an addon of choice, for a Node that cannot run the sources, such as one of another processor:
 * it is bundled first. `kernel_suite_program ADDON [RECORD]`; RECORD is a file that takes all calls of the addon. Prints
 * {passed, failed, instructionSet, calls} as JSON, and what failed before.
 */
import { ADDON_FUNCTIONS, loadAddon } from '../../src/backends/native/addon.js';
import { NativeKernelSet } from '../../src/backends/native/native_kernel_set.js';
import { itEqualsTensorFlow, itEqualsTheReference } from '../helpers/kernel_set_suite.js';
import { itLooksUpPackedRows } from '../helpers/packed_suite.js';
import { itStepsPackedRows } from '../backends/packed_step_suite.js';
import { startJasmine } from '../runner/jasmine.js';
import { CallRecord } from './recorded_calls.js';

const [path = '', recordPath] = process.argv.slice(2);
const addon = loadAddon(path);
const missing = ADDON_FUNCTIONS.filter((name) => typeof addon[name] !== 'function');
if (missing.length > 0) throw new Error(`${path} has no ${missing.join(', ')}`);
const record = recordPath === undefined ? null : new CallRecord(recordPath);
const kernels = new NativeKernelSet(record?.of(addon) ?? addon, path);

let [passed, failed] = [0, 0];
const suite = startJasmine('.', { load: () => Promise.resolve() });
suite.addReporter({
  specDone: ({ fullName, status, failedExpectations }: jasmine.SpecResult) => {
    if (status === 'passed') return void passed++;
    failed++;
    console.log(`${status}: ${fullName}\n${failedExpectations.map(({ message }) => message.slice(0, 500)).join('\n')}`);
  },
});

describe('kernels', () => {
  itEqualsTensorFlow(() => kernels);
  itEqualsTheReference(() => kernels);
  itLooksUpPackedRows(() => kernels);
  itStepsPackedRows(() => kernels);
});

await suite.env.execute();
record?.close();
const instructionSet = addon.instructionSet();
console.log(JSON.stringify({ passed, failed, instructionSet, calls: record?.calls ?? 0 }));
process.exit(failed === 0 && passed > 0 ? 0 : 1);
