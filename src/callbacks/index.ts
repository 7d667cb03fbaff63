/** Callbacks of `fit`. */
export { earlyStopping, type EarlyStoppingArgs } from './early_stopping.js';
export { modelCheckpoint, type ModelCheckpointArgs } from './model_checkpoint.js';
export type { MonitorArgs, MonitorMode } from './monitor.js';
export { tensorBoard, type TensorBoardArgs } from './tensor_board.js';
export type { RowLabels } from './projector.js';
