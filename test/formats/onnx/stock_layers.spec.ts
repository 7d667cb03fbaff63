/** Each layer of tfjs, and each operation of Keras, as a file of ONNX. */
import { OPERATION_MODELS } from '../saved_model/layers/operation_models.js';
import { STOCK_MODELS } from '../saved_model/stock_models.js';
import { describeModels, temporaryFolder } from './model_suite.js';

describe('a file of ONNX of layers of tfjs', () => {
  describeModels(STOCK_MODELS, temporaryFolder('stock'));
});

describe('a file of ONNX of operations', () => {
  describeModels(OPERATION_MODELS, temporaryFolder('operations'));
});
