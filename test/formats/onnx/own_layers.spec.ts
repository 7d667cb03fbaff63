/** Each layer of this package as a file of ONNX. */
import { OWN_MODELS } from '../saved_model/own_models.js';
import { describeModels, temporaryFolder } from './model_suite.js';

/** Digits are hashed as texts, for which ONNX has no op; signatures are of SavedModels. */
const isHashing = (title: string): boolean => title.startsWith('Hashing');

describe('a file of ONNX of layers of this package', () => {
  const folder = temporaryFolder('own');
  const models = OWN_MODELS.filter(([title]) => !/signature|custom ops/i.test(title));
  describeModels(models, folder, isHashing);
});
