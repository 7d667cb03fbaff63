/** Callbacks of `fit`. */
export { tensorBoard, type TensorBoardArgs } from './tensor_board.js';
export type { RowLabels } from './projector.js';
