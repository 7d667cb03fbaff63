/** A step of the wheel's optimizer beside Keras's own, in the Python that specs use. Options go to step.py. */
import { fileURLToPath } from 'node:url';
import { addonPath } from '../../../src/backends/native/addon.js';
import { pythonWithSources } from '../../../test/backends/tensorflow/python_tensorflow.js';

const python = pythonWithSources(addonPath());
if (typeof python === 'string') throw new Error(python);
process.stdout.write(python.run(fileURLToPath(new URL('step.py', import.meta.url)), ...process.argv.slice(2)));
