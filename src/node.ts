/** Public names for Node: everything of the any-runtime entry, native kernels, and the TensorFlow op library. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { registerBroadcastKernels, registerDenseKernels } from './backends/cpu/dense_kernels.js';
import { registerCluster } from './backends/cluster/register.js';
import { addonPath } from './backends/native/addon.js';
import { unbuiltTfjsNode } from './backends/native/unbuilt_tfjs_node.js';
import { registerNativeKernels } from './backends/native/register.js';
import { registerTensorFlowBackend } from './backends/tensorflow/register.js';
import { WHOLE_OPS } from './backends/tensorflow/whole_ops.js';
import { registerFileHandler } from './io/models/file_handler.js';
import { openFile, writeFile } from './io/node_files.js';
import { makeFolder } from './formats/saved_model/folder.js';
import { RuntimeError, described } from './base/errors.js';
import { setPlatform } from './base/platform.js';
import { DiskTable } from './tables/disk/disk_table.js';
import { saveWithDiskTables } from './tables/disk/saved_models.js';
import { restoreLegacyUtil } from './tfjs/tfjs_node/legacy_util.js';
import { captureSteps } from './capture/capture.js';
import { warnOnce } from './base/warn_once.js';

export * from './index_node.js';
export {
  cluster,
  connectCluster,
  type Cluster,
  type ClusterCounters,
  type ConnectedServer,
  type Deltas,
} from './report/tf_cluster.js';
export type { ConnectClusterArgs } from './backends/cluster/settings.js';
export { DiskTable, type DiskTableStats } from './tables/disk/disk_table.js';
export type { CreateDiskTableArgs, DiskTableArgs } from './tables/disk/disk_table_args.js';
export { diskTable } from './tables/disk/make_disk_table.js';
export type { RowDtype } from './tables/disk/row_format.js';
export type { DiskIo } from './tables/disk/row_reader.js';
export type { TablesMode } from './backends/cluster/record/membership.js';
export type { CheckpointOptions, DeltasArgs } from './backends/cluster/checkpoints/arguments.js';

restoreLegacyUtil();

const tensorflow = registerTensorFlowBackend();
const { addon, faults } = registerNativeKernels();
for (const fault of faults) warnOnce(fault);
if (addon !== null) tensorflow.connect(addon, WHOLE_OPS);
else tensorflow.lack(faults.length > 0 ? null : '`npx tfjs-embeddings setup` builds the native kernels');

setPlatform({
  require: createRequire(import.meta.url),
  openFile,
  writeFile,
  makeFolder,
  loadSavedModel: async (directory, options) =>
    (await import('./formats/saved_model/load.js')).loadModel(directory, options),
  openDiskTable: (config, name) => DiskTable.fromConfig(config, name),
  ...(addon !== null && {
    exchangeFolders: addon.exchangeFolders,
    extendCrc32c: addon.extendCrc32c,
    capturer: captureSteps(addon),
    columns: addon,
    keys: addon,
    rowReads: addon,
  }),
});

registerCluster();
registerDenseKernels();
registerBroadcastKernels();

const unbuilt = unbuiltTfjsNode();
if (unbuilt !== null) {
  warnOnce(
    `@tensorflow/tfjs-node is installed but was never built (${unbuilt}): \`npx tfjs-embeddings setup\` does it`,
  );
}

registerFileHandler();
saveWithDiskTables();

/**
 * Returns the path of the library with the TensorFlow ops, for Python's `tf.load_op_library`.
 *
 * @returns An absolute path.
 * @throws RuntimeError where it was not built. Source: tf.load_op_library (TensorFlow 2.21).
 *
 * @example
 * emb.opLibraryPath(); // '…/custom-ops/build/tfjs_embeddings.node'
 */
export function opLibraryPath(): string {
  const path = addonPath();
  if (existsSync(path)) return path;
  throw new RuntimeError('opLibraryPath', 'an addon built by `npx tfjs-embeddings setup`', described('none'));
}
