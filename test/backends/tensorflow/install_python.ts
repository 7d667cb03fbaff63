/** Installs everything that specs ask Python for, if it is not there: the specs themselves then find it. */
import { pythonWithConverter, pythonWithKeras } from './python_tensorflow.js';

for (const found of [pythonWithKeras(), pythonWithConverter()]) if (typeof found === 'string') console.error(found);
