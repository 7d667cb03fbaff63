/** A wheel that is made in no time. */
import { createHash, randomBytes } from 'node:crypto';
import { zipOf, type ZipContent } from './zip_writer.js';

/** Names of TensorFlow's libraries, those in its wheel first. */
export interface LibraryNames {
  readonly main: string[];
  readonly framework: string[];
}

/** A wheel of the shape of TensorFlow's, with small random libraries. `lie`: one is not the recorded one. */
export function smallWheel(names: LibraryNames, { bytes = 4096, lie = false } = {}): Buffer {
  const main = randomBytes(bytes);
  const framework = randomBytes(1024);
  const record = [
    [`tensorflow/${names.main[0]}`, lie ? framework : main],
    [`tensorflow/${names.framework[0]}`, framework],
  ].map(([name, content]) => {
    const hash = createHash('sha256')
      .update(content as Buffer)
      .digest('base64url');
    return `${name},sha256=${hash},${(content as Buffer).length}`;
  });
  const header = (name: string, text = ''): ZipContent => ({
    name: `tensorflow/include/${name}`,
    bytes: Buffer.from(`#pragma once\n${text}`),
  });
  return zipOf([
    { name: 'tensorflow_cpu-0.dist-info/RECORD', bytes: Buffer.from(record.join('\n')) },
    { name: `tensorflow/${names.main[0]}`, bytes: main },
    { name: `tensorflow/${names.framework[0]}`, bytes: framework },
    header('tensorflow/c/c_api.h', '#include "tensorflow/c/tf_status.h"\n# include "tensorflow/c/c_api.h"\n'),
    header('tensorflow/c/tf_status.h', '#include <stddef.h>\n#include "xla/tsl/c/tsl_status.h"\n'),
    header('xla/tsl/c/tsl_status.h', '#include "not/in/the/wheel.h"\n'),
    header('tensorflow/c/eager/c_api.h'),
    header('tensorflow/c/kernels.h'),
    header('tensorflow/c/ops.h'),
    header('tensorflow/core/platform/ctstring_internal.h'),
    header('tensorflow/core/framework/unwanted.h'),
  ]);
}
